"""Count contents of repositories in the storage of the owner, the team and the organization."""

from __future__ import annotations

from collections.abc import Iterable

from datasets.models import Repository
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


def within_room(
    repository: Repository, chunks: Iterable[bytes], size: int | None
) -> Iterable[bytes]:
    """Return the bytes of an upload, which raise QuotaExceeded beyond the room."""
    return storage.within_room(_amounts(repository, 1), chunks, size=size, replaced=0)


def _amounts(repository: Repository, size: int) -> dict[Meter, int]:
    return meters(repository.org_id, repository.team_id, repository.owner_id, {STORAGE: size})
