"""Find what lasts and nobody does: pending jobs, nearly used limits, idle GPUs.

Each is recorded as an event when it begins, and again only after it was over.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import timedelta

from django.db import transaction

from jobs.models import Attempt, AttemptUtilization
from jobs.ports.activity import last_uses
from jobs.utilization.recording import is_idle_gpu
from notifications.models import Condition
from portal.core import clock
from portal.core.events import EventRecord, record_all
from schedulers.states import State, Wait
from workspaces.models import Organization, Quota
from workspaces.quotas.gpu_hours import used_now, with_hours
from workspaces.quotas.limits import GPU_HOURS, STORAGE
from workspaces.tenancy.scope import org_scope, platform_scope

PENDING = timedelta(hours=1)
IDLE = timedelta(hours=1)
NEAR = 0.9  # of a limit
MOST = 2000
CONSUMED = (STORAGE, GPU_HOURS)  # a team that uses all its GPUs is no news


@platform_scope("what lasts is reported in every organization")
def check_conditions() -> None:
    """Record what has begun since the last check, and forget what is over."""
    _report("pending", _pending())
    _report("idle", _idle())
    _report("quota", _quotas())


@transaction.atomic
def _report(family: str, found: Mapping[str, EventRecord]) -> None:
    """Record the events of conditions that are new. `found`: by key, all that hold now."""
    known = set(
        Condition.objects.select_for_update()
        .filter(key__startswith=f"{family}:")
        .values_list("key", flat=True)
    )
    Condition.objects.filter(key__in=known - found.keys()).delete()
    new = sorted(found.keys() - known)
    Condition.objects.bulk_create([Condition(key=key) for key in new])
    record_all(found[key] for key in new)


def _pending() -> dict[str, EventRecord]:
    """Return jobs whose first waiting task has been pending for long, without dependencies.

    One that is not due yet waits for its next try.
    """
    rows = (
        Attempt.objects.filter(
            state=State.QUEUED, is_current=True, queued_at__lt=clock.now() - PENDING
        )
        .exclude(wait__in=[Wait.HELD, Wait.DEPENDENCY])
        .exclude(due_at__gt=clock.now())
        .filter(job__state=State.QUEUED, job__is_held=False)
        .order_by("queued_at")
        .values_list("job_id", "job__org_id", "job__number")[:MOST]
    )
    return {
        f"pending:{job.hex}": EventRecord(
            "job.pending_long", org, "job", job, "muster", {"number": number}
        )
        for job, org, number in rows
    }


def _idle() -> dict[str, EventRecord]:
    """Return running jobs with GPUs that have been idle for long, and whose ports are not used."""
    now = clock.now()
    rows = AttemptUtilization.objects.filter(
        idle_since__lt=now - IDLE, at__gt=now - timedelta(minutes=10), job__state=State.RUNNING
    ).select_related("job")[:MOST]
    used = last_uses([row.job_id for row in rows], now - IDLE)
    return {
        f"idle:{row.job_id.hex}": EventRecord(
            "job.gpus_idle",
            row.org_id,
            "job",
            row.job_id,
            "muster",
            {"number": row.job.number, "gpus": _count(row)},
        )
        for row in rows
        if row.job_id not in used
    }


def _count(row: AttemptUtilization) -> int:
    at = round(row.at.timestamp() * 1000)
    return sum(is_idle_gpu(gpu, at) for gpu in row.gpus.values())


def _quotas() -> dict[str, EventRecord]:
    """Return meters of what is used up, such as storage, that are near their limit."""
    rows = Quota.objects.filter(resource__in=CONSUMED, limit__gt=0)
    found: dict[str, EventRecord] = {}
    for org_id in Organization.objects.filter(id__in=rows.values("org_id")).values_list(
        "id", flat=True
    ):
        with org_scope(org_id):
            metered = with_hours(rows.filter(org_id=org_id), used_now())
        found |= dict(_near(metered))
    return found


def _near(rows: Iterable[Quota]) -> Iterable[tuple[str, EventRecord]]:
    for row in rows:
        if row.limit and row.used >= NEAR * row.limit:
            month = f":{clock.now():%Y-%m}" if row.resource == GPU_HOURS else ""
            data = {
                "scope": row.scope,
                "subject": str(row.subject_id),
                "resource": row.resource,
                "percent": row.used * 100 // row.limit,
            }
            yield (
                f"quota:{row.id.hex}{month}",
                EventRecord("quota.nearly_used", row.org_id, "quota", row.id, "muster", data),
            )
