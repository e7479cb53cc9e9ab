"""`muster run -- CMD`: submit, say why it waits, show the log, end with the job's exit code."""

from __future__ import annotations

import shlex
import sys
import time
from typing import Annotated, Any, Optional

import typer

from muster.client import Client, Json, exit_code
from muster.output import Context, ends, say, show

Text = Optional[str]  # noqa: UP045  Typer reads it
FINAL = {"succeeded", "failed", "canceled"}


def run(
    context: typer.Context,
    command: Annotated[list[str], typer.Argument(help="What to run, after --.")],
    name: Annotated[Text, typer.Option("--name", "-n")] = None,
    gpus: Annotated[int, typer.Option("--gpus", "-g", min=0)] = 0,
    gpu_type: Annotated[Text, typer.Option(help="Such as h100.")] = None,
    cpus: Annotated[Optional[float], typer.Option("--cpus", "-c")] = None,  # noqa: UP045
    memory: Annotated[Text, typer.Option("--memory", "-m", help="Such as 64Gi.")] = None,
    image: Annotated[Text, typer.Option("--image", "-i")] = None,
    env: Annotated[Optional[list[str]], typer.Option("--env", "-e", help="NAME=VALUE; may be given again.")] = None,  # noqa: UP045
    time_limit: Annotated[Text, typer.Option("--time", "-t", help="Such as 2h.")] = None,
    priority: Annotated[Text, typer.Option(help="low, normal, high, urgent.")] = None,
    array: Annotated[Text, typer.Option(help="Such as 100, or 0-99%4.")] = None,
    after: Annotated[Optional[list[str]], typer.Option(help="A job that must succeed first; may be given again.")] = None,  # noqa: UP045
    pool: Annotated[Text, typer.Option()] = None,
    detach: Annotated[bool, typer.Option("--detach", "-d", help="Do not wait.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Rehearse only.")] = False,
) -> int:
    """Run a command as a job and wait for it: its log comes here, and its exit code is this command's."""
    policy = {"max_runtime": time_limit, "priority": priority, "pool": pool}
    resources = {"accelerators": f"{gpu_type}:{gpus}" if gpu_type and gpus else gpus or None, "cpus": cpus, "memory": memory}
    spec: dict[str, Any] = {
        "name": name or _name_of(command), "run": shlex.join(command) if len(command) > 1 else command[0], "image": image,
        "resources": _set(resources), "policy": _set(policy), "envs": dict(_pair(e) for e in env or []),
        "array": array, "after": [f"#{a.lstrip('#')}" if a.lstrip("#").split(":")[0].isdigit() else a for a in after or []]}
    obj: Context = context.obj
    client = obj.client
    if dry_run:
        from muster.commands.jobs import tell_rehearsal

        return tell_rehearsal(obj, client.jobs.rehearse(spec=_set(spec)))
    job = client.jobs.submit(spec=_set(spec))
    if detach:
        show(obj, job, f"#{job['number']} {job['name']} is submitted: {client.settings.url}{job['page']}", [job["number"]])
        return 0
    return attend(obj, client, job)


def attend(context: Context, client: Client, job: Json) -> int:
    """Stay with a job to its end. Ctrl-C once leaves it running, twice cancels it."""
    number = str(job["number"])
    if not context.quiet:
        say(f"#{number} {job['name']}: {client.settings.url}{job['page']}")
    try:
        job = _stay(context, client, number)
    except KeyboardInterrupt:
        return _interrupted(client, number)
    if context.json:
        show(context, job)
    elif not context.quiet:
        say(ends(job))
    return exit_code(job)


def _stay(context: Context, client: Client, number: str) -> Json:
    told = ""
    while True:
        job = client.jobs.get(number)
        if job["state"] in FINAL or job["started_at"]:
            break
        pending = job.get("pending") or {}
        text = " ".join(filter(None, [pending.get("text", job["state"]), (pending.get("change") or {}).get("text", "")]))
        if text != told and not context.quiet:
            say(f"{job['state']}: {text}")
            told = text
        time.sleep(0.3)
    if job["array"]:
        return client.jobs.wait(number)
    out = sys.stderr.buffer if context.json else sys.stdout.buffer
    for data in client.jobs.follow(number):
        out.write(data)
        out.flush()
    return client.jobs.wait(number, every=0.1)


def _interrupted(client: Client, number: str) -> int:
    say(f"\n#{number} goes on running. Press Ctrl-C again within 3 s to cancel it. To follow it later: muster job logs -f {number}")
    try:
        time.sleep(3)
    except KeyboardInterrupt:
        client.jobs.act(number, "cancel")
        say(f"#{number} is being stopped.")
    return 130


def _name_of(command: list[str]) -> str:
    words = [w.rsplit("/", 1)[-1] for w in command if not w.startswith("-") and "=" not in w]
    script = next((w for w in words if "." in w), words[0] if words else "job")
    return "".join(c for c in script.split()[0] if c.isprintable())[:60] or "job"


def _pair(text: str) -> tuple[str, str]:
    name, found, value = text.partition("=")
    if not found:
        raise typer.BadParameter(f"{text!r}: write NAME=VALUE", param_hint="--env")
    return name, value


def _set(mapping: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in mapping.items() if value not in (None, "", {}, [])}
