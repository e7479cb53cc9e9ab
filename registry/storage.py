"""Count uploaded files of versions in the storage of the owner, the team and the organization.

Files of runs are counted where they were logged, and versions registered from them share their
bytes. So only uploads are counted here.
"""

from __future__ import annotations

from collections.abc import Iterable

from registry.models import ModelFile, ModelVersion
from workspaces.quotas import reservations, storage
from workspaces.quotas.limits import STORAGE, Meter, meters


def hold(version: ModelVersion, size: int) -> None:
    """Hold storage for a version whose row is locked. Raises QuotaExceeded."""
    storage.hold(_amounts(version, size), size)
    version.stored_bytes += size
    version.save(update_fields=["stored_bytes"])


def within_limits(
    version: ModelVersion, path: str, chunks: Iterable[bytes], size: int | None
) -> Iterable[bytes]:
    """Return the bytes of an upload to a path, which raise QuotaExceeded beyond the limits."""
    known = ModelFile.objects.filter(version=version, path=path).values_list("size", flat=True)
    replaced = known.first() or 0
    return storage.within_limits(_amounts(version, 1), chunks, size=size, replaced=replaced)


def release(version: ModelVersion, size: int | None = None) -> None:
    """Release storage: all of a version's by default, before its row is deleted."""
    size = version.stored_bytes if size is None else size
    if size:
        reservations.settle(_amounts(version, size))
        version.stored_bytes -= size
        version.save(update_fields=["stored_bytes"])


def _amounts(version: ModelVersion, size: int) -> dict[Meter, int]:
    return meters(version.org_id, version.model.team_id, version.owner_id, {STORAGE: size})
