"""Count uploaded files of versions in the storage of the owner, the team and the organization.

Files of runs are counted where they were logged, and versions registered from them share their
bytes. So only uploads are counted here.
"""

from __future__ import annotations

from registry.models import ModelVersion
from workspaces.quotas import storage


def hold(version: ModelVersion, size: int) -> None:
    """Hold storage for a version whose row is locked. Raises QuotaExceeded."""
    storage.hold(version.org_id, version.model.team_id, version.owner_id, size)
    version.stored_bytes += size
    version.save(update_fields=["stored_bytes"])


def release(version: ModelVersion, size: int | None = None) -> None:
    """Release storage: all of a version's by default, before its row is deleted."""
    size = version.stored_bytes if size is None else size
    if size:
        storage.release(version.org_id, version.model.team_id, version.owner_id, size)
        version.stored_bytes -= size
        version.save(update_fields=["stored_bytes"])
