"""Files of versions as `portal.web.transfers` sends them."""

from __future__ import annotations

from datasets.models import Repository
from datasets.trees import Entry
from portal.web.transfers import Download, stored_file


def download_of(repository: Repository, entry: Entry, *, is_shown: bool = False) -> Download:
    """Return a file to send. `is_shown`: browsers show it, sandboxed, if its type is safe."""
    return stored_file(
        repository.org_id, name=entry.path, size=entry.size, sha256=entry.sha256, is_shown=is_shown
    )
