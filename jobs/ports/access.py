"""Decide who may open a port of a job, and find what serves it."""

from __future__ import annotations

from dataclasses import dataclass

from jobs.kinds.workload_kinds import kind_of
from jobs.models import Attempt, Job
from jobs.selectors.jobs import find_attempt, find_job
from jobs.selectors.representations import listed
from jobs.specs.stored import spec_of
from portal.core.errors import NotFound
from portal.core.messages import Message
from portal.gateway.provider import Address
from schedulers.spec import Port, PortAccess, ports_of
from schedulers.states import State
from workspaces.access.actors import Actor, authorize
from workspaces.access.permissions import Permission


@dataclass(frozen=True)
class OpenPort:
    """A port of the current attempt of a task. `number` is where the program listens."""

    job: Job
    attempt: Attempt
    port: Port
    number: int


def find_port(actor: Actor, address: Address) -> OpenPort:
    """Return a port that the actor may open.

    Raises NotFound, also if the actor may not see the job, and NotPermitted.
    """
    found = _port_of(find_job(actor, str(address.number)), address)
    check_access(actor, found.job, found.port)
    return found


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


def check_access(actor: Actor, job: Job, port: Port) -> None:
    """Raise NotPermitted unless the actor may open this port of a job that they see.

    What a job serves can often run commands in it, so it takes the same permission; unless the spec
    opens the port to everyone who sees the job.
    """
    if port.access is PortAccess.TEAM:
        authorize(actor, Permission.JOBS_READ, job.team_id)
        return
    authorize(actor, Permission.JOBS_EXEC, job.team_id)
    if job.owner_id != actor.user_id:
        authorize(actor, Permission.JOBS_EXEC_OTHERS, job.team_id)
