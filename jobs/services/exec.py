"""Running a command beside a job."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from clusters.backends import backend_of
from jobs.models import Attempt, Job
from portal.core.errors import Conflict, InvalidInput, Unavailable
from portal.core.events import Fact, record
from schedulers.contract import Capability, Rejected
from schedulers.contract import Unavailable as ClusterUnavailable
from schedulers.states import State
from workspaces.access.actors import Actor, authorize
from workspaces.access.permissions import Permission


def run_beside(
    *, actor: Actor, job: Job, attempt: Attempt, argv: Sequence[str], timeout: float
) -> tuple[int, bytes]:
    """Its exit code and output, when it has ended. In another's job, which takes a permission of its own, it gets neither the job's token
    nor its secrets. That it was asked for is a fact before it runs; of its arguments, which may hold anything, only the number is kept.
    Raises NotPermitted, Conflict, InvalidInput, Unavailable."""
    authorize(actor, Permission.JOBS_EXEC, job.team_id)
    is_own = job.owner_id == actor.user_id
    if not is_own:
        authorize(actor, Permission.JOBS_EXEC_OTHERS, job.team_id)
    backend: Any = backend_of(job.cluster)
    if attempt.state != State.RUNNING:
        raise Conflict(
            f"#{job.number} is {State(attempt.state).word}; a command can be run only beside a running job."
        )
    if Capability.EXEC not in backend.capabilities:
        raise InvalidInput("This cluster cannot run a command beside a job.")
    record(
        Fact(
            "job.command_run",
            job.org_id,
            "job",
            job.id,
            actor.email,
            {
                "number": job.number,
                "index": attempt.index,
                "program": argv[0][:200],
                "arguments": len(argv) - 1,
            }
            | ({} if is_own else {"owner": job.owner.email}),
        )
    )
    try:
        code, output = backend.exec(
            attempt.key, argv if is_own else _without_secrets(job, argv), timeout
        )
    except Rejected as error:
        raise InvalidInput(str(error)) from error
    except ClusterUnavailable as error:
        raise Unavailable(str(error)) from error
    return code, output


def _without_secrets(job: Job, argv: Sequence[str]) -> list[str]:
    """The command in an environment without the job's token and its secrets. Names of variables are words to a shell."""
    names = [
        "MUSTER_TOKEN",
        *(job.spec.get("secrets") or {}),
        *(f"{name}_FILE" for name in job.spec.get("secret_files") or {}),
    ]
    return ["sh", "-c", f'unset {" ".join(names)}; exec "$@"', "sh", *argv]
