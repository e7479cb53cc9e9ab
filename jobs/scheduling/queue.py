"""List pending jobs of every organization, each with its dominant reason. Operators only."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.db.models import Count, Min, Q, QuerySet

from jobs.kinds.workload_kinds import page_of
from jobs.models import Attempt
from jobs.scheduling.expected_start import ExpectedStart, expected_starts
from jobs.scheduling.pending_summary import wait_text
from portal.core.errors import InvalidInput
from schedulers.states import State, Wait
from workspaces.access.actors import Actor, authorize
from workspaces.access.permissions import Permission
from workspaces.tenancy.scope import platform_scope

PAGE = 50
WAITS = Q(state=State.QUEUED) | (Q(state=State.SUBMITTED) & ~Q(wait=""))
_FILTERS = {"cluster": "cluster__name", "org": "job__org__slug", "team": "job__team__slug"}


def queue_page(
    actor: Actor, filters: Mapping[str, str], most: int = PAGE
) -> tuple[list[dict[str, Any]], str]:
    """Return up to `most` pending jobs, oldest first, and the cursor of the next page.

    `filters` selects by cluster, org, team and reason, and has the cursor in `after`. A job's reason
    is that of its first waiting task. Raises NotPermitted, InvalidInput for an invalid cursor.
    """
    authorize(actor, Permission.CLUSTERS_READ)
    with platform_scope("operators see every organization's queue"):
        rows = _filtered(filters).filter(
            **({"job_id__gt": _cursor(filters["after"])} if filters.get("after") else {})
        )
        ids = list(rows.order_by("job_id").values_list("job_id", flat=True).distinct()[: most + 1])
        shown = ids[:most]
        tasks: dict[UUID, list[Attempt]] = {pk: [] for pk in shown}
        first = (
            Attempt.objects.filter(WAITS, is_current=True, job__in=shown)
            .values("job")
            .annotate(index=Min("index"), n=Count("id"))
        )
        counts = {row["job"]: (row["index"], row["n"]) for row in first}
        for attempt in _first_tasks(counts):
            tasks[attempt.job_id].append(attempt)
        starts = expected_starts([tasks[pk][0] for pk in shown if tasks[pk]])
        rows_shown = [_row(tasks[pk][0], counts[pk][1], starts) for pk in shown if tasks[pk]]
        return rows_shown, shown[-1].hex if len(ids) > most else ""


def reasons(actor: Actor, filters: Mapping[str, str]) -> list[dict[str, Any]]:
    """Count pending jobs by reason, most frequent first; ignores the filter by reason."""
    authorize(actor, Permission.CLUSTERS_READ)
    with platform_scope("operators see every organization's queue"):
        rows = (
            _filtered({**filters, "wait": ""})
            .order_by()
            .values("wait")
            .annotate(n=Count("job", distinct=True))
        )
        found: dict[str, int] = {}
        for row in rows:
            code = row["wait"] or str(Wait.EVALUATING)
            found[code] = found.get(code, 0) + row["n"]
    return [
        {"code": code, "text": wait_text(Wait(code), {}).removesuffix("."), "n": n}
        for code, n in sorted(found.items(), key=lambda pair: -pair[1])
    ]


def teams_waiting(actor: Actor, filters: Mapping[str, str]) -> list[dict[str, Any]]:
    """Return per team: number of pending jobs, the earliest start of waiting, the main reason."""
    authorize(actor, Permission.CLUSTERS_READ)
    with platform_scope("operators see every organization's queue"):
        rows = list(
            _filtered(filters)
            .order_by()
            .values("job__org__slug", "job__org__name", "job__team__slug", "wait")
            .annotate(n=Count("job", distinct=True), since=Min("queued_at"))
        )
    found: dict[tuple[str, str], dict[str, Any]] = {}
    for row in sorted(rows, key=lambda row: -row["n"]):
        team = found.setdefault(
            (row["job__org__slug"], row["job__team__slug"]),
            {
                "org": row["job__org__slug"],
                "org_name": row["job__org__name"],
                "team": row["job__team__slug"],
                "n": 0,
                "since": row["since"],
                "text": wait_text(Wait(row["wait"] or Wait.EVALUATING), {}),
            },
        )
        team["n"] += row["n"]
        team["since"] = min(team["since"], row["since"])
    return sorted(found.values(), key=lambda team: -team["n"])


def _filtered(filters: Mapping[str, str]) -> QuerySet[Attempt]:
    rows = Attempt.objects.filter(WAITS, is_current=True)
    for name, column in _FILTERS.items():
        if filters.get(name):
            rows = rows.filter(**{column: filters[name]})
    wait = filters.get("wait", "")
    return (
        rows
        if not wait
        else rows.filter(wait__in=["", wait] if wait == Wait.EVALUATING else [wait])
    )


def _first_tasks(counts: Mapping[UUID, tuple[int, int]]) -> QuerySet[Attempt]:
    """Return the waiting task with the smallest index of each job."""
    indexes = {index for index, _ in counts.values()}
    rows = Attempt.objects.filter(
        WAITS, is_current=True, job__in=list(counts), index__in=indexes
    ).order_by("index")
    return rows.select_related("job__org", "job__team", "job__owner", "job__pool", "cluster")


def _row(attempt: Attempt, tasks: int, starts: Mapping[UUID, ExpectedStart]) -> dict[str, Any]:
    job = attempt.job
    return {
        "org": job.org.slug,
        "team": job.team.slug,
        "number": job.number,
        "name": job.name,
        "owner": job.owner.display_name,
        "cluster": attempt.cluster.name,
        "pool": job.pool.name if job.pool else "",
        "tasks": tasks if job.array_size else 0,
        "code": attempt.wait or str(Wait.EVALUATING),
        "text": wait_text(Wait(attempt.wait or Wait.EVALUATING), attempt.wait_facts),
        "since": attempt.wait_since or attempt.queued_at,
        "limit_page": _limit_page(attempt),
        "queued_at": attempt.queued_at,
        "expected_start": starts[attempt.id].as_dict(),
        "gpus": job.resources.get("gpu", 0),
        "page": page_of(job),
    }


def _cursor(text: str) -> UUID:
    try:
        return UUID(hex=text)
    except ValueError:
        raise InvalidInput.at("after", "is not a valid cursor") from None


def _limit_page(attempt: Attempt) -> str:
    """Return the page of the limit that a job waits for; "" if it waits for something else."""
    job = attempt.job
    place = f"/{job.org.slug}/quotas"
    return {
        Wait.QUOTA_TEAM: f"{place}/team/{job.team.slug}",
        Wait.QUOTA_USER: f"{place}/user/{job.owner.email}",
        Wait.QUOTA_ORG: f"{place}/org",
    }.get(Wait(attempt.wait or Wait.EVALUATING), "")
