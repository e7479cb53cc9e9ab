"""End guarantees of users who leave the organization."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from uuid import UUID

from portal.core.events import EventRecord, record
from portal.core.wakeups import wake_worker
from workspaces.models import Quota, User
from workspaces.quotas.limits import ORG, USER, Meter
from workspaces.quotas.reservations import lock, meter_of, quota_usage_of, write


def end_guarantees(org_id: UUID, users: Collection[UUID], *, by: str) -> None:
    """Remove guarantees in the caller's transaction. Limits stay: running jobs continue."""
    of_theirs = Quota.objects.filter(
        org_id=org_id, scope=USER, subject_id__in=users, guaranteed__gt=0
    )
    found = {meter_of(row) for row in of_theirs}
    if not found:
        return
    rows = lock({*found, *(Meter(org_id, ORG, org_id, meter.resource) for meter in found)})
    theirs = [rows[meter] for meter in found]
    _release(org_id, rows, theirs)
    _record_event(org_id, theirs, by)
    Quota.objects.filter(id__in=[row.id for row in theirs]).update(guaranteed=0)
    wake_worker("jobs.dispatch")


def _release(org_id: UUID, rows: Mapping[Meter, Quota], theirs: Collection[Quota]) -> None:
    whole = {
        resource: rows[Meter(org_id, ORG, org_id, resource)]
        for resource in {row.resource for row in theirs}
    }
    for row in theirs:
        whole[row.resource].promised -= quota_usage_of(row).idle
    write([(row, quota_usage_of(row)) for row in whole.values()])


def _record_event(org_id: UUID, theirs: Collection[Quota], by: str) -> None:
    emails = dict(
        User.objects.filter(id__in={row.subject_id for row in theirs}).values_list("id", "email")
    )
    named = sorted(
        ((f"{row.resource} of user {emails[row.subject_id]}", row) for row in theirs),
        key=lambda pair: pair[0],
    )
    names = [name for name, _ in named]
    record(
        EventRecord(
            "quota.changed",
            org_id,
            "quota",
            org_id,
            by,
            {
                "name": ", ".join(names[:3])
                + (f" and {len(names) - 3} more" if len(names) > 3 else ""),
                "changes": len(named),
                "before": {
                    name: {"limit": row.limit, "guaranteed": row.guaranteed} for name, row in named
                },
                "after": {name: {"limit": row.limit, "guaranteed": 0} for name, row in named},
            },
        )
    )
