"""Read sessions, and what state they are in."""

from __future__ import annotations

import re
from collections.abc import Collection

from django.db.models import Exists, OuterRef, Q, QuerySet

from jobs.models import Attempt, Job, PortActivity
from jobs.specs.stored import spec_of
from portal.core.errors import NotFound
from portal.core.messages import Message
from schedulers.states import Reason, State
from sessions.choices import KIND
from sessions.models import InteractiveSession
from sessions.templates import SSH_PORT
from workspaces.access.actors import Actor
from workspaces.access.permissions import Permission
from workspaces.models import Team

_STOPPED = (State.SUCCEEDED, State.CANCELED)
_OVER = (Reason.TIME_LIMIT,)  # failures of a job that are no failures of a session
_STATES = {
    "queued": Q(job__state__lt=State.STARTING),
    "starting": Q(job__state=State.STARTING) | Q(job__state=State.RUNNING, is_answering=False),
    "ready": Q(job__state=State.RUNNING, is_answering=True),
    "stopping": Q(job__state=State.STOPPING),
    "stopped": Q(job__state__in=_STOPPED) | Q(job__state=State.FAILED, job__reason__in=_OVER),
    "failed": Q(job__state=State.FAILED) & ~Q(job__reason__in=_OVER),
}


def sessions_with_state() -> QuerySet[InteractiveSession]:
    """Return all sessions of the organization, with their jobs and whether each answers."""
    answered = PortActivity.objects.filter(
        attempt__job=OuterRef("job"), attempt__is_current=True, answered_at__isnull=False
    )
    return InteractiveSession.objects.select_related(
        "org", "team", "owner", "job", "job__org", "job__team", "job__owner", "job__cluster"
    ).annotate(is_answering=Exists(answered))


def visible_sessions(actor: Actor) -> QuerySet[InteractiveSession]:
    """Return the sessions of the teams whose jobs the actor may read."""
    rows = sessions_with_state()
    teams = actor.teams_where(Permission.JOBS_READ)
    return rows if teams is None else rows.filter(team_id__in=teams)


def find_session(actor: Actor, which: str) -> InteractiveSession:
    """Return a session by the number of any of its jobs, else the newest of this name.

    The actor's own come first. Raises NotFound, also for one that the actor may not see.
    """
    rows = visible_sessions(actor)
    if re.fullmatch(r"#?[0-9]{1,18}", which):
        number = int(which.removeprefix("#"))
        jobs = Job.objects.filter(number=number, origin_kind=KIND)
        found = rows.filter(id__in=jobs.values("origin_id")).first()
    else:
        named = rows.filter(name=which).order_by("-number")
        found = named.filter(owner_id=actor.user_id).first() or named.first()
    if found is None:
        raise NotFound(Message("There is no session {x} that you can see.", x=which[:40]))
    return found


def in_states(states: Collection[str]) -> Q:
    found = Q()
    for one in states:
        found |= _STATES[one]
    return found


def state_of(session: InteractiveSession) -> str:
    """Return the state of a session that `visible_sessions` has read."""
    state, reason = State(session.job.state), session.job.reason
    if state < State.STARTING:
        return "queued"
    if state < State.STOPPING:
        is_ready = state is State.RUNNING and session.is_answering  # type: ignore[attr-defined]
        return "ready" if is_ready else "starting"
    if state is State.STOPPING:
        return "stopping"
    return "failed" if state is State.FAILED and reason not in _OVER else "stopped"


def is_of_earlier_version(session: InteractiveSession) -> bool:
    """Return whether its job was started before sessions had shells, shares and longer time limits."""
    return all(one.name != SSH_PORT for one in spec_of(session.job).ports)


def attempt_of(session: InteractiveSession) -> Attempt | None:
    """Return the present attempt of the last job."""
    rows = Attempt.objects.select_related("cluster").filter(job=session.job, is_current=True)
    attempt = rows.first()
    if attempt is not None:
        attempt.job = session.job
    return attempt


def teams_to_start_in(actor: Actor) -> QuerySet[Team]:
    """Return the teams for which the actor may start sessions."""
    rows = Team.objects.filter(org_id=actor.org_id).order_by("slug")
    teams = actor.teams_where(Permission.JOBS_SUBMIT)
    return rows if teams is None else rows.filter(id__in=teams)
