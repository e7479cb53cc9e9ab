"""Read the folder of an output without trusting the job that writes to it.

Nothing is followed: each folder and file is opened relative to the one above, without links. A file
is whole if it did not change while it was read, and, while the job runs, in the seconds before.
"""

from __future__ import annotations

import errno
import os
import re
import stat
import time
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice
from typing import BinaryIO, NamedTuple

import orjson

YOUNG = 2.0  # seconds after a change in which a file may still be written
PIECE = 1 << 20
MOST_FILES, DEPTH = 100_000, 40
# Names that common writers use until a file or folder is complete: wget, curl, rsync, editors,
# NFS, torch and Hugging Face.
_UNFINISHED = re.compile(
    r".*\.(tmp|temp|part|partial|incomplete)\Z"
    r"|\.(tmp|temp|nfs|fuse_hidden|goutputstream|~).*\Z"
    r"|\..+\.([A-Za-z0-9]{6}|[A-Za-z0-9]{8})\Z"
    r"|tmp[-_.].*\Z"
)
_ABSENT = {errno.ENOENT, errno.ENOTDIR, errno.ELOOP}  # a link is no folder


class TooManyFiles(Exception):
    """The folder has more than MOST_FILES files."""


class Mark(NamedTuple):
    """What changes whenever a file is written: if it is equal, the bytes are."""

    size: int
    modified_ns: int
    changed_ns: int
    inode: int


class Seen(NamedTuple):
    """A file as it was read, and its SHA-256."""

    mark: Mark
    sha256: str


@dataclass(frozen=True)
class Listing:
    """The whole files of a folder by path.

    `changing` are paths of files that were written moments ago, `unnamed` the number of files whose
    names are no text.
    """

    files: Mapping[str, Mark]
    changing: Sequence[str] = ()
    unnamed: int = 0


@dataclass
class _Walk:
    since_ns: int
    is_over: bool
    files: dict[str, Mark] = field(default_factory=dict)
    changing: list[str] = field(default_factory=list)
    unnamed: int = 0


@contextmanager
def opened_folder(base: str, parts: Sequence[str]) -> Iterator[int | None]:
    """Open `base/PART/…` without following a link below `base`; None if it does not exist."""
    handle = _descend(base, parts)
    try:
        yield handle
    finally:
        if handle is not None:
            os.close(handle)


def _descend(base: str, parts: Sequence[str]) -> int | None:
    handle = -1
    try:
        handle = os.open(base, os.O_RDONLY | os.O_DIRECTORY)
        for part in parts:
            above, handle = handle, _open_folder(part, handle)
            os.close(above)
    except OSError as error:
        if handle >= 0:
            os.close(handle)
        if error.errno in _ABSENT:
            return None
        raise
    return handle


def listing(folder: int, *, whole_until: float | None, has_succeeded: bool = False) -> Listing:
    """List an open folder. Raises TooManyFiles, OSError.

    Files that were changed after `whole_until` (Unix seconds) less YOUNG are changing; None: no
    file is. Names of unfinished files count only of a job that `has_succeeded`.
    """
    limit = 1 << 63 if whole_until is None else int((whole_until - YOUNG) * 1e9)
    walk = _Walk(limit, has_succeeded)
    _walk(walk, folder, "", 0)
    return Listing(walk.files, walk.changing, walk.unnamed)


def _walk(walk: _Walk, folder: int, above: str, depth: int) -> None:
    with os.scandir(folder) as entries:
        found = sorted(islice(entries, MOST_FILES + 1), key=lambda entry: entry.name)
    if len(found) > MOST_FILES:
        raise TooManyFiles
    for entry in found:
        path = f"{above}{entry.name}"
        if not walk.is_over and _UNFINISHED.match(entry.name):
            continue
        try:
            facts = entry.stat(follow_symlinks=False)
            if stat.S_ISDIR(facts.st_mode) and depth < DEPTH:
                below = _open_folder(entry.name, folder)
                try:
                    _walk(walk, below, f"{path}/", depth + 1)
                finally:
                    os.close(below)
        except OSError as error:  # deleted or replaced meanwhile
            if error.errno not in _ABSENT:
                raise
            continue
        if not stat.S_ISREG(facts.st_mode):
            continue
        if not _is_text(path):
            walk.unnamed += 1
        elif facts.st_mtime_ns > walk.since_ns:
            walk.changing.append(path)
        else:
            walk.files[path] = mark_of(facts)
        if len(walk.files) + len(walk.changing) > MOST_FILES:
            raise TooManyFiles


def mark_of(facts: os.stat_result) -> Mark:
    return Mark(facts.st_size, facts.st_mtime_ns, facts.st_ctime_ns, facts.st_ino)


class Reading:
    """A file that is being read; `is_whole` tells afterwards whether it stayed what it was."""

    def __init__(self, file: BinaryIO, mark: Mark):
        self._file, self._mark = file, mark
        self.is_whole = False

    def chunks(self) -> Iterator[bytes]:
        """Yield the bytes; a file that grows is read up to its first size."""
        left = self._mark.size
        while left and (data := self._file.read(min(PIECE, left))):
            left -= len(data)
            yield data
        self.is_whole = not left and mark_of(os.fstat(self._file.fileno())) == self._mark


@contextmanager
def opened_file(folder: int, path: str, mark: Mark) -> Iterator[Reading | None]:
    """Open a file of a listing; None if it is no longer that file."""
    *above, name = path.split("/")
    handles: list[int] = []
    handle = folder
    try:
        for part in above:
            handle = _open_folder(part, handle)
            handles.append(handle)
        number = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=handle)
    except OSError:
        number = -1
    finally:
        for one in handles:
            os.close(one)
    if number < 0:
        yield None
        return
    with os.fdopen(number, "rb", buffering=0) as file:
        yield Reading(file, mark) if mark_of(os.fstat(number)) == mark else None  # type: ignore[arg-type]


def packed(seen: Mapping[str, Seen]) -> bytes:
    """Encode what was read, for the next time."""
    rows = [[path, *one.mark, one.sha256] for path, one in seen.items()]
    return zlib.compress(orjson.dumps(rows), 1)


def unpacked(data: bytes) -> dict[str, Seen]:
    """Decode what `packed` has encoded."""
    rows = orjson.loads(zlib.decompress(data)) if data else ()
    return {path: Seen(Mark(*mark), sha256) for path, *mark, sha256 in rows}


def _open_folder(name: str, above: int) -> int:
    return os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=above)


def _is_text(path: str) -> bool:
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return True


def now() -> float:
    """Return the time that the folder's files are compared with."""
    return time.time()
