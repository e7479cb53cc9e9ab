"""Run a command inside a running job."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from clusters.backends import backend_of
from jobs.dispatch.environment import SECRET_NAMES
from jobs.models import Attempt, Job
from portal.core.errors import Conflict, InvalidInput, Unavailable
from portal.core.events import EventRecord, record
from portal.core.messages import Message
from schedulers.contract import Capability, Rejected
from schedulers.contract import Unavailable as ClusterUnavailable
from schedulers.states import State
from workspaces.access.actors import Actor, authorize
from workspaces.access.permissions import Permission


def run_command(
    *, actor: Actor, job: Job, attempt: Attempt, argv: Sequence[str], timeout: float
) -> tuple[int, bytes]:
    """Run a command inside a running job and return its exit code and output.

    The event is recorded before the command runs, with the number of arguments but not their
    values, which may be secret. In another user's job, which takes a permission of its own, the
    command gets neither the job's token nor its secrets. Raises NotPermitted, Conflict,
    InvalidInput, Unavailable.
    """
    authorize(actor, Permission.JOBS_EXEC, job.team_id)
    is_own = job.owner_id == actor.user_id
    if not is_own:
        authorize(actor, Permission.JOBS_EXEC_OTHERS, job.team_id)
    backend: Any = backend_of(job.cluster)
    if attempt.state != State.RUNNING:
        raise Conflict(
            Message(
                "#{number} is {word}; commands can run only in a running job.",
                number=job.number,
                word=State(attempt.state).label,
            )
        )
    if Capability.EXEC not in backend.capabilities:
        raise InvalidInput(Message("This cluster does not support running commands in jobs."))
    record(
        EventRecord(
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
    """Wrap the command so that it runs without the job's token and secrets.

    Variable names are valid shell words, so they need no quoting.
    """
    names = [
        *sorted(SECRET_NAMES),
        *(job.spec.get("secrets") or {}),
        *(f"{name}_FILE" for name in job.spec.get("secret_files") or {}),
    ]
    return ["sh", "-c", f'unset {" ".join(names)}; exec "$@"', "sh", *argv]
