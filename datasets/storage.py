"""Count contents of repositories in the storage of the owner, the team and the organization."""

from __future__ import annotations

from collections.abc import Iterable

from django.conf import settings

from datasets.models import Repository
from portal.blobs.store import file_store
from workspaces.quotas import reservations, storage
from workspaces.quotas.limits import STORAGE, Meter, meters


def hold(repository: Repository, size: int) -> None:
    """Hold storage for a repository whose row is locked. Raises QuotaExceeded."""
    storage.hold(_amounts(repository, size), size)
    repository.stored_bytes += size
    repository.save(update_fields=["stored_bytes"])


def release(repository: Repository, size: int) -> None:
    """Release storage of a repository whose row is locked."""
    if size:
        reservations.settle(_amounts(repository, size))
        repository.stored_bytes -= size
        repository.save(update_fields=["stored_bytes"])


def within_limits(
    repository: Repository, chunks: Iterable[bytes], size: int | None
) -> Iterable[bytes]:
    """Return the bytes of an upload, which raise QuotaExceeded beyond the limits."""
    return storage.within_limits(_amounts(repository, 1), chunks, size=size, replaced=0)


def free_bytes_of(repository: Repository) -> int:
    """Return the bytes of a file that can be stored now, by quota, disk and limit of a file."""
    limits = [*storage.free_amounts(_amounts(repository, 1)), settings.MUSTER_FILE_LIMIT]
    return max(min(*limits, file_store().free_bytes()), 0)


def _amounts(repository: Repository, size: int) -> dict[Meter, int]:
    return meters(repository.org_id, repository.team_id, repository.owner_id, {STORAGE: size})
