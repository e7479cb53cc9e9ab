"""Files of versions as `portal.web.transfers` sends them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from datasets.models import Repository
from datasets.trees import TreeEntry
from portal.blobs.store import file_store
from portal.web.transfers import PIECE, Download, stored_file


def download_of(repository: Repository, entry: TreeEntry, *, is_shown: bool = False) -> Download:
    """Return a file to send. `is_shown`: browsers show it, sandboxed, if its type is safe."""
    return stored_file(
        repository.org_id, name=entry.path, size=entry.size, sha256=entry.sha256, is_shown=is_shown
    )


def small_files(repository: Repository, entries: Sequence[TreeEntry]) -> Iterator[bytes]:
    """Yield the bytes of files, one after the other, in pieces of about 256 KiB."""
    store, ready = file_store(), bytearray()
    for entry in entries:
        ready += b"".join(store.read(repository.org_id, entry.sha256))
        if len(ready) >= PIECE:
            yield bytes(ready)
            ready.clear()
    yield bytes(ready)
