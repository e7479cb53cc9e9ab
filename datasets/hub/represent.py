"""What clients of the Hub read: repositories, entries of trees, versions and refs."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import datetime
from typing import Any

from datasets.hub.requests import EMPTY, TYPES
from datasets.models import Ref, Repository, Version, Visibility
from datasets.selectors import tree_of
from datasets.trees import Folder, Tree, TreeEntry
from portal.blobs.store import file_store
from portal.core import yaml_documents
from portal.core.yaml_documents import BadYaml

_FRONT_MATTER = re.compile(r"---\r?\n(.*?)\r?\n---(?:\r?\n|\Z)", re.DOTALL)
_LARGEST_CARD = 1 << 20  # bytes
# Files that are listed with a repository; with sizes and digests. The Hub's clients expect a full
# list up to 50,000.
MOST_SIBLINGS, MOST_BLOBS = 50_000, 10_000


def time_text(at: datetime) -> str:
    """Return a time as the Hub writes it."""
    return at.strftime("%Y-%m-%dT%H:%M:%S.") + f"{at.microsecond // 1000:03}Z"


def full_name(repository: Repository) -> str:
    """Return organization/name."""
    return f"{repository.org.slug}/{repository.name}"


def summary(repository: Repository, head: Version | None = None) -> dict[str, Any]:
    """Return a repository as in a list."""
    name = full_name(repository)
    return {
        "_id": repository.id.hex[:24],
        "id": name,
        **({"modelId": name} if TYPES[repository.kind] == "model" else {}),
        "author": repository.org.slug,
        "sha": head.commit if head else EMPTY,
        "private": repository.visibility != Visibility.ORGANIZATION,
        "gated": False,
        "disabled": False,
        "downloads": 0,
        "likes": 0,
        "tags": [],
        "createdAt": time_text(repository.created_at),
        "lastModified": time_text(repository.updated_at),
        "usedStorage": repository.stored_bytes,
    }


def details(repository: Repository, version: Version | None, *, with_blobs: bool) -> dict[str, Any]:
    """Return a repository at a version with all its files.

    Too many files are null, never a part of them: clients then list the tree, which has pages.
    """
    card = card_of(repository, version)
    return {
        **summary(repository, version),
        "siblings": _siblings(tree_of(version), with_blobs=with_blobs),
        "cardData": card,
        "tags": _tags(card),
        "spaces": [],
    }


def _siblings(tree: Tree, *, with_blobs: bool) -> list[dict[str, Any]] | None:
    if tree.files > (MOST_BLOBS if with_blobs else MOST_SIBLINGS):
        return None
    if with_blobs:
        return [{"rfilename": entry.path, **_blob(entry)} for entry in tree.entries()]
    return [{"rfilename": path} for path in tree.paths()]


def card_of(repository: Repository, version: Version | None) -> dict[str, Any]:
    """Return the metadata at the top of README.md; nothing of a card that cannot be read."""
    entry = tree_of(version).find("README.md")
    if entry is None or entry.size > _LARGEST_CARD:
        return {}
    text = b"".join(file_store().read(repository.org_id, entry.sha256)).decode(errors="replace")
    found = _FRONT_MATTER.match(text)
    if found is None:
        return {}
    try:
        data = yaml_documents.load(found[1])
    except BadYaml:
        return {}
    return data if isinstance(data, dict) else {}


def entry_row(entry: TreeEntry | Folder) -> dict[str, Any]:
    """Return a file or folder of a tree."""
    if isinstance(entry, Folder):
        return {"type": "directory", "oid": "0" * 40, "size": 0, "path": entry.path}
    return {
        "type": "file",
        "oid": entry.sha256[:40],
        "size": entry.size,
        "path": entry.path,
        "lfs": _lfs(entry),
    }


def commit_row(version: Version) -> dict[str, Any]:
    """Return a version of the history."""
    return {
        "id": version.commit,
        "title": version.message,
        "message": version.description,
        "authors": [{"user": version.author.name or version.author.email}],
        "date": time_text(version.created_at),
    }


def last_commit_row(version: Version | None) -> dict[str, Any] | None:
    """Return the version that changed an entry last."""
    if version is None:
        return None
    return {
        "id": version.commit,
        "title": version.message,
        "date": time_text(version.created_at),
    }


def ref_rows(refs: Iterable[Ref], kind: str) -> list[dict[str, Any]]:
    """Return branches or tags."""
    place = "heads" if kind == Ref.Kind.BRANCH else "tags"
    return [
        {
            "name": ref.name,
            "ref": f"refs/{place}/{ref.name}",
            "targetCommit": ref.version.commit if ref.version else EMPTY,
        }
        for ref in refs
        if ref.kind == kind
    ]


def _blob(entry: TreeEntry) -> dict[str, Any]:
    return {
        "blobId": entry.sha256[:40],
        "size": entry.size,
        "lfs": {**_lfs(entry), "sha256": entry.sha256},
    }


def _lfs(entry: TreeEntry) -> dict[str, Any]:
    return {"oid": entry.sha256, "size": entry.size, "pointerSize": 134}


def _tags(card: dict[str, Any]) -> list[str]:
    tags = card.get("tags")
    return [str(tag) for tag in tags] if isinstance(tags, list) else []
