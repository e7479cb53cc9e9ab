"""Files of shared folders as `portal.web.transfers` sends them."""

from __future__ import annotations

from urllib.parse import quote

from datasets.folders.selectors import tree_of
from datasets.models import SharedFolder
from portal.blobs.folders import root_folder
from portal.core.errors import NotFound
from portal.core.messages import Message
from portal.web.transfers import ACCELERATED_FOLDERS, Download


def download_of(folder: SharedFolder, path: str, *, is_shown: bool = False) -> Download:
    """Return a file to send. Raises NotFound for all but files: links are not followed."""
    tree = tree_of(folder)
    entry = tree.entry(path)
    if entry.kind != "file":
        raise NotFound(
            Message("{path} is not a file.", path=repr(entry.path[:200])), code="no_file"
        )
    place = quote(f"{tree.path.relative_to(root_folder())}/{entry.path}")
    return Download(
        name=entry.path,
        size=entry.size,
        sha256="",
        tag=entry.tag,
        pieces=lambda start, end: tree.read(entry.path, start, end),
        accelerated=place,
        location=ACCELERATED_FOLDERS,
        is_shown=is_shown,
    )
