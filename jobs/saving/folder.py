"""Read the folder of an output without trusting the job that writes to it.

Nothing is followed: each folder and file is opened relative to the one above, without links. A file
is whole if it did not change while it was read, and, while the job runs, in the seconds before. One
that was renamed into place is whole at once: a rename changes its status after its last write.
"""

from __future__ import annotations

import errno
import os
import re
import stat
import time
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import islice
from typing import Any, BinaryIO, NamedTuple

import orjson

from portal.core.messages import Message

YOUNG = 2.0  # seconds after a change in which a file may still be written
PIECE = 1 << 20
MOST_FILES, DEPTH = 100_000, 40
MOST_ENTRIES = 2 * MOST_FILES  # with folders and what is left out
HELD = 256  # files in all that are kept open while they may be written
_TICK_NS = 20_000_000  # file systems keep times to 4 or 10 ms
_HOLD_FOR = 60.0  # seconds; another process reads the folder by then
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
    """The folder has more than MOST_FILES files, or more than MOST_ENTRIES entries."""


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


class Why(StrEnum):
    """Why something in a folder is never saved."""

    NAME = "name"
    DEPTH = "depth"
    LINK = "link"
    UNFINISHED = "unfinished"
    UNREADABLE = "unreadable"


_WHY = {
    Why.NAME: Message("Not saved, because a version cannot have such a name: {paths}."),
    Why.DEPTH: Message("Not saved, because it is more than {depth} folders deep: {paths}."),
    Why.LINK: Message("Not saved, because it is a link or not a regular file: {paths}."),
    Why.UNFINISHED: Message("Not saved, because its name is that of an unfinished file: {paths}."),
    Why.UNREADABLE: Message("Not saved, because the portal may not read it: {paths}."),
}
_NAMED = 5  # paths in such a sentence
LeftOut = dict[Why, list[str]]


def left_out_text(left_out: Mapping[Why, Sequence[str]]) -> str:
    """Return a sentence for each reason with the first paths, for people; "" for none."""
    return Message.joined(
        " ",
        (
            _WHY[why].format(paths=paths_text(paths), depth=DEPTH)
            for why, paths in left_out.items()
            if paths
        ),
    )


def paths_text(paths: Sequence[str]) -> str:
    """Return the first paths as text that prints, whatever is in them."""
    names = [_printable(path) for path in paths[:_NAMED]]
    return ", ".join(names) + (", …" if len(paths) > _NAMED else "")


def _printable(path: str) -> str:
    text = "".join(c if c.isprintable() else ascii(c)[1:-1] for c in path)
    return text if len(text) <= 120 else f"{text[:60]}…{text[-50:]}"


@dataclass(frozen=True)
class Listing:
    """The whole files of a folder by path.

    `changing` are paths of files that were written moments ago, `left_out` what is never saved.
    """

    files: Mapping[str, Mark]
    changing: Sequence[str] = ()
    left_out: LeftOut = field(default_factory=dict)


@dataclass
class _Walk:
    since_ns: int
    is_over: bool
    has_ended: bool
    entries: int = 0
    files: dict[str, Mark] = field(default_factory=dict)
    changing: list[str] = field(default_factory=list)
    left_out: LeftOut = field(default_factory=dict)

    def leave_out(self, why: Why, path: str) -> None:
        self.left_out.setdefault(why, []).append(path)


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


def listing(
    folder: int,
    *,
    whole_until: float | None,
    has_succeeded: bool = False,
    has_ended: bool = False,
) -> Listing:
    """List an open folder. Raises TooManyFiles, OSError.

    Files that were written after `whole_until` (Unix seconds) less YOUNG are changing, unless they
    were renamed into place; None: no file is. Names of unfinished files count only of a job that
    `has_succeeded`.
    """
    limit = 1 << 63 if whole_until is None else int((whole_until - YOUNG) * 1e9)
    walk = _Walk(limit, has_succeeded, has_ended)
    _walk(walk, folder, "", 0)
    return Listing(walk.files, walk.changing, walk.left_out)


def _walk(walk: _Walk, folder: int, above: str, depth: int) -> None:
    folder_ns = os.fstat(folder).st_mtime_ns
    with os.scandir(folder) as entries:
        rest = MOST_ENTRIES - walk.entries
        found = sorted(islice(entries, rest + 1), key=lambda entry: entry.name)
    walk.entries += len(found)
    if walk.entries > MOST_ENTRIES:
        raise TooManyFiles
    for entry in found:
        path = f"{above}{entry.name}"
        if not walk.is_over and _UNFINISHED.match(entry.name):
            if walk.has_ended:
                walk.leave_out(Why.UNFINISHED, path)
            continue
        try:
            facts = entry.stat(follow_symlinks=False)
            if stat.S_ISDIR(facts.st_mode):
                _walk_below(walk, folder, entry.name, path, depth + 1)
            else:
                _take(walk, path, facts, folder_ns)
        except PermissionError:
            walk.leave_out(Why.UNREADABLE, path)
        except OSError as error:  # deleted or replaced meanwhile
            if error.errno not in _ABSENT:
                raise
        if len(walk.files) + len(walk.changing) > MOST_FILES:
            raise TooManyFiles


def _walk_below(walk: _Walk, folder: int, name: str, path: str, depth: int) -> None:
    if depth > DEPTH:
        walk.leave_out(Why.DEPTH, path)
        return
    below = _open_folder(name, folder)
    try:
        _walk(walk, below, f"{path}/", depth)
    finally:
        os.close(below)


def _take(walk: _Walk, path: str, facts: os.stat_result, folder_ns: int) -> None:
    if not stat.S_ISREG(facts.st_mode):
        walk.leave_out(Why.LINK, path)
    elif not _is_text(path):
        walk.leave_out(Why.NAME, path)
    elif facts.st_mtime_ns <= walk.since_ns or _is_renamed(facts, folder_ns, walk.has_ended):
        walk.files[path] = mark_of(facts)
    else:
        walk.changing.append(path)


def _is_renamed(facts: os.stat_result, folder_ns: int, has_ended: bool) -> bool:
    """Tell whether a file came to its place after its last write.

    A rename changes the status of the file and the time of its folder. Both can fall into the same
    tick of the clock as the last write. Other files also change the time of the folder, so it
    decides only at the end, when nobody writes any more, and only within a few ticks.
    """
    if not facts.st_size:
        return False
    if facts.st_ctime_ns > facts.st_mtime_ns:
        return True
    return has_ended and 0 <= folder_ns - facts.st_mtime_ns <= _TICK_NS


def mark_of(facts: os.stat_result) -> Mark:
    return Mark(facts.st_size, facts.st_mtime_ns, facts.st_ctime_ns, facts.st_ino)


class Reading:
    """A file that is being read; `is_whole` tells afterwards whether it stayed what it was."""

    def __init__(self, file: BinaryIO, mark: Mark):
        self._file, self.mark = file, mark
        self.is_whole = False

    def chunks(self) -> Iterator[bytes]:
        """Yield the bytes; a file that grows is read up to its first size."""
        left = self.mark.size
        while left and (data := self._file.read(min(PIECE, left))):
            left -= len(data)
            yield data
        self.is_whole = not left and _is_unchanged(self._file, self.mark)


def _is_unchanged(file: BinaryIO, mark: Mark) -> bool:
    """Tell whether an open file has the bytes of its mark; another may be in its place by now."""
    facts = os.fstat(file.fileno())
    after = mark_of(facts)
    return after == mark or (not facts.st_nlink and after[:2] == mark[:2])


@contextmanager
def opened_file(
    folder: int, path: str, mark: Mark, held: BinaryIO | None = None
) -> Iterator[Reading | None]:
    """Open a file of a listing, or read the `held` one; None if it is not there or not whole.

    Another file that was renamed into its place meanwhile is as good: `Reading.mark` is that file's.
    Raises PermissionError.
    """
    if held is not None:
        held.seek(0)
        yield Reading(held, mark)
        return
    *above, name = path.split("/")
    try:
        with opened_below(folder, above) as below:
            number = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=below)
    except PermissionError:
        raise
    except OSError:
        number = -1
    if number < 0:
        yield None
        return
    with os.fdopen(number, "rb", buffering=0) as file:
        facts = os.fstat(number)
        found = mark_of(facts)
        is_replaced = stat.S_ISREG(facts.st_mode) and _is_renamed(facts, 0, has_ended=False)
        yield Reading(file, found) if found == mark or is_replaced else None  # type: ignore[arg-type]


@contextmanager
def opened_below(folder: int, parts: Sequence[str]) -> Iterator[int]:
    """Open a folder below an open one, part by part and without links. Raises OSError."""
    handle = os.dup(folder)
    try:
        for part in parts:
            above, handle = handle, _open_folder(part, handle)
            os.close(above)
        yield handle
    finally:
        os.close(handle)


class HeldFiles:
    """Files that were being written when their folder was read, open until it is read again.

    One that has not changed until then is complete, even if another has taken its place: so a file
    that is replaced all the time is saved as well. `owner` names a folder.
    """

    def __init__(self) -> None:
        self._files: dict[Any, dict[str, tuple[BinaryIO, Mark]]] = {}
        self._since: dict[Any, float] = {}

    def exchange(
        self, owner: Any, folder: int, changing: Sequence[str]
    ) -> dict[str, tuple[BinaryIO, Mark]]:
        """Return the complete ones of those files, which the caller closes, and hold the others."""
        before = self._files.pop(owner, {})
        young_ns = int((now() - YOUNG) * 1e9)
        complete = {}
        for path, (file, mark) in before.items():
            facts = os.fstat(file.fileno())
            is_same = mark_of(facts)[:2] == mark[:2] and facts.st_mtime_ns <= young_ns
            if is_same and facts.st_size and path in changing:
                complete[path] = (file, mark_of(facts))
            else:
                file.close()
        for other in [one for one, at in self._since.items() if at < now() - _HOLD_FOR]:
            self.forget(other)
        free = HELD - sum(map(len, self._files.values()))
        fresh = [path for path in changing if path not in complete][: max(free, 0)]
        if held := dict(_opened(folder, fresh)):
            self._files[owner], self._since[owner] = held, now()
        return complete

    def forget(self, owner: Any) -> None:
        """Close what is held of a folder."""
        self._since.pop(owner, None)
        for file, _ in self._files.pop(owner, {}).values():
            file.close()


def _opened(folder: int, paths: Sequence[str]) -> Iterator[tuple[str, tuple[BinaryIO, Mark]]]:
    for path in paths:
        *above, name = path.split("/")
        with suppress(OSError), opened_below(folder, above) as below:
            number = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=below)
            file: BinaryIO = os.fdopen(number, "rb", buffering=0)  # type: ignore[assignment]
            facts = os.fstat(number)
            if stat.S_ISREG(facts.st_mode):
                yield path, (file, mark_of(facts))
            else:
                file.close()


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
