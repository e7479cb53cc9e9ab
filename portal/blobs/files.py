"""Store whole files by content: artifacts of runs and files of models.

    <root>/<organization>/<first two of sha256>/<sha256>   a complete file, never changed
    <root>/<organization>/incoming/<random>                an upload that is not complete: a file,
                                                           or a folder of its parts
    <root>/<organization>/lock                             see below

A file that is stored twice in an organization takes its space once. Organizations share nothing,
so that nobody learns what another has.

`sweep` deletes files that nothing refers to. A file is safe from it for a while after each `put`
or `keep`, which renew its time; the reference must be committed within that while. Both hold the
lock shared, and a deletion holds it alone, so that no file disappears after its time was renewed.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import re
import shutil
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from datetime import datetime, timedelta
from pathlib import Path
from typing import BinaryIO, NamedTuple
from uuid import UUID, uuid4

from portal.core import clock
from portal.core.disk import check_space, free_bytes_at, full_disk
from portal.core.errors import Conflict, InvalidInput, NotFound, TooLarge
from portal.core.formatting import bytes_text
from portal.core.messages import Message

GRACE = timedelta(days=1)
PIECE = 128 << 10  # bytes in memory per download, however slow the reader
_BATCH = 500  # files per question to `referenced`
AT_ONCE = 8  # of many files that are synced or sent
_NAME = re.compile(r"[0-9a-f]{64}\Z")
_UPLOAD = re.compile(r"[0-9a-f]{32}\Z")


class StoredFile(NamedTuple):
    """A stored file: its SHA-256 in hex, and its size in bytes."""

    sha256: str
    size: int


class FileStore:
    """All files in one folder. Any number of processes may read and write."""

    def __init__(self, root: Path):
        self.root = root

    def put(
        self,
        org_id: UUID,
        chunks: Iterable[bytes],
        *,
        size: int | None = None,
        limit: int | None = None,
    ) -> StoredFile:
        """Store a file durably.

        `size` is the number of bytes that were announced. Raises InvalidInput if another number
        came, TooLarge beyond `limit`, and Unavailable if the disk is full. Then nothing is stored.
        """
        aside = self._folder(org_id, "incoming") / uuid4().hex
        check_space(aside.parent, size or 0)
        try:
            stored = write_file(aside, chunks, size, limit)
            self._add(org_id, aside, stored, is_kept=False)
        except OSError as error:
            raise full_disk(error) or error from error
        finally:
            with suppress(OSError):
                aside.unlink(missing_ok=True)
        return stored

    def put_many(self, org_id: UUID, contents: Iterable[bytes]) -> list[StoredFile]:
        """Store small files durably, all or none. Raises Unavailable if the disk is full.

        They get their names under one lock, and each folder is synced once. Several are synced at
        once, because a file system writes its journal for all that wait. What `contents` raises
        ends it before any file is stored.
        """
        folder = self._folder(org_id, "incoming")
        check_space(folder, 0)
        written: list[tuple[Path, StoredFile]] = []
        try:
            for data in contents:
                aside = folder / uuid4().hex
                written.append((aside, StoredFile(hashlib.sha256(data).hexdigest(), len(data))))
                with open(aside, "xb", opener=_private) as file:
                    file.write(data)
            sync_all([aside for aside, _stored in written])
            self._add_many(org_id, written)
        except OSError as error:
            raise full_disk(error) or error from error
        finally:
            for aside, _stored in written:
                with suppress(OSError):
                    aside.unlink(missing_ok=True)
        return [stored for _aside, stored in written]

    def start_upload(self, org_id: UUID) -> str:
        """Begin an upload in parts and return its id."""
        upload_id = uuid4().hex
        self._folder(org_id, f"incoming/{upload_id}")
        return upload_id

    def put_part(
        self,
        org_id: UUID,
        upload_id: str,
        number: int,
        chunks: Iterable[bytes],
        *,
        size: int | None = None,
        limit: int | None = None,
    ) -> StoredFile:
        """Store a part of an upload durably. Raises NotFound, and as `put` does."""
        folder = self._upload(org_id, upload_id)
        check_space(folder, size or 0)
        aside = folder / uuid4().hex
        try:
            stored = write_file(aside, chunks, size, limit)
            os.replace(aside, folder / _part_name(number, stored.sha256))
        except FileNotFoundError:
            raise _no_upload() from None
        except OSError as error:
            raise full_disk(error) or error from error
        finally:
            with suppress(OSError):
                aside.unlink(missing_ok=True)
        return stored

    def uploaded_bytes(self, org_id: UUID, upload_id: str) -> int:
        """Return the size of the parts of an upload. Raises NotFound."""
        with os.scandir(self._upload(org_id, upload_id)) as entries:
            return sum(entry.stat().st_size for entry in entries)

    def finish_upload(
        self, org_id: UUID, upload_id: str, parts: Sequence[tuple[int, str]]
    ) -> StoredFile:
        """Store the parts (number, SHA-256) as one file, in their order, and delete them.

        Raises NotFound, InvalidInput if a part is missing, and as `put` does.
        """
        folder = self._upload(org_id, upload_id)
        paths = [folder / _part_name(number, sha256) for number, sha256 in parts]
        for (number, _sha256), path in zip(parts, paths, strict=True):
            if not path.is_file():
                raise InvalidInput(
                    Message("Part {n} of the upload is missing. Send it again.", n=number),
                    code="incomplete",
                )
        stored = self.put(org_id, (piece for path in paths for piece in _file_pieces(path)))
        shutil.rmtree(folder, ignore_errors=True)
        return stored

    def discard_upload(self, org_id: UUID, upload_id: str) -> None:
        """Delete the parts of an upload. Raises NotFound."""
        shutil.rmtree(self._upload(org_id, upload_id), ignore_errors=True)

    def _upload(self, org_id: UUID, upload_id: str) -> Path:
        folder = self.root / org_id.hex / "incoming" / upload_id
        if not _UPLOAD.match(upload_id) or not folder.is_dir():
            raise _no_upload()
        return folder

    def put_aside(self, org_id: UUID, name: str, chunks: Iterable[bytes]) -> None:
        """Store bytes of an upload under a name for a while. Raises Unavailable if the disk is full.

        A power failure may lose or shorten them, so that the disk need not write what is soon
        deleted. They are deleted a day later, unless the caller deletes them before.
        """
        temporary = self._aside(org_id, uuid4())
        try:
            with open(temporary, "xb", opener=_private) as file:
                file.writelines(chunks)
            os.replace(temporary, self.aside(org_id, name))
        except OSError as error:
            raise full_disk(error) or error from error
        finally:
            with suppress(OSError):
                temporary.unlink(missing_ok=True)

    def aside(self, org_id: UUID, name: str) -> Path:
        """Return the path of what was put aside, which may not exist."""
        return self._folder(org_id, "incoming") / name

    def free_bytes(self) -> int:
        """Return the bytes that can be stored now."""
        self.root.mkdir(parents=True, exist_ok=True)
        return free_bytes_at(self.root)

    def start(self, org_id: UUID, upload_id: UUID, size: int = 0) -> None:
        """Start a file of `size` bytes that comes in pieces. Raises Unavailable without room."""
        check_space(self._folder(org_id, "incoming"), size)
        self._aside(org_id, upload_id).touch(mode=0o600)

    def received(self, org_id: UUID, upload_id: UUID) -> int:
        """Return the number of bytes of a started file. Raises NotFound."""
        try:
            return self._aside(org_id, upload_id).stat().st_size
        except FileNotFoundError:
            raise _no_upload() from None

    def append(
        self, org_id: UUID, upload_id: UUID, offset: int, chunks: Iterable[bytes], *, limit: int
    ) -> int:
        """Append to a started file durably, and return its new size.

        What came is kept also if an error cuts it. Raises NotFound, Conflict if the offset is not
        its size or somebody else is appending, InvalidInput beyond `limit` bytes, and Unavailable
        if the disk is full.
        """
        with self._open_upload(org_id, upload_id) as file:
            size = file.seek(0, os.SEEK_END)
            if offset != size:
                raise Conflict(
                    Message("{n} bytes of this file have arrived. Continue there.", n=size),
                    code="wrong_offset",
                )
            try:
                for chunk in chunks:
                    if size + len(chunk) > limit:
                        raise InvalidInput(
                            Message("The file is longer than the {n} bytes announced.", n=limit),
                            code="too_long",
                        )
                    file.write(chunk)
                    size += len(chunk)
                file.flush()
                os.fsync(file.fileno())
            except OSError as error:
                raise full_disk(error) or error from error
        return size

    def finish(self, org_id: UUID, upload_id: UUID) -> StoredFile:
        """Store a file all of whose pieces came. `discard` the upload once that is recorded."""
        aside = self._aside(org_id, upload_id)
        try:
            with open(aside, "rb") as file:
                sha256 = hashlib.file_digest(file, "sha256").hexdigest()
                size = file.tell()
        except FileNotFoundError:
            raise _no_upload() from None
        stored = StoredFile(sha256, size)
        self._add(org_id, aside, stored, is_kept=True)
        return stored

    def _add(self, org_id: UUID, aside: Path, stored: StoredFile, *, is_kept: bool) -> None:
        """Store a complete local file under its SHA-256. `is_kept`: it also stays where it is."""
        folder = self._folder(org_id, stored.sha256[:2])
        path = folder / stored.sha256
        with self._locked(org_id, fcntl.LOCK_SH):
            if is_kept:
                with suppress(FileExistsError):
                    os.link(aside, path)
            else:
                os.replace(aside, path)
            os.utime(path, ns=(now_in_nanoseconds(), now_in_nanoseconds()))
        _sync(folder)

    def _add_many(self, org_id: UUID, written: Sequence[tuple[Path, StoredFile]]) -> None:
        """Store complete local files under their SHA-256."""
        names = {stored.sha256[:2] for _aside, stored in written}
        folders = self._folders(org_id, names)
        with self._locked(org_id, fcntl.LOCK_SH):
            for aside, stored in written:
                path = folders[stored.sha256[:2]] / stored.sha256
                os.replace(aside, path)
                os.utime(path, ns=(now_in_nanoseconds(), now_in_nanoseconds()))
        sync_all(folders.values())

    def discard(self, org_id: UUID, upload_id: UUID) -> None:
        """Delete a started file."""
        with suppress(OSError):
            self._aside(org_id, upload_id).unlink(missing_ok=True)

    @contextmanager
    def _open_upload(self, org_id: UUID, upload_id: UUID) -> Iterator[BinaryIO]:
        """Open a started file and lock it. Raises NotFound, Conflict."""
        try:
            with open(self._aside(org_id, upload_id), "r+b") as file:
                try:
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except BlockingIOError:
                    raise Conflict(
                        Message("Another request is sending this file. Wait for its end."),
                        code="locked",
                    ) from None
                yield file
        except FileNotFoundError:
            raise _no_upload() from None

    def _aside(self, org_id: UUID, upload_id: UUID) -> Path:
        return self._folder(org_id, "incoming") / upload_id.hex

    def keep(self, org_id: UUID, sha256: str) -> None:
        """Protect a file from the next sweeps, before another reference to it is committed.

        Raises NotFound.
        """
        with self._locked(org_id, fcntl.LOCK_SH):
            try:
                now = now_in_nanoseconds()
                os.utime(self.path(org_id, sha256), ns=(now, now))
            except FileNotFoundError:
                raise missing() from None

    def open(self, org_id: UUID, sha256: str) -> BinaryIO:
        """Open a file. Raises NotFound."""
        try:
            return open(self.path(org_id, sha256), "rb")
        except FileNotFoundError:
            raise missing() from None

    def read(
        self, org_id: UUID, sha256: str, start: int = 0, end: int | None = None
    ) -> Iterator[bytes]:
        """Open a file and return its bytes of the range, in pieces. Raises NotFound at once."""
        return pieces_of(self.open(org_id, sha256), start, end)

    def path(self, org_id: UUID, sha256: str) -> Path:
        """Return the path of a file on the local disk, which may not exist."""
        return self.root / file_name(org_id, sha256)

    def local(self, org_id: UUID, sha256: str) -> Path:
        """Return the path of a file to link or copy from. It may not exist."""
        return self.path(org_id, sha256)

    def accelerated(self, org_id: UUID, sha256: str) -> str:
        """Return the path of a file below the root, where nginx sends it from; "" if it cannot."""
        return file_name(org_id, sha256)

    def url(self, org_id: UUID, sha256: str, headers: dict[str, str]) -> str:
        """Return an address that sends a file with these headers to anybody; "" if none does."""
        return ""

    def size(self, org_id: UUID, sha256: str) -> int | None:
        """Return the size of a file in bytes; None if it is not stored."""
        try:
            return self.path(org_id, sha256).stat().st_size
        except FileNotFoundError:
            return None

    def stored(self, org_id: UUID) -> Iterator[StoredFile]:
        """Yield the files of an organization."""
        for folder in sorted((self.root / org_id.hex).glob("[0-9a-f][0-9a-f]")):
            with os.scandir(folder) as entries:
                for entry in entries:
                    with suppress(FileNotFoundError):
                        yield StoredFile(entry.name, entry.stat().st_size)

    def organizations(self) -> list[UUID]:
        """Return the organizations that have files."""
        with suppress(FileNotFoundError):
            return [UUID(name) for name in sorted(os.listdir(self.root))]
        return []

    def sweep(
        self,
        org_id: UUID,
        referenced: Callable[[Collection[str]], Collection[str]],
        older_than: datetime,
    ) -> int:
        """Delete files that nothing refers to, and abandoned uploads; return the freed bytes.

        Files that were put or kept after `older_than` stay. `referenced` returns those of the given
        SHA-256 that are in use; it is asked after the age of a file was read.
        """
        freed, limit_ns = 0, in_nanoseconds(older_than)
        for batch in _batches(self._old(org_id, limit_ns)):
            unused = set(batch) - set(referenced(batch))
            freed += sum(self._delete_if_old(org_id, name, limit_ns) for name in sorted(unused))
        return freed + sum(_delete_old_upload(path, limit_ns) for path in self._uploads(org_id))

    def _old(self, org_id: UUID, limit_ns: int) -> Iterator[str]:
        """Yield the names of files that were last put or kept before that time."""
        for folder in sorted((self.root / org_id.hex).glob("[0-9a-f][0-9a-f]")):
            with os.scandir(folder) as entries:
                yield from [e.name for e in entries if e.stat().st_mtime_ns < limit_ns]

    def _uploads(self, org_id: UUID) -> list[Path]:
        return list((self.root / org_id.hex / "incoming").glob("*"))

    def _delete_if_old(self, org_id: UUID, sha256: str, limit_ns: int) -> int:
        path = self.path(org_id, sha256)
        with self._locked(org_id, fcntl.LOCK_EX), suppress(FileNotFoundError):
            found = path.stat()
            if found.st_mtime_ns < limit_ns:
                path.unlink()
                return found.st_size
        return 0

    def _folder(self, org_id: UUID, name: str) -> Path:
        """Return a folder of an organization, and make it durably."""
        return self._folders(org_id, [name])[name]

    def _folders(self, org_id: UUID, names: Iterable[str]) -> dict[str, Path]:
        """Return folders of an organization by their names, and make them durably."""
        folders = {name: self.root / org_id.hex / name for name in names}
        missing = [folder for folder in folders.values() if not folder.is_dir()]
        try:
            for folder in missing:
                folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            if missing:
                for above in {*(each.parent for each in missing), self.root, self.root.parent}:
                    _sync(above)
        except OSError as error:
            raise full_disk(error) or error from error
        return folders

    @contextmanager
    def _locked(self, org_id: UUID, kind: int) -> Iterator[None]:
        folder = self.root / org_id.hex
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with open(folder / "lock", "wb") as lock:
            fcntl.flock(lock, kind)
            yield


def file_name(org_id: UUID, sha256: str) -> str:
    """Return the path of a file below the root of a store. Raises ValueError for no SHA-256."""
    if not _NAME.match(sha256):
        raise ValueError(f"not a SHA-256: {sha256[:80]!r}")
    return f"{org_id.hex}/{sha256[:2]}/{sha256}"


def write_file(
    path: Path,
    chunks: Iterable[bytes],
    announced: int | None = None,
    limit: int | None = None,
) -> StoredFile:
    """Write a new file durably. Raises as `FileStore.put` does."""
    digest, size = hashlib.sha256(), 0

    def counted() -> Iterator[bytes]:
        nonlocal size
        for chunk in chunks:
            size += len(chunk)
            if limit is not None and size > limit:
                raise TooLarge(
                    Message("A file may have at most {most}.", most=bytes_text(limit)),
                    data={"most_bytes": limit},
                )
            digest.update(chunk)
            yield chunk

    _write(path, counted())
    if announced is not None and announced != size:
        raise InvalidInput(
            Message(
                "The upload ended after {n} of {size} bytes. Send the file again.",
                n=size,
                size=announced,
            ),
            code="incomplete",
        )
    return StoredFile(digest.hexdigest(), size)


def _write(path: Path, chunks: Iterable[bytes]) -> None:
    with open(path, "xb", opener=_private) as file:
        file.writelines(chunks)
        file.flush()
        os.fsync(file.fileno())


def _private(name: str, flags: int) -> int:
    return os.open(name, flags, 0o600)


def pieces_of(file: BinaryIO, start: int, end: int | None) -> Iterator[bytes]:
    """Yield the bytes of a range in pieces, and close the file."""
    with file:
        file.seek(start)
        left = None if end is None else max(end - start, 0)
        while left != 0 and (data := file.read(PIECE if left is None else min(left, PIECE))):
            left = None if left is None else left - len(data)
            yield data


def _delete_old_upload(path: Path, limit_ns: int) -> int:
    """Delete an upload that nobody has written to since; its process or its client is gone."""
    freed = 0
    with suppress(FileNotFoundError):
        if path.stat().st_mtime_ns < limit_ns:
            parts = list(path.iterdir()) if path.is_dir() else [path]
            for part in parts:
                freed += part.stat().st_size
                part.unlink()
            if path.is_dir():
                path.rmdir()
    return freed


def _batches(names: Iterable[str]) -> Iterator[list[str]]:
    batch: list[str] = []
    for name in names:
        batch.append(name)
        if len(batch) == _BATCH:
            yield batch
            batch = []
    if batch:
        yield batch


def now_in_nanoseconds() -> int:
    """Return the time as modification times of files have it."""
    return in_nanoseconds(clock.now())


def in_nanoseconds(at: datetime) -> int:
    """Return a time as modification times of files have it."""
    return int(at.timestamp() * 1e9)


def _part_name(number: int, sha256: str) -> str:
    if not _NAME.match(sha256):
        raise InvalidInput(Message("{text} is not the ETag of a part.", text=repr(sha256[:80])))
    return f"{number}-{sha256}"


def _file_pieces(path: Path) -> Iterator[bytes]:
    return pieces_of(path.open("rb"), 0, None)


def _no_upload() -> NotFound:
    return NotFound(
        Message("There is no such upload, or it was abandoned. Send the file again."),
        code="no_upload",
    )


def missing() -> NotFound:
    """Return the error for a file whose bytes were lost."""
    return NotFound(
        Message("The bytes of this file are missing from the disk of the portal."),
        code="bytes_missing",
    )


def _sync(path: Path) -> None:
    """Sync a file, or a folder: names of files are durable only after that."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def sync_all(paths: Collection[Path]) -> None:
    """Sync files or folders, several at once."""
    with ThreadPoolExecutor(AT_ONCE) as pool:
        list(pool.map(_sync, paths))
