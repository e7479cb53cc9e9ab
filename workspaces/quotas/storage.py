"""Hold bytes of files in the storage of a person, a team and the organization."""

from __future__ import annotations

from uuid import UUID

from portal.core.errors import QuotaExceeded
from portal.core.formatting import amount_text, bytes_text
from portal.core.messages import Message
from workspaces.models import Quota
from workspaces.quotas import reservations
from workspaces.quotas.limits import STORAGE, Meter, meters


def hold(org_id: UUID, team_id: UUID, owner_id: UUID, size: int) -> None:
    """Hold bytes in the transaction of their row. Raises QuotaExceeded."""
    refused = reservations.hold(meters(org_id, team_id, owner_id, {STORAGE: size}))
    if refused is not None:
        raise quota_error(refused, size)


def release(org_id: UUID, team_id: UUID, owner_id: UUID, size: int) -> None:
    """Release bytes in the transaction that deletes their row."""
    if size:
        reservations.settle(meters(org_id, team_id, owner_id, {STORAGE: size}))


def quota_error(meter: Meter, size: int) -> QuotaExceeded:
    """Return the error that says which limit has no space for a file of that size."""
    row = Quota.objects.get(
        scope=meter.scope, org_id=meter.org_id, subject_id=meter.subject_id, resource=STORAGE
    )
    whose = {
        "org": Message("The organization"),
        "team": Message("The team"),
        "user": Message("The owner"),
    }[meter.scope]
    return QuotaExceeded(
        Message(
            "{whose} uses {used} of {limit} of storage, and this file needs {size}. Delete "
            "versions, artifacts or logs, or ask an administrator for more.",
            whose=whose,
            used=amount_text(STORAGE, row.used),
            limit=amount_text(STORAGE, row.limit),
            size=bytes_text(size),
        ),
        data={
            "scope": meter.scope,
            "resource": STORAGE,
            "used": row.used,
            "limit": row.limit,
            "ask": size,
        },
    )
