"""The topics of live updates and who may watch them. Forbidden topics count as missing."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from uuid import UUID

from clusters.models import Node
from experiments.models import Run
from jobs.models import Attempt, Job
from portal.core.errors import NotFound
from portal.core.messages import Message
from workspaces.access.actors import Actor
from workspaces.access.permissions import Permission
from workspaces.models import Organization, Team
from workspaces.tenancy.scope import platform_scope

_TOPIC = re.compile(
    r"(log|job|jobs|nodes|notifications|metrics:attempt|metrics:job|metrics:node|metrics:run):([0-9a-f]{32})\Z"
)


@dataclass(frozen=True)
class SubscriptionGrant:
    """The result of authorizing a subscription.

    `bus_topics` are the topics on the bus; `log_key` is the stored log behind a log topic. Access
    depends on the members and roles of `org_id`, or on any organization if None.
    """

    bus_topics: tuple[str, ...]
    log_key: str = ""
    org_id: UUID | None = None


def grant(actor: Actor, topic: str) -> SubscriptionGrant:
    """Authorize a subscription. Raises NotFound for a topic that is missing or not visible."""
    found = _TOPIC.match(topic)
    if found is None:
        raise NotFound(Message("There is no such topic."))
    with platform_scope("a topic names its organization only by what it is about"):
        return KINDS[found[1]](actor, UUID(found[2]), topic)


def _log(actor: Actor, pk: UUID, topic: str) -> SubscriptionGrant:
    return replace(_of_attempt(actor, pk, topic), log_key=pk.hex)


def _of_attempt(actor: Actor, pk: UUID, topic: str) -> SubscriptionGrant:
    attempt = Attempt.objects.select_related("job__org").filter(id=pk).first()
    return SubscriptionGrant((topic,), org_id=_see(actor, attempt.job if attempt else None))


def _of_job(actor: Actor, pk: UUID, topic: str) -> SubscriptionGrant:
    return SubscriptionGrant(
        (topic,), org_id=_see(actor, Job.objects.select_related("org").filter(id=pk).first())
    )


def _of_run(actor: Actor, pk: UUID, topic: str) -> SubscriptionGrant:
    run = Run.objects.select_related("org").filter(id=pk).first()
    if run is None or not actor.enter(run.org).may(Permission.EXPERIMENTS_READ, run.team_id):
        raise _nothing()
    return SubscriptionGrant((topic,), org_id=run.org_id)


def _job_list(actor: Actor, pk: UUID, topic: str) -> SubscriptionGrant:
    """Return the visible part of the list: one bus topic per team, so that none is filtered."""
    inside = _enter(actor, pk)
    teams = inside.teams_where(Permission.JOBS_READ)
    if teams is None:
        teams = frozenset(Team.objects.filter(org_id=pk).values_list("id", flat=True))
    return SubscriptionGrant(tuple(sorted(f"jobs:{team.hex}" for team in teams)), org_id=pk)


def _node_list(actor: Actor, pk: UUID, topic: str) -> SubscriptionGrant:
    if not _enter(actor, pk).may(Permission.NODES_READ):
        raise _nothing()
    return SubscriptionGrant((topic,), org_id=pk)


def _of_node(actor: Actor, pk: UUID, topic: str) -> SubscriptionGrant:
    """Authorize anyone who may see nodes in some organization, because nodes have no owner."""
    if not Node.objects.filter(id=pk).exists() or not any(
        _enter(actor, org_id).may(Permission.NODES_READ) for org_id in _orgs_of(actor)
    ):
        raise _nothing()
    return SubscriptionGrant((topic,))


def _orgs_of(actor: Actor) -> list[UUID]:
    from workspaces.organizations.selectors import orgs_of

    slugs = [org["slug"] for org in orgs_of(actor)]
    return list(Organization.objects.filter(slug__in=slugs).values_list("id", flat=True)[:20])


def _of_person(actor: Actor, pk: UUID, topic: str) -> SubscriptionGrant:
    """Authorize only the person; the messages say that something changed, not what."""
    if actor.user_id != pk:
        raise _nothing()
    return SubscriptionGrant((topic,))


def _see(actor: Actor, job: Job | None) -> UUID:
    """Return the job's organization if the actor may read the job."""
    if job is None or not actor.enter(job.org).may(Permission.JOBS_READ, job.team_id):
        raise _nothing()
    return job.org_id


def _enter(actor: Actor, org_id: UUID) -> Actor:
    org = Organization.objects.filter(id=org_id).first()
    if org is None:
        raise _nothing()
    return actor.enter(org)


def _nothing() -> NotFound:
    return NotFound(Message("This topic does not exist, or you may not see it."))


KINDS: Mapping[str, Callable[[Actor, UUID, str], SubscriptionGrant]] = {
    "log": _log,
    "job": _of_job,
    "jobs": _job_list,
    "nodes": _node_list,
    "notifications": _of_person,
    "metrics:attempt": _of_attempt,
    "metrics:job": _of_job,
    "metrics:node": _of_node,
    "metrics:run": _of_run,
}
