"""Build the job body for slurmrestd in all supported API versions. Pure."""

from __future__ import annotations

from typing import Any

from schedulers.slurm.request import Request
from schedulers.slurm.transport import PATH

Json = dict[str, Any]


def job_body(request: Request, minor: int) -> Json:
    """Return the job as this API version expects it."""
    number = (lambda value: value) if minor < 39 else (lambda value: {"set": True, "number": value})
    env: Any = {"PATH": PATH, "LC_ALL": "C.UTF-8"}
    body: Json = {
        "name": request.key,
        "comment": request.comment,
        "standard_output": request.output,
        "standard_error": request.output,
        "standard_input": "/dev/null",
        "open_mode": "append",
        "current_working_directory": request.spool,
        **_tasks(request, minor),
        "dependency": "singleton",
        "requeue": False,
        "environment": env if minor < 39 else [f"{name}={value}" for name, value in env.items()],
        "account": request.account,
        "qos": request.qos,
        "partition": request.partition,
        "reservation": request.reservation,
        "constraints": request.constraint,
        "licenses": request.licenses,
        **_exclusive(request, minor),
        "memory_per_node": number(request.memory) if request.memory else None,
        "time_limit": number(request.minutes) if request.minutes else None,
    }
    # v0.0.38 has "gres"; later versions have TRES per node. The number of nodes was a list
    # [min, max] and is a string since.
    body["gres" if minor < 39 else "tres_per_node"] = (
        request.gres if minor < 39 else (f"gres/{request.gres}" if request.gres else "")
    )
    if request.exclude:
        names = list(request.exclude)
        body |= {"exclude_nodes": ",".join(names)} if minor < 39 else {"excluded_nodes": names}
    body["nodes"] = [request.nodes, request.nodes] if minor < 39 else f"{request.nodes}"
    return {name: value for name, value in body.items() if value not in ("", None)}


def _tasks(request: Request, minor: int) -> Json:
    """Return the task fields: one task per node, unless the script starts its own."""
    tasks = request.tasks
    if tasks is None:
        return {
            "tasks_per_node": 1,
            "cpus_per_task": request.cpus,
            "tasks": request.nodes if minor < 39 else None,
        }
    return {
        "tasks": tasks.count,
        "tasks_per_node": tasks.per_node or None,
        "cpus_per_task": tasks.cpus,
    }


def _exclusive(request: Request, minor: int) -> Json:
    """Return the exclusive mode: a string until v0.0.38, a list since."""
    if not request.is_exclusive:
        return {}
    return {"exclusive": "exclusive"} if minor < 39 else {"shared": ["none"]}
