"""Decide who may open a port of a job, and find what serves it."""

from __future__ import annotations

from dataclasses import dataclass, replace

from jobs.kinds.workload_kinds import PortShare, kind_of
from jobs.models import Attempt, Job
from jobs.selectors.jobs import find_attempt, find_job
from jobs.selectors.representations import listed
from jobs.specs.stored import spec_of
from portal.core.errors import NotFound
from portal.core.events import EventRecord, record
from portal.core.messages import Message
from portal.gateway.provider import Address
from schedulers.contract import PortProtocol
from schedulers.spec import Port, PortAccess, ports_of
from schedulers.states import State
from workspaces.access.actors import Actor, authorize
from workspaces.access.permissions import Permission


@dataclass(frozen=True)
class OpenPort:
    """A port of the current attempt of a task. `number` is where the program listens.

    `share` is set if the actor may open it only because it is shared with them.
    """

    job: Job
    attempt: Attempt
    port: Port
    number: int
    share: PortShare | None = None


def find_port(actor: Actor, address: Address) -> OpenPort:
    """Return a port that the actor may open.

    Raises NotFound, also if the actor may not see the job, and NotPermitted.
    """
    found = _port_of(find_job(actor, str(address.number)), address)
    return replace(found, share=check_access(actor, found.job, found.port))


def find_port_for_portal(address: Address) -> OpenPort:
    """Return a port of a job of the current organization, which the portal itself asks something."""
    job = listed(Job.objects.filter(number=address.number)).first()
    if job is None:
        raise NotFound(Message("There is nothing at this address."))
    return _port_of(job, address)


def _port_of(job: Job, address: Address) -> OpenPort:
    job = _last_job(job)
    port = next((entry for entry in spec_of(job).ports if entry.name == address.name), None)
    if port is None:
        raise NotFound(
            Message("Job #{number} has no port {name}.", number=job.number, name=repr(address.name))
        )
    attempt = find_attempt(job, address.task)
    return OpenPort(job, attempt, port, ports_of(spec_of(job), attempt.id)[port.name])


def _last_job(job: Job) -> Job:
    """Return the last job of the same origin, if its app starts one again at the same address."""
    if not kind_of(job).origin or not State(job.state).is_final:
        return job
    same = Job.objects.filter(origin_kind=job.origin_kind, origin_id=job.origin_id)
    return listed(same).order_by("-number").first() or job  # type: ignore[no-any-return]


def record_opened(job: Job, index: int, port: str, email: str) -> None:
    """Record that somebody opens a port of a job."""
    about = {"number": job.number, "index": index, "port": port}
    record(EventRecord("job.port_opened", job.org_id, "job", job.id, email, about))


def check_access(actor: Actor, job: Job, port: Port) -> PortShare | None:
    """Raise NotPermitted unless the actor may open this port of a job that they see.

    What a job serves can often run commands in it, so it takes the same permission; unless the spec
    opens the port to everyone who sees the job, or its app shares it with the actor. Returns that share.
    """
    is_shell = port.protocol is PortProtocol.SSH  # runs commands, whatever the spec says
    if port.access is PortAccess.TEAM and not is_shell:
        authorize(actor, Permission.JOBS_READ, job.team_id)
        return None
    is_own = job.owner_id == actor.user_id
    if not is_own and not may_run_in(actor, job):
        actor.check_acts_for_oneself()
        if share := kind_of(job).share(job, port.name, actor):
            needed = Permission.JOBS_READ if share.is_read_only else Permission.JOBS_EXEC
            authorize(actor, needed, job.team_id)
            return share
    authorize(actor, Permission.JOBS_EXEC, job.team_id)
    if not is_own:
        authorize(actor, Permission.JOBS_EXEC_OTHERS, job.team_id)
    return None


def may_run_in(actor: Actor, job: Job) -> bool:
    """Return whether the actor may run commands in a job, and so open its ports."""
    is_own = job.owner_id == actor.user_id
    return actor.may(Permission.JOBS_EXEC, job.team_id) and (
        is_own or actor.may(Permission.JOBS_EXEC_OTHERS, job.team_id)
    )
