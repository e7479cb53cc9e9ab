"""Send the files of a folder to a repository, and fetch them, with several connections.

What is complete is never sent or fetched again, also after the program was killed.
"""

from __future__ import annotations

import base64
import json
import os
import threading
import time
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from hashlib import file_digest, sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import quote

from muster.errors import Conflict, InvalidInput, Json, NotFound, Unavailable
from muster.folder_cache import FolderCache
from muster.models import inside_of
from muster.transport import TRIES, UPLOAD_TIMEOUT, pause

if TYPE_CHECKING:
    from muster.client import Client

T = TypeVar("T")
Progress = Callable[[str, int, int], None]  # "hash", "send" or "fetch"; bytes done, bytes in all
THREADS = 4
PIECE = 16 << 20  # bytes of an upload in pieces; smaller files are sent at once
SMALL = 256 << 10  # bytes of a file that is sent and fetched with others
_BATCH, _BATCH_BYTES = 250, 8 << 20  # files of a request, and bytes
_DISK_FULL = 507


class Counter:
    """Bytes that are done, of a stage with a known total. Threads may share it."""

    def __init__(self, stage: str, total: int, progress: Progress | None):
        self.done, self._lock = 0, threading.Lock()
        self._stage, self._total, self._progress = stage, total, progress
        self.add(0)

    def add(self, count: int) -> None:
        with self._lock:
            self.done += count
            if self._progress:
                self._progress(self._stage, self.done, self._total)


def files_in(folder: Path) -> dict[str, Path]:
    """Return the files of a folder, or one file, by their paths in a repository.

    Links to files count as files. Folders `.git`, parts of downloads, pipes and devices, and links
    to folders are left out. Raises InvalidInput, also for a link to nothing.
    """
    if folder.is_file():
        return {folder.name: folder}
    if not folder.is_dir():
        raise InvalidInput(f"{folder}: there is no such folder", code="no_files")
    found: dict[str, Path] = {}
    for at, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if name != ".git")
        for name in sorted(names):
            file = Path(at, name)
            if file.is_symlink() and not file.exists():
                raise InvalidInput(f"{file} is a link to nothing.", code="no_files")
            if not file.is_file() or _is_part(name):
                continue
            path = _path_of(file.relative_to(folder))
            if path in found:
                raise InvalidInput(f"Two files have the name {path!r} in Unicode.", code="no_files")
            found[path] = file
    return found


def hashed(files: Iterable[Path], cache: FolderCache, progress: Progress | None) -> dict[Path, str]:
    """Return the SHA-256 of files."""
    files = list(files)
    counter = Counter("hash", sum(file.stat().st_size for file in files), progress)
    found: dict[Path, str] = {}

    def read(file: Path) -> None:
        found[file] = cache.sha256(file)
        counter.add(file.stat().st_size)

    each(read, files)
    return found


class Sender:
    """Send files to the repository at `path`, such as `datasets/cifar`."""

    def __init__(self, client: Client, path: str, cache: FolderCache):
        self._client, self._path, self._cache = client, client.within(path), cache
        self._key = f"{client.url} {self._path}"
        self._lock, self.sent = threading.Lock(), 0  # bytes

    def send(self, files: dict[str, Path], progress: Progress | None = None) -> None:
        """Send files by their SHA-256."""
        counter = Counter("send", sum(file.stat().st_size for file in files.values()), progress)

        def send(items: list[tuple[str, Path]]) -> None:
            if len(items) > 1 and self._send_batch(items, counter):
                return
            for item in items:
                self._send(*item, counter)

        sized = [(item, item[1].stat().st_size) for item in files.items()]
        each(send, batches(sized))

    def _send_batch(self, items: list[tuple[str, Path]], counter: Counter) -> bool:
        """Send small files in one request; return False if the portal takes no batches."""
        contents = [file.read_bytes() for _digest, file in items]
        named = [
            self._named(digest, file, data)
            for (digest, file), data in zip(items, contents, strict=True)
        ]
        body = json.dumps({"files": named}).encode() + b"\n" + b"".join(contents)
        try:
            self._client.request(
                "PUT",
                f"{self._path}/contents/batch",
                content=body,
                headers={"Content-Type": "application/octet-stream"},
                timeout=UPLOAD_TIMEOUT,
            )
        except NotFound:  # an older portal; what else is missing is said for the first file
            return False
        size = sum(map(len, contents))
        self._count(size)
        counter.add(size)
        return True

    def _named(self, digest: str, file: Path, data: bytes) -> Json:
        """Return how a request names a small file. Raises InvalidInput for one that has changed."""
        if sha256(data).hexdigest() != digest:
            raise InvalidInput(f"{file} has changed while it was sent.", code="changed")
        return {"sha256": digest, "bytes": len(data)}

    def _send(self, digest: str, file: Path, counter: Counter) -> None:
        size = file.stat().st_size
        if size >= PIECE:
            self._send_pieces(digest, file, size, counter)
            return
        self._client.upload(f"{self._path}/contents?sha256={digest}", file)
        self._count(size)
        counter.add(size)

    def _send_pieces(self, digest: str, file: Path, size: int, counter: Counter) -> None:
        """Send a file by the tus protocol; continue where an earlier attempt ended."""
        key, failures, done = self._key_of(digest, file), 0, 0
        while True:
            try:
                upload = self._cache.upload(key) or self._start(key, digest, file, size)
                at = self._offset(upload)
                while at < size:
                    counter.add(at - done)
                    done, at = at, self._send_piece(upload, file, at)
                    failures = 0
                counter.add(size - done)
                self._cache.forget_upload(key)
                return
            except NotFound:  # it was abandoned
                if not self._cache.upload(key):
                    raise
                self._cache.forget_upload(key)
            except InvalidInput:  # the file has changed
                self._cache.forget_upload(key)
                raise
            except (Unavailable, Conflict) as error:
                failures += 1
                if failures == TRIES or not _may_continue(error):
                    raise
                time.sleep(pause(failures))

    def _key_of(self, digest: str, file: Path) -> str:
        """Return the key by which an upload that is not complete is remembered."""
        return f"{self._key} {digest}"

    def _start(self, key: str, digest: str, file: Path, size: int) -> str:
        pairs = self._metadata(digest, file)
        metadata = ",".join(
            f"{name} {base64.b64encode(os.fsencode(value)).decode()}"
            for name, value in pairs.items()
        )
        headers = {"Upload-Length": str(size), "Upload-Metadata": metadata} | _TUS
        answer = self._client.request("POST", f"{self._path}/uploads", headers=headers)
        upload = str(answer.headers["Location"]).rstrip("/").rsplit("/", 1)[-1]
        self._cache.keep_upload(key, upload)
        return upload

    def _metadata(self, digest: str, file: Path) -> dict[str, str]:
        return {"filename": file.name, "sha256": digest}

    def _offset(self, upload: str) -> int:
        where = f"{self._path}/uploads/{quote(upload)}"
        answer = self._client.request("HEAD", where, headers=_TUS, timeout=UPLOAD_TIMEOUT)
        return int(answer.headers["Upload-Offset"])

    def _send_piece(self, upload: str, file: Path, offset: int) -> int:
        with open(file, "rb") as data:
            data.seek(offset)
            content = data.read(PIECE)
        if not content:
            raise InvalidInput(f"{file} has become shorter while it was sent.", code="changed")
        headers = {
            "Upload-Offset": str(offset),
            "Content-Type": "application/offset+octet-stream",
        } | _TUS
        answer = self._client.request(
            "PATCH",
            f"{self._path}/uploads/{quote(upload)}",
            content=content,
            headers=headers,
            timeout=UPLOAD_TIMEOUT,
            tries=1,
        )
        self._count(len(content))
        return int(answer.headers["Upload-Offset"])

    def _count(self, size: int) -> None:
        with self._lock:
            self.sent += size


_TUS = {"Tus-Resumable": "1.0.0"}


class Fetcher:
    """Fetch files of a version into a folder; `path` is such as `datasets/cifar/files/COMMIT`."""

    def __init__(self, client: Client, path: str, root: Path, cache: FolderCache):
        self._client, self._path, self._cache = client, client.within(path), cache
        root.mkdir(parents=True, exist_ok=True)
        self._root = root.resolve()

    def fetch(self, rows: Iterable[Any], progress: Progress | None = None) -> list[Path]:
        """Fetch the files of these rows; those with the same content are kept.

        Raises InvalidInput for a path that leaves the folder, before anything is fetched.
        """
        wanted = [(self._target(row["path"]), row) for row in rows]
        counter = Counter("fetch", sum(row["bytes"] for _target, row in wanted), progress)

        def fetch(items: list[tuple[Path, Json]]) -> None:
            missing = []
            for target, row in items:
                self._check_folder(target.parent)
                if self._has(target, row):
                    counter.add(row["bytes"])
                else:
                    missing.append((target, row))
            if len(missing) > 1 and self._fetch_batch(missing, counter):
                return
            for item in missing:
                self._fetch(*item, counter)

        each(fetch, batches([(item, item[1]["bytes"]) for item in wanted]))
        return [target for target, _row in wanted]

    def _fetch_batch(self, items: list[tuple[Path, Json]], counter: Counter) -> bool:
        """Fetch small files in one request; return False if each must be asked for alone."""
        where, slash, commit = self._path.partition("/files/")
        if not slash or not all(row.get("sha256") for _target, row in items):
            return False
        paths = json.dumps({"paths": [row["path"] for _target, row in items]}).encode()
        try:
            data = self._client.request(
                "POST",
                f"{where}/downloads/{commit}",
                content=paths,
                headers={"Content-Type": "application/json", "Accept": "*/*"},
                timeout=UPLOAD_TIMEOUT,
            ).content
        except (NotFound, Unavailable):  # an older portal, or it broke off: one by one says why
            return False
        at = 0
        for target, row in items:
            content, at = data[at : at + row["bytes"]], at + row["bytes"]
            if sha256(content).hexdigest() != row["sha256"]:
                self._fetch(target, row, counter)
                continue
            target.parent.mkdir(parents=True, exist_ok=True)
            self._check_folder(target.parent)
            part = target.with_name(_part_name(target.name, row["sha256"]))
            part.write_bytes(content)
            os.replace(part, target)
            counter.add(row["bytes"])
        return True

    def _target(self, path: str) -> Path:
        return self._root / inside_of(path)

    def _fetch(self, target: Path, row: Json, counter: Counter) -> None:
        self._check_folder(target.parent)
        if self._has(target, row):
            counter.add(row["bytes"])
            return
        target.parent.mkdir(parents=True, exist_ok=True)
        self._check_folder(target.parent)
        part = target.with_name(_part_name(target.name, row["sha256"]))
        for failures in range(TRIES):
            try:
                self._receive(part, row, counter)
                break
            except Unavailable:
                if failures == TRIES - 1:
                    raise
                time.sleep(pause(failures))
        with open(part, "rb") as data:
            if file_digest(data, "sha256").hexdigest() != row["sha256"]:
                part.unlink()
                raise Conflict(f"{row['path']} was damaged on the way. Download it again.")
        os.replace(part, target)

    def _receive(self, part: Path, row: Json, counter: Counter) -> None:
        """Append to a part what is missing."""
        with open(part, "ab") as out:
            have = out.tell()
            if have > row["bytes"]:
                out.truncate(0)
                have = 0
            before = have
            counter.add(have)
            try:
                if have < row["bytes"] or not row["bytes"]:
                    where = f"{self._path}/{quote(row['path'])}"
                    for data in self._client.stream(where, {}, offset=have):
                        out.write(data)
                        have += len(data)
                        counter.add(len(data))
            except Unavailable:
                counter.add(-have)
                raise
            if have != row["bytes"]:
                counter.add(-have)
                raise Unavailable(f"{row['path']}: {have - before} bytes came, too few.")

    def _has(self, target: Path, row: Json) -> bool:
        is_there = target.is_file() and not target.is_symlink()
        return (
            is_there
            and target.stat().st_size == row["bytes"]
            and self._cache.sha256(target) == row["sha256"]
        )

    def _check_folder(self, folder: Path) -> None:
        """Refuse to write through a link in the folder. Raises InvalidInput."""
        if not folder.resolve().is_relative_to(self._root):
            raise InvalidInput(f"{folder} is a link that leaves {self._root}.")


def batches(sized: Iterable[tuple[T, int]]) -> Iterator[list[T]]:
    """Yield small files together, and each larger one alone; `sized` are files and sizes."""
    ready: list[T] = []
    total = 0
    for item, size in sized:
        if size > SMALL:
            yield [item]
            continue
        if len(ready) == _BATCH or total + size > _BATCH_BYTES:
            yield ready
            ready, total = [], 0
        ready.append(item)
        total += size
    if ready:
        yield ready


def each(work: Callable[[T], None], items: Iterable[T]) -> None:
    """Call `work` for each item in several threads; the first error stops all."""
    source, lock, stop = iter(items), threading.Lock(), threading.Event()

    def taken() -> Iterator[T]:
        while not stop.is_set():
            with lock:
                try:
                    item = next(source)
                except StopIteration:
                    return
            yield item

    def run() -> None:
        for item in taken():
            work(item)

    with ThreadPoolExecutor(THREADS) as pool:
        try:
            for future in as_completed([pool.submit(run) for _ in range(THREADS)]):
                future.result()
        finally:
            stop.set()


def _may_continue(error: Unavailable | Conflict) -> bool:
    """Return whether to ask where the upload is now, and go on."""
    if isinstance(error, Conflict):
        return error.code in {"wrong_offset", "locked"}
    return error.status != _DISK_FULL


def _path_of(relative: Path) -> str:
    try:
        path = relative.as_posix()
        path.encode()
    except UnicodeEncodeError:
        raise InvalidInput(f"The name {relative!r} is not UTF-8.", code="no_files") from None
    return unicodedata.normalize("NFC", path)


def _part_name(name: str, digest: str) -> str:
    return f".{sha256(name.encode()).hexdigest()[:16]}-{digest[:16]}.muster-part"


def _is_part(name: str) -> bool:
    return name.startswith(".") and name.endswith(".muster-part")
