"""Preview which pending jobs a change of limits would block or admit.

The change is made and rolled back. The planner then judges the current queue with nothing but
limits in the way.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import transaction
from django.utils.translation import gettext as _
from django.utils.translation import ngettext, pgettext

from jobs.dispatch.claims import HORIZON, request_of
from jobs.models import Attempt
from jobs.quotas.tree import title
from jobs.scheduling.admission import AdmissionRequest, ClusterSnapshot, plan
from jobs.scheduling.reservations import with_jobs
from jobs.scheduling.snapshot import limits_of, running_of
from portal.core.formatting import amount_text
from portal.web.translation import translated
from schedulers.states import State
from workspaces.access.actors import Actor
from workspaces.access.permissions import Permission
from workspaces.models import Organization, Quota
from workspaces.quotas.gpu_hours import next_reset, used_now, with_hours
from workspaces.quotas.limits import GPU_HOURS
from workspaces.quotas.set_limits import LimitChange, set_quotas

NAMED = 10


@dataclass(frozen=True)
class MeterLine:
    """The text for one meter, before and after."""

    whose: str
    resource: str
    before: str
    after: str

    @property
    def title(self) -> str:
        return title(self.resource)


@dataclass(frozen=True)
class TeamJobs:
    """Jobs of one team. `numbers`: visible ones, at most NAMED."""

    team: str
    count: int
    numbers: list[int]


@dataclass(frozen=True)
class QuotaPreview:
    """Result of the preview.

    `stopped`: pending jobs that the limits would block. `freed`: pending jobs they would admit.
    `sentences`: the whole preview as text.
    """

    lines: list[MeterLine]
    stopped: list[TeamJobs]
    freed: list[TeamJobs]
    sentences: list[str]


def preview(*, actor: Actor, org: Organization, changes: Sequence[LimitChange]) -> QuotaPreview:
    """Return the effect of the changes without storing them; raises what `set_quotas` raises."""
    due = _queue()
    requests = [request_of(attempt) for attempt in due]
    with transaction.atomic():
        before = limits_of(requests)
        were = {
            (q.scope, q.subject_id, q.resource): q
            for q in Quota.objects.filter(resource__in={c.resource for c in changes})
        }
        rows = set_quotas(actor=actor, org=org, changes=changes)
        after = limits_of(requests)
        transaction.set_rollback(True)
    hours = used_now() if any(row.resource == GPU_HOURS for row in rows) else {}
    running = running_of(
        request.job_id for request in requests if request.max_parallel and request.job_id
    )
    now, then = (
        _starting(requests, due, ClusterSnapshot(limits, (), places=False, running=dict(running)))
        for limits in (before, after)
    )
    by_id = {attempt.id: attempt for attempt in due}
    stopped, freed = (
        _groups([by_id[pk] for pk in by_id if pk in some], actor)
        for some in (now - then, then - now)
    )
    lines = [
        _line(change, were.get((row.scope, row.subject_id, row.resource)), row, org)
        for change, row in zip(changes, rows, strict=True)
    ]
    over = [
        _over(line, row)
        for line, row in zip(lines, with_hours(rows, hours), strict=True)
        if row.limit is not None and row.used > row.limit
    ]
    return QuotaPreview(
        lines,
        stopped,
        freed,
        [*over, *map(_stopped, stopped), *map(_freed, freed)] or [_("No pending job is affected.")],
    )


def _queue() -> list[Attempt]:
    """Return the attempts that the planner would read, in its order."""
    rows = Attempt.objects.filter(state=State.QUEUED, due_at__isnull=False).order_by(
        "-priority", "queued_at", "id"
    )
    return list(with_jobs(list(rows[:HORIZON]), "team"))


def _starting(
    requests: Sequence[AdmissionRequest], due: Sequence[Attempt], snapshot: ClusterSnapshot
) -> set[UUID]:
    return {
        attempt.id
        for attempt, (_ask, decision) in zip(due, plan(snapshot, requests), strict=True)
        if decision.wait is None
    }


def _groups(attempts: Sequence[Attempt], actor: Actor) -> list[TeamJobs]:
    teams: dict[UUID, list[Attempt]] = defaultdict(list)
    for attempt in attempts:
        teams[attempt.job.team_id].append(attempt)
    made = []
    for team_id, found in teams.items():
        numbers = list(dict.fromkeys(a.job.number for a in found))
        made.append(
            TeamJobs(
                found[0].job.team.name,
                len(numbers),
                numbers[:NAMED] if actor.may(Permission.JOBS_READ, team_id) else [],
            )
        )
    return sorted(made, key=lambda group: -group.count)


def _stopped(group: TeamJobs) -> str:
    return ngettext(
        "%(n)d pending job of %(team)s would have to wait for the limit%(which)s",
        "%(n)d pending jobs of %(team)s would have to wait for the limit%(which)s",
        group.count,
    ) % _named(group)


def _freed(group: TeamJobs) -> str:
    return ngettext(
        "%(n)d pending job of %(team)s would no longer wait for a limit%(which)s",
        "%(n)d pending jobs of %(team)s would no longer wait for a limit%(which)s",
        group.count,
    ) % _named(group)


def _named(group: TeamJobs) -> dict[str, Any]:
    which = (
        ": "
        + ", ".join(f"#{n}" for n in group.numbers)
        + (", …" if group.count > len(group.numbers) else "")
        if group.numbers
        else "."
    )
    return {"n": group.count, "team": group.team, "which": which}


def _over(line: MeterLine, row: Quota) -> str:
    assert row.limit is not None
    if row.resource == GPU_HOURS:
        return _(
            "%(whose)s has used %(used)s this month, above the new limit. Running jobs continue; no "
            "GPU job starts before %(day)s."
        ) % {
            "whose": line.whose,
            "used": _amount(row.resource, row.used),
            "day": f"{next_reset():%Y-%m-%d}",
        }
    return _(
        "%(whose)s is using %(used)s, %(over)s above the new limit. Running jobs continue; no job "
        "starts until the use is below it."
    ) % {
        "whose": line.whose,
        "used": _amount(row.resource, row.used),
        "over": _amount(row.resource, row.used - row.limit),
    }


def _line(change: LimitChange, was: Quota | None, row: Quota, org: Organization) -> MeterLine:
    return MeterLine(
        change.subject or org.name,
        row.resource,
        terms(row.resource, was.limit if was else None, was.guaranteed if was else 0),
        terms(row.resource, row.limit, row.guaranteed),
    )


def terms(resource: str, limit: int | None, guaranteed: int) -> str:
    """Return "at most 8 GPUs, 2 GPUs guaranteed"."""
    most = (
        pgettext("quota", "no limit")
        if limit is None
        else pgettext("quota", "at most %(amount)s") % {"amount": _amount(resource, limit)}
    )
    return most + (
        pgettext("quota", ", %(amount)s guaranteed") % {"amount": _amount(resource, guaranteed)}
        if guaranteed
        else ""
    )


def _amount(resource: str, amount: int) -> str:
    return translated(amount_text(resource, amount))
