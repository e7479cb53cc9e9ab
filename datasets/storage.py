"""Count contents of repositories in the storage of the owner, the team and the organization."""

from __future__ import annotations

from datasets.models import Repository
from workspaces.quotas import storage


def hold(repository: Repository, size: int) -> None:
    """Hold storage for a repository whose row is locked. Raises QuotaExceeded."""
    storage.hold(repository.org_id, repository.team_id, repository.owner_id, size)
    repository.stored_bytes += size
    repository.save(update_fields=["stored_bytes"])


def release(repository: Repository, size: int) -> None:
    """Release storage of a repository whose row is locked."""
    storage.release(repository.org_id, repository.team_id, repository.owner_id, size)
    repository.stored_bytes -= size
    repository.save(update_fields=["stored_bytes"])
