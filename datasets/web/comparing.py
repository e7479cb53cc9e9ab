"""Compare two versions: pages of files that differ, with the lines of small texts."""

from __future__ import annotations

import difflib
from dataclasses import dataclass, field
from itertools import islice
from uuid import UUID

from datasets.models import Version
from datasets.selectors import tree_of
from datasets.trees import Tree, TreeDifference, TreeEntry, differences
from portal.blobs.store import file_store
from portal.core.errors import NotFound
from portal.web.previews import text_of

PAGE = 50  # files
MOST_COUNTED = 20_000
LONGEST_TEXT = 64 << 10  # bytes of a file whose lines are compared
MOST_LINES = 400  # of a difference
_LINES = {"+": "added", "-": "removed", " ": "same", "@": "gap"}


@dataclass(frozen=True)
class FileChange:
    """A file that differs: `kind` is added, changed or removed. `lines` are (kind, text)."""

    path: str
    kind: str
    before: TreeEntry | None
    after: TreeEntry | None
    lines: list[tuple[str, str]] = field(default_factory=list)
    is_cut: bool = False


@dataclass(frozen=True)
class Comparison:
    """A page of what differs; `next` is the path after which the next page begins."""

    changes: list[FileChange]
    counts: dict[str, int]
    is_beyond: bool  # there are more than were counted
    next: str = ""


def compare(before: Version | None, after: Version | None, *, start: str = "") -> Comparison:
    """Compare two versions, None for an empty one, from the file after `start` on."""
    old, new = tree_of(before), tree_of(after)
    found = list(islice(differences(old, new, start), PAGE + 1))
    counts, is_beyond = _counts(before, after, old, new)
    org_id = next(version.org_id for version in (after, before) if version)
    return Comparison(
        [_change(org_id, one) for one in found[:PAGE]],
        counts,
        is_beyond,
        found[PAGE - 1].path if len(found) > PAGE else "",
    )


def _counts(
    before: Version | None, after: Version | None, old: Tree, new: Tree
) -> tuple[dict[str, int], bool]:
    if after is not None and after.parent_id == (before.id if before else None):
        return {name: getattr(after, name) for name in ("added", "changed", "removed")}, False
    if before is not None and after is not None and before.parent_id == after.id:
        back = {"added": before.removed, "changed": before.changed, "removed": before.added}
        return back, False
    counts = {"added": 0, "changed": 0, "removed": 0}
    for number, one in enumerate(differences(old, new)):
        if number == MOST_COUNTED:
            return counts, True
        counts[_kind(one)] += 1
    return counts, False


def _kind(one: TreeDifference) -> str:
    return "added" if one.before is None else "removed" if one.after is None else "changed"


def _change(org_id: UUID, one: TreeDifference) -> FileChange:
    lines = _lines(org_id, one)
    return FileChange(
        one.path, _kind(one), one.before, one.after, lines[:MOST_LINES], len(lines) > MOST_LINES
    )


def _lines(org_id: UUID, one: TreeDifference) -> list[tuple[str, str]]:
    texts: list[list[str]] = []
    for entry in (one.before, one.after):
        if entry is None:
            texts.append([])
        elif entry.size > LONGEST_TEXT or (text := _text(org_id, entry)) is None:
            return []
        else:
            texts.append(text.splitlines())
    found = islice(difflib.unified_diff(texts[0], texts[1], lineterm=""), 2, None)
    return [(_LINES[line[0]], line if line[0] == "@" else line[1:]) for line in found]


def _text(org_id: UUID, entry: TreeEntry) -> str | None:
    try:
        with file_store().open(org_id, entry.sha256) as file:
            return text_of(file.read())
    except NotFound:
        return None
