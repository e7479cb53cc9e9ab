"""Count the bytes of shared folders in their own quota and in that of owner, team and org."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime

from django.db import transaction

from datasets.folders.selectors import tree_of
from datasets.models import SharedFolder
from portal.core import clock
from portal.core.errors import QuotaExceeded
from portal.core.formatting import bytes_text
from portal.core.messages import Message
from workspaces.quotas import reservations, storage
from workspaces.quotas.limits import STORAGE, Meter, meters


def hold(row: SharedFolder, size: int, replaced: int = 0) -> None:
    """Hold storage for a file of a folder whose row is locked. Raises QuotaExceeded."""
    more = size - replaced
    if more > 0:
        check_space(row, size, replaced)
        storage.hold(_amounts(row, more), size)
    elif more < 0:
        reservations.settle(_amounts(row, -more))
    row.used_bytes += more
    row.save(update_fields=["used_bytes"])


def release(row: SharedFolder, size: int) -> None:
    """Release storage of a folder whose row is locked; a job may have deleted it before."""
    size = min(size, row.used_bytes)
    if size:
        reservations.settle(_amounts(row, size))
        row.used_bytes -= size
        row.save(update_fields=["used_bytes"])


def within_limits(row: SharedFolder, chunks: Iterable[bytes], size: int | None) -> Iterable[bytes]:
    """Return the bytes of an upload, which raise QuotaExceeded beyond the limits."""
    check_space(row, size or 0, 0)
    chunks = storage.within_limits(_amounts(row, 1), chunks, size=size, replaced=0)
    return chunks if row.quota is None else _counted(row, chunks)


def free_bytes(row: SharedFolder) -> int | None:
    """Return the bytes that fit, None without any limit."""
    limits = [] if row.quota is None else [row.quota - row.used_bytes]
    limits += storage.free_amounts(_amounts(row, 1))
    return max(min(limits), 0) if limits else None


def is_full(row: SharedFolder) -> bool:
    """Return whether the folder's own quota is used up."""
    return row.quota is not None and row.used_bytes >= row.quota


def check_space(row: SharedFolder, size: int, replaced: int) -> None:
    """Raise QuotaExceeded if a file does not fit into the folder's own quota."""
    if row.quota is None or row.used_bytes + size - replaced <= row.quota:
        return
    raise QuotaExceeded(
        Message(
            "The workspace {name} uses {used} of {limit}, and this file needs {size}. Delete "
            "files, or ask its owner for more.",
            name=row.name,
            used=bytes_text(row.used_bytes),
            limit=bytes_text(row.quota),
            size=bytes_text(size),
        ),
        data={"scope": "workspace", "used": row.used_bytes, "limit": row.quota, "ask": size},
    )


def _counted(row: SharedFolder, chunks: Iterable[bytes]) -> Iterator[bytes]:
    size = 0
    for chunk in chunks:
        size += len(chunk)
        check_space(row, size, 0)
        yield chunk


def count(folder: SharedFolder) -> SharedFolder:
    """Count what the folder has, also what jobs have written beyond the quota."""
    files, size = tree_of(folder).usage()
    with transaction.atomic():
        row = SharedFolder.objects.select_for_update(of=("self",), no_key=True).get(id=folder.id)
        if size > row.used_bytes:
            reservations.count(_amounts(row, size - row.used_bytes))
        elif size < row.used_bytes:
            reservations.settle(_amounts(row, row.used_bytes - size))
        row.used_bytes, row.files, row.counted_at = size, files, clock.now()
        row.save(update_fields=["used_bytes", "files", "counted_at"])
    return row  # type: ignore[no-any-return]


def count_all(before: datetime) -> int:
    """Count the folders that were not counted since a time; return their number."""
    rows = list(SharedFolder.objects.filter(counted_at__lt=before))
    for row in rows:
        count(row)
    return len(rows)


def _amounts(row: SharedFolder, size: int) -> dict[Meter, int]:
    return meters(row.org_id, row.team_id, row.owner_id, {STORAGE: size})
