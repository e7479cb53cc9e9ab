"""The portal's store of files: a folder or a bucket, and who refers to what is in it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from functools import cache
from pathlib import Path
from uuid import UUID

from django.conf import settings

from portal.blobs.files import FileStore
from portal.core.declarations import declared

Referrer = Callable[[UUID, Collection[str]], Collection[str]]


def references(org_id: UUID) -> Callable[[Collection[str]], Collection[str]]:
    """Return the function that `FileStore.sweep` asks.

    Every app that stores files declares FILE_REFERENCES in `providers.py`, or the sweep deletes
    them: functions that return those of the given SHA-256 that an organization uses.
    """
    referrers: Sequence[Referrer] = declared("providers", "FILE_REFERENCES")
    return lambda names: {found for referrer in referrers for found in referrer(org_id, names)}


@cache
def _store_at(root: Path, *bucket: str) -> FileStore:
    if not bucket:
        return FileStore(root / "files")
    from portal.blobs.s3 import (  # loads a client that most installations do not need
        Bucket,
        S3FileStore,
    )

    return S3FileStore(root / "s3", Bucket(*bucket))


def file_store() -> FileStore:
    """Return the portal's store of files: a folder, or the bucket of MUSTER_S3_BUCKET."""
    root = Path(settings.MUSTER_HOME) / "blobs"
    if not settings.MUSTER_S3_BUCKET:
        return _store_at(root)
    names = ("BUCKET", "PREFIX", "ENDPOINT", "REGION", "ACCESS_KEY", "SECRET_KEY", "PUBLIC_URL")
    return _store_at(root, *(getattr(settings, f"MUSTER_S3_{name}") for name in names))
