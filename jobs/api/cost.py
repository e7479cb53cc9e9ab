"""Compare a spec with usage and limits, for the line above the submit button."""

from __future__ import annotations

from typing import Annotated, TypedDict

from jobs.specs.stored import request_of
from portal.core.formatting import amount_text
from schedulers.spec import JobSpec
from workspaces.access.actors import Actor
from workspaces.models import Quota, Team
from workspaces.quotas.reservations import meters, unit_of


class CostShape(TypedDict):
    resource: str
    unit: str
    ask: float
    tasks: int
    text: str
    scope: Annotated[str | None, "Of the tightest limit."]
    used: float | None
    limit: float | None
    fits: bool


def cost_of(actor: Actor, team: Team | None, spec: JobSpec) -> list[CostShape]:
    """Return one entry per resource, with the tightest limit that applies."""
    amounts = request_of(spec).totals
    return [
        _entry(actor, team, resource, amount, spec.tasks) for resource, amount in amounts.items()
    ]


def _entry(actor: Actor, team: Team | None, resource: str, amount: int, tasks: int) -> CostShape:
    scale = 1000 if resource == "cpu" else 1
    tight = _tightest(actor, team, resource, amount)
    return {
        "resource": resource,
        "unit": unit_of(resource),
        "ask": amount / scale,
        "tasks": tasks,
        "text": amount_text(resource, amount),
        "scope": tight.scope if tight else None,
        "used": tight.used / scale if tight else None,
        "limit": tight.limit / scale if tight and tight.limit is not None else None,
        "fits": tight is None or tight.limit is None or tight.used + amount <= tight.limit,
    }


def _tightest(actor: Actor, team: Team | None, resource: str, amount: int) -> Quota | None:
    if actor.org_id is None or actor.user_id is None:
        return None
    wanted = meters(
        actor.org_id, team.id if team else actor.org_id, actor.user_id, {resource: amount}
    )
    rows = [
        q
        for m in wanted
        for q in Quota.objects.filter(
            scope=m.scope, subject_id=m.subject_id, resource=m.resource
        ).exclude(limit=None)
    ]
    return min(rows, key=lambda q: (q.limit or 0) - q.used, default=None)
