"""Room for files in the storage of an owner, a team and an organization."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from portal.core.errors import QuotaExceeded
from portal.core.formatting import amount_text, bytes_text
from portal.core.messages import Message
from workspaces.models import Quota
from workspaces.quotas import reservations
from workspaces.quotas.limits import STORAGE, Meter

_WHOSE = {
    "org": Message("The organization", context="whose limit"),
    "team": Message("The team", context="whose limit"),
    "user": Message("The owner", context="whose limit"),
}


def within_limits(
    amounts: Mapping[Meter, int], chunks: Iterable[bytes], *, size: int | None, replaced: int
) -> Iterable[bytes]:
    """Return the bytes of an upload, which raise QuotaExceeded beyond what is free on these meters.

    `size` is what was announced, `replaced` the size of the file that goes. Raises QuotaExceeded at
    once if the file cannot be stored. Unlocked: this spares transfers; `hold` decides.
    """
    rows = Quota.objects.filter(
        limit__isnull=False,
        resource=STORAGE,
        subject_id__in=[meter.subject_id for meter in amounts],
    )
    free_by_meter = [
        (row.limit - row.used + replaced, meter)
        for row in rows
        if (meter := reservations.meter_of(row)) in amounts
    ]
    if not free_by_meter:
        return chunks
    free, meter = min(free_by_meter, key=lambda one: one[0])
    if size is not None and size > max(free, 0):
        raise no_space(meter, size)
    return _counted(chunks, free, meter)


def free_amounts(amounts: Mapping[Meter, int]) -> list[int]:
    """Return the bytes that fit on each of these meters that has a limit."""
    rows = Quota.objects.filter(
        limit__isnull=False,
        resource=STORAGE,
        subject_id__in=[meter.subject_id for meter in amounts],
    )
    return [row.limit - row.used for row in rows if reservations.meter_of(row) in amounts]


def _counted(chunks: Iterable[bytes], free: int, meter: Meter) -> Iterator[bytes]:
    size = 0
    for chunk in chunks:
        size += len(chunk)
        if size > max(free, 0):
            raise no_space(meter, size)
        yield chunk


def hold(amounts: Mapping[Meter, int], size: int) -> None:
    """Hold storage for a file of that size. Raises QuotaExceeded."""
    refused = reservations.hold(amounts)
    if refused is not None:
        raise no_space(refused, size)


def no_space(meter: Meter, size: int) -> QuotaExceeded:
    """Return the error for a file that does not fit."""
    row = Quota.objects.get(
        scope=meter.scope, org_id=meter.org_id, subject_id=meter.subject_id, resource=STORAGE
    )
    return QuotaExceeded(
        Message(
            "{whose} uses {used} of {limit} of storage, and this file needs {size}. Delete "
            "versions, artifacts or logs, or ask an administrator for more.",
            whose=_WHOSE[meter.scope],
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
