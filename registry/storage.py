"""Count uploaded files of versions in the storage of the owner, the team and the organization.

Files of runs are counted where they were logged, and versions registered from them share their
bytes. So only uploads are counted here.
"""

from __future__ import annotations

from portal.core.errors import QuotaExceeded
from portal.core.formatting import amount_text, bytes_text
from portal.core.messages import Message
from registry.models import ModelVersion
from workspaces.models import Quota
from workspaces.quotas import reservations
from workspaces.quotas.limits import STORAGE, Meter, meters


def hold(version: ModelVersion, size: int) -> None:
    """Hold storage for a version whose row is locked. Raises QuotaExceeded."""
    refused = reservations.hold(_amounts(version, size))
    if refused is not None:
        raise _no_room(refused, size)
    version.stored_bytes += size
    version.save(update_fields=["stored_bytes"])


def release(version: ModelVersion, size: int | None = None) -> None:
    """Release storage: all of a version's by default, before its row is deleted."""
    size = version.stored_bytes if size is None else size
    if size:
        reservations.settle(_amounts(version, size))
        version.stored_bytes -= size
        version.save(update_fields=["stored_bytes"])


def _amounts(version: ModelVersion, size: int) -> dict[Meter, int]:
    return meters(version.org_id, version.model.team_id, version.owner_id, {STORAGE: size})


def _no_room(meter: Meter, size: int) -> QuotaExceeded:
    row = Quota.objects.get(
        scope=meter.scope,
        org_id=meter.org_id,
        subject_id=meter.subject_id,
        resource=STORAGE,
    )
    whose = {
        "org": Message("The organization"),
        "team": Message("The team"),
        "user": Message("The owner of the version"),
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
