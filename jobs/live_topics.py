"""The live topics of this app, and who may watch them."""

from __future__ import annotations

from dataclasses import replace
from uuid import UUID

from jobs.models import Attempt, Job
from workspaces.access.actors import Actor
from workspaces.access.permissions import Permission
from workspaces.access.subscriptions import SubscriptionGrant, enter, no_topic
from workspaces.models import Team


def _log(actor: Actor, pk: UUID, topic: str) -> SubscriptionGrant:
    return replace(_of_attempt(actor, pk, topic), log_key=pk.hex)


def _of_attempt(actor: Actor, pk: UUID, topic: str) -> SubscriptionGrant:
    attempt = Attempt.objects.select_related("job__org").filter(id=pk).first()
    return SubscriptionGrant((topic,), org_id=_see(actor, attempt.job if attempt else None))


def _of_job(actor: Actor, pk: UUID, topic: str) -> SubscriptionGrant:
    return SubscriptionGrant(
        (topic,), org_id=_see(actor, Job.objects.select_related("org").filter(id=pk).first())
    )


def _job_list(actor: Actor, pk: UUID, topic: str) -> SubscriptionGrant:
    """Return the visible part of the list: one bus topic per team, so that none is filtered."""
    inside = enter(actor, pk)
    teams = inside.teams_where(Permission.JOBS_READ)
    if teams is None:
        teams = frozenset(Team.objects.filter(org_id=pk).values_list("id", flat=True))
    return SubscriptionGrant(tuple(sorted(f"jobs:{team.hex}" for team in teams)), org_id=pk)


def _see(actor: Actor, job: Job | None) -> UUID:
    """Return the job's organization if the actor may read the job."""
    if job is None or not actor.enter(job.org).may(Permission.JOBS_READ, job.team_id):
        raise no_topic()
    return job.org_id


TOPICS = {
    "log": _log,
    "job": _of_job,
    "jobs": _job_list,
    "metrics:attempt": _of_attempt,
    "metrics:job": _of_job,
}
