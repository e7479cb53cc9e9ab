"""Find the version that changed a path last."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from uuid import UUID

from datasets.models import Version
from datasets.selectors import tree_of
from datasets.trees import Tree, differences, sort_key

MOST_VERSIONS = 500  # that one request compares
_AT_ONCE = 50  # versions whose lists of blocks are read together


def last_changes(version: Version | None, paths: Collection[str]) -> dict[str, Version]:
    """Return the version that last changed each file, or anything in a folder.

    A path that did not change in the last MOST_VERSIONS versions is left out. Where versions before were
    deleted, it is the oldest that is left. Blocks that two versions share are not read.
    """
    found: dict[str, Version] = {}
    wanted = set(paths)
    if version is None or not wanted:
        return found
    chain = _chain(version)
    after = next(chain)
    for number, before in enumerate(chain):
        if not wanted or number >= MOST_VERSIONS:
            return found
        old, new = tree_of(before), tree_of(after)
        changed = {path for path in wanted if _is_changed(old, new, path)}
        found.update(dict.fromkeys(changed, after))
        wanted -= changed
        after = before
    found.update(dict.fromkeys(wanted, after))
    return found


def _chain(version: Version) -> Iterator[Version]:
    """Yield a version, its parent, and so on."""
    rows = Version.objects.filter(repository_id=version.repository_id)
    parents = dict(rows.values_list("id", "parent_id"))
    ids: list[UUID] = []
    current: UUID | None = version.id
    while current is not None and len(ids) <= MOST_VERSIONS + 1:
        ids.append(current)
        current = parents.get(current)
    for start in range(0, len(ids), _AT_ONCE):
        batch = rows.in_bulk(ids[start : start + _AT_ONCE])
        yield from (batch[pk] for pk in ids[start : start + _AT_ONCE] if pk in batch)


def _is_changed(old: Tree, new: Tree, path: str) -> bool:
    """Return whether a file differs, or anything in a folder."""
    if _blocks(old, path) == _blocks(new, path):
        return False
    if old.find(path) != new.find(path):
        return True
    first = next(differences(old, new, f"{path}/"), None)
    return first is not None and first.path.startswith(f"{path}/")


def _blocks(tree: Tree, path: str) -> list[str]:
    """Return the digests of the blocks that have a path, or files below it."""
    first, last = tree.block_of(sort_key(path)), tree.block_of(sort_key(path) + "\1")
    return [block.digest for block in tree.blocks[first : last + 1]]
