"""Files of versions as `portal.web.transfers` sends them."""

from __future__ import annotations

from datasets.models import Repository
from datasets.trees import Entry
from portal.blobs.files import file_store
from portal.web.transfers import Download


def download_of(repository: Repository, entry: Entry, *, is_shown: bool = False) -> Download:
    """Return a file to send. `is_shown`: browsers show it, sandboxed, if its type is safe."""
    store, org_id = file_store(), repository.org_id
    return Download(
        name=entry.path,
        size=entry.size,
        sha256=entry.sha256,
        pieces=lambda start, end: store.read(org_id, entry.sha256, start, end),
        accelerated=store.name(org_id, entry.sha256),
        is_shown=is_shown,
    )
