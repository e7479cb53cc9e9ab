"""Read and write the files of shared folders, which jobs change at the same time.

    <root>/<organization>/<folder>              the files, as jobs and people see them
    <root>/<organization>/.incoming/<random>    uploads that are not complete, and what is deleted

Names below a folder are data. Each one is opened relative to its parent with O_NOFOLLOW, so a
symbolic link that a job leaves there, also one that replaces a folder at the wrong moment, leads
nowhere: neither reads nor writes leave the folder. Devices, pipes and sockets are not opened.

A file appears whole: it is written aside and renamed. Below a folder everybody may write by default
ACL, because jobs have users of their own. The folders above can be entered but not listed, and the
name of one is random and never shown: only jobs that it was mounted for can know it. Where a
cluster mounts nothing for a job (Slurm), that is what keeps workspaces apart.
"""

from __future__ import annotations

import errno
import fcntl
import heapq
import os
import stat
import struct
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from subprocess import DEVNULL, PIPE, Popen, run
from typing import BinaryIO
from urllib.parse import quote_from_bytes, unquote_to_bytes
from uuid import UUID, uuid4

from portal.core.disk import full_disk
from portal.core.errors import Conflict, InvalidInput, NotFound, TooLarge
from portal.core.formatting import bytes_text
from portal.core.messages import Message

PIECE = 128 << 10  # bytes in memory per download, however slow the reader
LONGEST, LONGEST_NAME = 4096, 255  # bytes of a path, and of a name in it
DEEPEST = 128  # names in a path
_INCOMING = ".incoming"
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
# acl(5) as the kernel stores it: version 2, then tag, permissions and id of user, group and others.
# With a default ACL the umask of a job does not count.
_OPEN_TO_ALL = struct.pack("<I", 2) + b"".join(
    struct.pack("<HHI", tag, 7, 0xFFFFFFFF) for tag in (0x01, 0x04, 0x20)
)
_NOT_FOLLOWED = {errno.ELOOP, errno.ENOTDIR, errno.ENOENT, errno.ENXIO, errno.ENAMETOOLONG}


def checked_names(path: str) -> tuple[str, ...]:
    """Return the names in a relative path; "" is the folder itself. Raises InvalidInput."""
    names = tuple(path.strip("/").split("/")) if path.strip("/") else ()
    if len(names) > DEEPEST or not all(map(is_nameable, names)):
        raise InvalidInput.at("path", Message("must be a relative path, such as code/train.py"))
    if len(path.encode()) > LONGEST:
        raise InvalidInput.at("path", Message("must be at most {n} bytes long", n=LONGEST))
    return names


def check_not_around(source: str, target: str) -> None:
    """Raise Conflict if the source is inside of the target: replacing that would delete both."""
    there = checked_names(target)
    if checked_names(source)[: len(there)] == there:
        raise _exists(target)


def is_nameable(name: str) -> bool:
    """Return whether clients can address a file by this name: jobs may make others."""
    if name in {"", ".", ".."} or "/" in name:
        return False
    if any(ord(one) < 32 or ord(one) == 127 or 0xD800 <= ord(one) <= 0xDFFF for one in name):
        return False
    return len(name.encode()) <= LONGEST_NAME


@dataclass(frozen=True)
class FolderEntry:
    """What a folder has under a name: `kind` is file, folder, link or other."""

    path: str
    kind: str
    size: int
    modified_at: datetime
    tag: str  # changes with the bytes of the file

    @property
    def name(self) -> str:
        return self.path.rpartition("/")[2]

    @property
    def is_folder(self) -> bool:
        return self.kind == "folder"

    @property
    def is_nameable(self) -> bool:
        """Return whether clients can address it."""
        return is_nameable(self.name)

    @property
    def cursor(self) -> str:
        """Return what `listing` continues after: the name, or its bytes if that is no text."""
        return self.name if self.is_nameable else f"/{quote_from_bytes(os.fsencode(self.name))}"

    @property
    def shown_name(self) -> str:
        """Return the name for people, with escapes for what is no text."""
        if self.is_nameable:
            return self.name
        text = self.name.encode(errors="surrogateescape").decode(errors="backslashreplace")
        return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


class SharedTree:
    """The files of one folder. Any number of processes may read and write."""

    def __init__(self, base: Path, name: str):
        self.path = base / name
        self._base, self._incoming = base, base / _INCOMING

    def create(self) -> None:
        """Make the folder. Idempotent. Raises Unavailable if the disk is full."""
        try:
            self._incoming.mkdir(mode=0o700, parents=True, exist_ok=True)
            for above in (self._base.parent, self._base):
                above.chmod(0o711)
            self.path.mkdir(mode=0o777, exist_ok=True)
            self.path.chmod(0o777)
            with suppress(OSError):  # a file system without ACLs: the umask of jobs counts
                os.setxattr(self.path, "system.posix_acl_default", _OPEN_TO_ALL)
        except OSError as error:
            raise full_disk(error) or error from error

    def remove(self) -> None:
        """Delete the folder with all files. Idempotent."""
        aside = self._incoming / uuid4().hex
        with suppress(FileNotFoundError):
            os.rename(self.path, aside)
        _remove(aside)

    def entry(self, path: str) -> FolderEntry:
        """Return what is at a path; links are not followed. Raises NotFound, InvalidInput."""
        names = checked_names(path)
        if not names:
            with self._opened(()) as folder:
                return _entry("", os.fstat(folder))
        with self._opened(names[:-1]) as parent, _found(path):
            return _entry("/".join(names), os.lstat(names[-1], dir_fd=parent))

    def find(self, path: str) -> FolderEntry | None:
        """Return what is at a path, or None."""
        try:
            return self.entry(path)
        except NotFound:
            return None

    def listing(self, path: str, after: str = "", limit: int | None = None) -> list[FolderEntry]:
        """Return what a folder has, by name, after a name or `cursor`. Raises NotFound."""
        names = checked_names(path)
        if after.startswith("/"):
            after = os.fsdecode(unquote_to_bytes(after[1:]))
        with self._opened(names) as folder:
            found = (name for name in os.listdir(folder) if name > after)
            chosen = sorted(found) if limit is None else heapq.nsmallest(limit, found)
            rows = []
            for name in chosen:
                with suppress(FileNotFoundError):  # deleted in the meantime
                    status = os.lstat(name, dir_fd=folder)
                    rows.append(_entry("/".join((*names, name)), status))
            return rows

    def count(self, path: str) -> int:
        """Return how many entries a folder has. Raises NotFound."""
        with self._opened(checked_names(path)) as folder:
            return len(os.listdir(folder))

    def open(self, path: str) -> BinaryIO:
        """Open a file to read. Raises NotFound for all else."""
        names = checked_names(path)
        if not names:
            raise _missing(path)
        with self._opened(names[:-1]) as parent, _found(path):
            file = os.open(names[-1], _FILE, dir_fd=parent)
        if not stat.S_ISREG(os.fstat(file).st_mode):
            os.close(file)
            raise _missing(path)
        return os.fdopen(file, "rb")

    def read(self, path: str, start: int, end: int) -> Iterator[bytes]:
        """Return the bytes of a file in pieces; fewer if it was cut in the meantime."""
        file = self.open(path)

        def pieces() -> Iterator[bytes]:
            with file:
                file.seek(start)
                left = end - start
                while left > 0 and (data := file.read(min(PIECE, left))):
                    left -= len(data)
                    yield data

        return pieces()

    def start(self, name: str | None = None) -> Aside:
        """Return an empty file aside, which `place` moves into the folder."""
        aside = Aside(self._incoming / (name or uuid4().hex))
        aside.create()
        return aside

    def aside(self, name: str) -> Aside:
        """Return a file aside that was started earlier."""
        return Aside(self._incoming / name)

    def place(self, aside: Aside, path: str, *, replaces: bool = True) -> int:
        """Move a file aside to a path, and make the folders above; return the bytes it replaces.

        Raises Conflict if a folder is there or, without `replaces`, anything; InvalidInput.
        """
        names = checked_names(path)
        if not names:
            raise InvalidInput.at("path", Message("must name a file"))
        with self._opened(names[:-1], makes=True) as parent:
            old = _status(names[-1], parent)
            if old is not None and (stat.S_ISDIR(old.st_mode) or not replaces):
                raise _exists(path)
            with _found(path):
                os.rename(aside.path, names[-1], dst_dir_fd=parent)
            return _bytes_of(old)

    def make_folder(self, path: str) -> bool:
        """Make a folder and those above it; return whether it is new. Raises Conflict."""
        names = checked_names(path)
        with self._opened(names[:-1], makes=True) as parent:
            if not names:
                return False
            try:
                _make(names[-1], parent)
            except FileExistsError:
                status = _status(names[-1], parent)
                if status is None or not stat.S_ISDIR(status.st_mode):
                    raise _exists(path) from None
                return False
            return True

    def move(self, source: str, target: str, *, replaces: bool = False) -> int:
        """Move a file, folder or link; return the bytes it replaces.

        Raises NotFound, Conflict if something is at the target, InvalidInput.
        """
        here, there = checked_names(source), checked_names(target)
        if not here or not there:
            raise InvalidInput.at("path", Message("must name a file or folder"))
        if there[: len(here)] == here:
            raise InvalidInput.at("to", Message("must not be inside of what is moved"))
        check_not_around(source, target)
        freed = 0
        with (
            self._opened(here[:-1]) as old_parent,
            self._opened(there[:-1], makes=True) as new_parent,
        ):
            with _found(source):
                os.lstat(here[-1], dir_fd=old_parent)
            if _status(there[-1], new_parent) is not None:
                if not replaces:
                    raise _exists(target)
                freed = self.delete(target)
            with _found(source):
                os.rename(here[-1], there[-1], src_dir_fd=old_parent, dst_dir_fd=new_parent)
        return freed

    def delete(self, path: str) -> int:
        """Delete a file, a link, or a folder with all in it; return its bytes. Raises NotFound."""
        names = checked_names(path)
        if not names:
            raise InvalidInput.at("path", Message("must name a file or folder"))
        aside = self._incoming / uuid4().hex
        with self._opened(names[:-1]) as parent, _found(path):
            os.rename(names[-1], aside, src_dir_fd=parent)
        status = aside.lstat()
        if not stat.S_ISDIR(status.st_mode):
            aside.unlink()
            return _bytes_of(status)
        _files, size = _sizes(aside)
        _remove(aside)
        return size

    def walk(self, path: str = "") -> Iterator[FolderEntry]:
        """Return all that is below a folder, parents first; links are not followed."""
        for entry in self.listing(path):
            yield entry
            if entry.is_folder and entry.is_nameable:
                with suppress(NotFound):
                    yield from self.walk(entry.path)

    def usage(self) -> tuple[int, int]:
        """Return the number of files and their bytes."""
        return _sizes(self.path)

    @contextmanager
    def _opened(self, names: Sequence[str], *, makes: bool = False) -> Iterator[int]:
        """Open a folder, one name after the other. Raises NotFound, or Conflict if `makes`."""
        path = "/".join(names)
        try:
            folder = os.open(self.path, _FOLDER)
        except OSError as error:
            raise _missing(path) from error
        try:
            for name in names:
                inner = _entered(folder, name, path, makes=makes)
                os.close(folder)
                folder = inner
            yield folder
        finally:
            os.close(folder)


class Aside:
    """A file that is being written outside of the folder."""

    def __init__(self, path: Path):
        self.path = path

    def create(self) -> None:
        """Create it. Raises Unavailable if the disk is full."""
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        try:
            file = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
        except OSError as error:
            raise full_disk(error) or error from error
        os.fchmod(file, 0o666)  # also for jobs, once it is in the folder
        os.close(file)

    @property
    def size(self) -> int:
        """Return its size in bytes. Raises NotFound."""
        try:
            return self.path.stat().st_size
        except FileNotFoundError:
            raise _no_upload() from None

    def write(self, data: bytes) -> None:
        """Write a small file, which the caller syncs. Raises OSError."""
        self.path.write_bytes(data)

    def append(self, offset: int, chunks: Iterable[bytes], *, limit: int) -> int:
        """Append durably, and return the new size; what came is kept also if an error cuts it.

        Raises Conflict if the offset is not its size or somebody else is appending, TooLarge beyond
        `limit` bytes, Unavailable if the disk is full.
        """
        try:
            with open(self.path, "r+b") as file:
                _lock(file)
                size = file.seek(0, os.SEEK_END)
                if offset != size:
                    raise Conflict(
                        Message("The upload continues at byte {n}.", n=size), code="wrong_offset"
                    )
                for chunk in chunks:
                    size += len(chunk)
                    if size > limit:
                        raise TooLarge(
                            Message("The file has at most {limit}.", limit=bytes_text(limit))
                        )
                    file.write(chunk)
                file.flush()
                os.fsync(file.fileno())
        except FileNotFoundError:
            raise _no_upload() from None
        except OSError as error:
            raise full_disk(error) or error from error
        return size

    def discard(self) -> None:
        """Delete it. Idempotent."""
        with suppress(OSError):
            self.path.unlink()


def _lock(file: BinaryIO) -> None:
    """Lock a file aside until it is closed: a client may send a piece again too early."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise Conflict(
            Message("Another request is sending this file. Wait for its end."), code="locked"
        ) from None


def sweep(base: Path, before: datetime) -> int:
    """Delete what was left aside before a time; return the number of files and folders."""
    deleted = 0
    for left in base.glob(f"*/{_INCOMING}/*"):
        with suppress(OSError):
            if datetime.fromtimestamp(left.lstat().st_mtime, UTC) >= before:
                continue
            if left.is_dir() and not left.is_symlink():
                _remove(left)
            else:
                left.unlink()
            deleted += 1
    return deleted


def _entered(folder: int, name: str, path: str, *, makes: bool) -> int:
    """Open a folder below another one."""
    try:
        if makes:
            with suppress(FileExistsError):
                _make(name, folder)
        return os.open(name, _FOLDER, dir_fd=folder)
    except OSError as error:
        if error.errno not in _NOT_FOLLOWED:
            raise full_disk(error) or error from error
        raise (_exists(path) if makes else _missing(path)) from error


def _make(name: str, parent: int) -> None:
    os.mkdir(name, 0o777, dir_fd=parent)
    made = os.open(name, _FOLDER, dir_fd=parent)
    with suppress(OSError):  # somebody else's, made in the same moment
        os.fchmod(made, 0o777)
    os.close(made)


@contextmanager
def _found(path: str) -> Iterator[None]:
    """Raise NotFound for what is not there, or is a link."""
    try:
        yield
    except OSError as error:
        if error.errno in _NOT_FOLLOWED:
            raise _missing(path) from error
        if error.errno in {errno.EISDIR, errno.ENOTEMPTY, errno.EEXIST}:
            raise _exists(path) from error
        raise full_disk(error) or error from error


def _status(name: str, parent: int) -> os.stat_result | None:
    try:
        return os.lstat(name, dir_fd=parent)
    except FileNotFoundError:
        return None


def _bytes_of(status: os.stat_result | None) -> int:
    return status.st_size if status is not None and stat.S_ISREG(status.st_mode) else 0


def _sizes(top: Path) -> tuple[int, int]:
    """Return files and bytes below a folder; a file with several names counts once.

    By find(1): jobs may nest folders deeper than Python's functions can follow.
    """
    files = size = 0
    seen: set[bytes] = set()
    command = ["find", str(top), "-type", "f", "-printf", "%n %s %D:%i\\n"]
    with Popen(command, stdout=PIPE, stderr=DEVNULL) as found:
        assert found.stdout is not None
        for line in found.stdout:
            links, bytes_here, key = line.split()
            if key in seen:
                continue
            if links != b"1":
                seen.add(key)
            files, size = files + 1, size + int(bytes_here)
    return files, size


def _remove(folder: Path) -> None:
    """Delete a folder with all in it, however deep; what cannot be deleted stays."""
    run(["rm", "-rf", "--", str(folder)], stderr=DEVNULL, check=False)


_KINDS: tuple[tuple[Callable[[int], bool], str], ...] = (
    (stat.S_ISREG, "file"),
    (stat.S_ISDIR, "folder"),
    (stat.S_ISLNK, "link"),
)


def _entry(path: str, status: os.stat_result) -> FolderEntry:
    kind = next((kind for test, kind in _KINDS if test(status.st_mode)), "other")
    return FolderEntry(
        path,
        kind,
        _bytes_of(status),
        datetime.fromtimestamp(status.st_mtime, UTC),
        f"{status.st_ino:x}-{status.st_mtime_ns:x}-{status.st_size:x}",
    )


def _no_upload() -> NotFound:
    return NotFound(
        Message("There is no such upload, or it was abandoned. Send the file again."),
        code="no_upload",
    )


def _missing(path: str) -> NotFound:
    return NotFound(
        Message("There is no file or folder {path}.", path=repr(path[:200])), code="no_file"
    )


def _exists(path: str) -> Conflict:
    return Conflict(
        Message("There is something else at {path}.", path=repr(path[:200])), code="already_exists"
    )


def shared_tree(org_id: UUID, directory: str) -> SharedTree:
    """Return the files of a folder in the portal's data, or where MUSTER_WORKSPACES says."""
    return _tree_at(root_folder() / org_id.hex, directory)


def root_folder() -> Path:
    """Return the folder of all shared folders."""
    from django.conf import settings

    return Path(settings.MUSTER_WORKSPACES or Path(settings.MUSTER_HOME) / "workspaces")


@cache
def _tree_at(base: Path, name: str) -> SharedTree:
    return SharedTree(base, name)
