"""Sorted lists of files in blocks: how a version keeps its tree. See docs/design/datasets.md.

A tree is a list of `BlockInfo`; blocks are stored once for each repository. The data of a block is
compressed JSON, a list of [path, SHA-256, size]. Readers cut it into lines, one for each entry, and
parse only those that they need.
"""

from __future__ import annotations

import hashlib
import zlib
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache, partial
from itertools import pairwise
from typing import NamedTuple

import orjson
import zstandard

AVERAGE, LARGEST = 1024, 4096  # entries of a block
_LEVEL = 3


class TreeEntry(NamedTuple):
    """A file of a tree."""

    path: str
    sha256: str
    size: int  # bytes


class BlockInfo(NamedTuple):
    """A block of a tree: its digest, the first path in it, files and bytes."""

    digest: str
    first: str
    files: int
    bytes: int


class Folder(NamedTuple):
    """A folder of a listing."""

    path: str


class TreeDifference(NamedTuple):
    """A file that two trees do not have in common; None where it is missing."""

    path: str
    before: TreeEntry | None
    after: TreeEntry | None


Blocks = Sequence[BlockInfo]
Read = Callable[[Sequence[str]], Mapping[str, bytes]]
READ_AHEAD = 32  # blocks that are read in one query
_AT_ONCE = 256  # lines that are parsed together
# Between two entries. Inside of a JSON string each quote has a backslash before it, so this is never
# in a path; but a path may end with "],[" and then its closing quote follows.
_BETWEEN, _MISTAKABLE = b'],["', b'],[","'


def sort_key(path: str) -> str:
    """Return the key by which entries are sorted: "/" is before all other characters."""
    return path.replace("/", "\0")


class Tree:
    """A tree that is read. `read` returns the data of several blocks by their digests."""

    def __init__(self, blocks: Blocks, read: Read):
        self.blocks = [BlockInfo(*block) for block in blocks]
        self.read = read
        self.load = lru_cache(maxsize=4)(self._load)
        self._ahead: dict[str, bytes] = {}  # read, and not asked for yet
        self._read_to = -1  # the number of the last block of those
        self.firsts = [sort_key(block.first) for block in self.blocks]

    def _load(self, digest: str) -> list[bytes]:
        """Return the lines of a block."""
        found = self._ahead.pop(digest, None)
        return _lines(self.read([digest])[digest] if found is None else found)

    def load_all(self, digests: Sequence[str]) -> Iterator[bytes]:
        """Yield the data of many blocks in order; the first alone, then READ_AHEAD at a time."""
        start, count = 0, 1
        while part := digests[start : start + count]:
            found = self.read(part)
            for digest in part:
                yield found[digest]
            start, count = start + count, min(count * 2, READ_AHEAD)

    @property
    def files(self) -> int:
        return sum(block.files for block in self.blocks)

    @property
    def bytes(self) -> int:
        return sum(block.bytes for block in self.blocks)

    def find(self, path: str) -> TreeEntry | None:
        """Return the file at a path."""
        found = next(self.entries(path), None)
        return found if found and found.path == path else None

    def is_folder(self, path: str) -> bool:
        """Return whether there are files below a path; "" is the top."""
        return next(self.below(path), None) is not None

    def entries(self, start: str = "") -> Iterator[TreeEntry]:
        """Yield files in order, from a path on."""
        yield from self._from_key(sort_key(start))

    def paths(self) -> Iterator[str]:
        """Yield all paths in order, in a fraction of the time of `entries`."""
        for data in self.load_all([block.digest for block in self.blocks]):
            yield from _paths(_lines(data))

    def below(self, folder: str, after: str = "") -> Iterator[TreeEntry]:
        """Yield all files in a folder and its subfolders, those after the path `after`.

        "" is the top.
        """
        inside = f"{folder}/" if folder else ""
        for entry in self.entries(after or inside):
            if not entry.path.startswith(inside):
                return
            if entry.path != after:
                yield entry

    def listing(self, folder: str = "", after: str = "") -> Iterator[TreeEntry | Folder]:
        """Yield the files and subfolders directly in a folder, those after the path `after`."""
        inside = f"{folder}/" if folder else ""
        key = sort_key(inside)
        if after:
            key = sort_key(after) + "\1"  # past the file or folder, and all in it
        self._read_to, folders = -1, 0
        while True:
            if folders:
                self._read_ahead(inside, key)
            for entry in self._from_key(key):
                if not entry.path.startswith(inside):
                    return
                name, slash, _rest = entry.path[len(inside) :].partition("/")
                if slash:
                    yield Folder(inside + name)
                    key = sort_key(inside + name) + "\1"
                    folders += 1
                    break
                yield entry
            else:
                return

    def _read_ahead(self, inside: str, key: str) -> None:
        """Read in one query the next blocks in which a name of a folder ends: a listing needs those."""
        number = self.block_of(key)
        if number <= self._read_to:
            return
        names = [
            block.first[len(inside) :].partition("/")[0] if block.first.startswith(inside) else ""
            for block in self.blocks[number : number + READ_AHEAD * 8]
        ]
        ends = [
            n for n, (one, other) in enumerate(pairwise([*names, ""])) if n == 0 or one != other
        ]
        ends = ends[:READ_AHEAD]
        self._ahead = dict(self.read([self.blocks[number + n].digest for n in ends]))
        self._read_to = number + ends[-1]

    def _from_key(self, key: str) -> Iterator[TreeEntry]:
        number = self.block_of(key)
        for block in self.blocks[number:]:
            lines, count = self.load(block.digest), 1  # the first alone: a listing may need no more
            start = bisect_left(lines, key, key=_line_key)
            while start < len(lines):
                yield from _parsed(lines[start : start + count])
                start, count = start + count, _AT_ONCE

    def block_of(self, key: str) -> int:
        """Return the number of the block in which an entry with this key is, or would be."""
        return max(bisect_right(self.firsts, key) - 1, 0)


def differences(before: Tree, after: Tree, start: str = "") -> Iterator[TreeDifference]:
    """Yield the files that were added, changed or removed, in order, those after the path `start`.

    Skips equal blocks.
    """
    shared = {block.digest for block in before.blocks} & {block.digest for block in after.blocks}
    old, new = _unshared(before, shared, start), _unshared(after, shared, start)
    left, right = next(old, None), next(new, None)
    old_lines: list[bytes] = []
    new_lines: list[bytes] = []
    while left or right:
        key_left, key_right = left and left[0], right and right[0]
        if (
            key_left == key_right
        ):  # both trees have a block that begins here: compare what is before
            yield from _compared(old_lines, new_lines)
            old_lines, new_lines = [], []
        if left and (key_right is None or left[0] <= key_right):
            old_lines += left[1]
            left = next(old, None)
        if right and (key_left is None or right[0] <= key_left):
            new_lines += right[1]
            right = next(new, None)
    yield from _compared(old_lines, new_lines)


def _compared(old: Sequence[bytes], new: Sequence[bytes]) -> Iterator[TreeDifference]:
    """Yield the differences of two sorted lists of lines that cover the same range of paths."""
    if len(old) == len(new):  # nearly always
        pairs = [(one, other) for one, other in zip(old, new, strict=True) if one != other]
        before, after = _parsed([one for one, _ in pairs]), _parsed([other for _, other in pairs])
        if all(one.path == other.path for one, other in zip(before, after, strict=True)):
            yield from map(TreeDifference, (one.path for one in before), before, after)
            return
    left = {entry.path: entry for entry in _parsed(list(set(old).difference(new)))}
    right = {entry.path: entry for entry in _parsed(list(set(new).difference(old)))}
    for path in sorted(left.keys() | right.keys(), key=sort_key):
        yield TreeDifference(path, left.get(path), right.get(path))


def changed_tree(
    tree: Tree, changes: Mapping[str, TreeEntry | None]
) -> tuple[list[BlockInfo], dict[str, bytes]]:
    """Apply changes (None deletes) and return the new blocks, and the data of those to store.

    Only the blocks that changes fall into are read. Raises PathConflict if a path would be that of
    a file and of a folder.
    """
    by_block: dict[int, dict[str, TreeEntry | None]] = {}
    for path, entry in changes.items():
        by_block.setdefault(tree.block_of(sort_key(path)), {})[path] = entry
    blocks: list[BlockInfo] = []
    stored: dict[str, bytes] = {}
    last: str | None = None  # the last path of the block before, once read
    for number in range(max(len(tree.blocks), 1)):
        old = tree.blocks[number : number + 1]
        if number not in by_block:
            if last is not None:
                _check_order([last, old[0].first])
            blocks.extend(old)
            last = None
            continue
        if last is None and blocks:
            last = _parsed(tree.load(blocks[-1].digest)[-1:])[0].path
        entries = {entry.path: entry for entry in _parsed(tree.load(old[0].digest))} if old else {}
        for path, entry in by_block[number].items():
            if entry is None:
                entries.pop(path, None)
            else:
                entries[path] = entry
        ordered = sorted(entries.values(), key=_key)
        _check_order([*([last] if last else []), *(entry.path for entry in ordered)])
        for part in _parts(ordered):
            data = encode(part)
            digest = hashlib.sha256(data).hexdigest()
            stored[digest] = data
            size = sum(entry.size for entry in part)
            blocks.append(BlockInfo(digest, part[0].path, len(part), size))
        last = ordered[-1].path if ordered else last
    return blocks, stored


class PathConflict(Exception):
    """A path is that of a file and of a folder."""

    def __init__(self, path: str):
        super().__init__(path)
        self.path = path


def encode(entries: Sequence[TreeEntry]) -> bytes:
    """Return entries as the data of a block."""
    rows = orjson.dumps([tuple(entry) for entry in entries])
    return zstandard.ZstdCompressor(level=_LEVEL).compress(rows)


def decode(data: bytes) -> list[TreeEntry]:
    """Return the entries of a block."""
    return list(map(_entry_of, orjson.loads(_decompressed(data))))


def _decompressed(data: bytes) -> bytes:
    return zstandard.ZstdDecompressor().decompress(data)


def _lines(data: bytes) -> list[bytes]:
    """Return the lines of a block: `path","sha256",size`, the path as JSON escapes it."""
    rows = _decompressed(data)
    if _MISTAKABLE in rows:
        return [orjson.dumps(row)[2:-1] for row in orjson.loads(rows)]
    return rows[3:-2].split(_BETWEEN)


def _parsed(lines: Sequence[bytes]) -> list[TreeEntry]:
    if not lines:
        return []
    return list(map(_entry_of, orjson.loads(b'[["' + _BETWEEN.join(lines) + b"]]")))


def _paths(lines: Sequence[bytes]) -> list[str]:
    paths = [line[: line.rindex(b'","')] for line in lines]
    return orjson.loads(b'["' + b'","'.join(paths) + b'"]')  # type: ignore[no-any-return]


def _line_key(line: bytes) -> str:
    path = line[: line.rindex(b'","')]
    return sort_key(orjson.loads(b'"' + path + b'"') if b"\\" in path else path.decode())


_entry_of = partial(tuple.__new__, TreeEntry)  # half the time of Entry(*row), a function of Python


def _key(entry: TreeEntry) -> str:
    return sort_key(entry.path)


def _check_order(paths: Sequence[str]) -> None:
    """Raise PathConflict if a file is also a folder: what is in it follows it directly."""
    for path, following in pairwise(paths):
        if following.startswith(f"{path}/"):
            raise PathConflict(path)


def _parts(entries: Sequence[TreeEntry]) -> Iterator[Sequence[TreeEntry]]:
    start = 0
    for end, entry in enumerate(entries, 1):
        if end - start >= LARGEST or zlib.crc32(entry.path.encode()) % AVERAGE == 0:
            yield entries[start:end]
            start = end
    if start < len(entries):
        yield entries[start:]


def _unshared(tree: Tree, shared: set[str], start: str) -> Iterator[tuple[str, list[bytes]]]:
    """Yield the blocks that are not shared: the key of the first path, and the lines."""
    key = sort_key(start)
    first = tree.block_of(key)
    found = [
        (tree.firsts[number], block.digest)
        for number, block in enumerate(tree.blocks[first:], first)
        if block.digest not in shared
    ]
    loaded = tree.load_all([digest for _, digest in found])
    for (begin, _), data in zip(found, loaded, strict=True):
        lines = _lines(data)
        yield begin, lines[bisect_right(lines, key, key=_line_key) if start else 0 :]
