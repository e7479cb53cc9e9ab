"""Store whole files in a bucket of S3, or of a store that speaks its protocol.

    s3://<bucket>/<prefix>/<organization>/<first two of sha256>/<sha256>   a complete file
    <root>/<organization>/incoming/…               uploads, as in `portal.blobs.files`
    <root>/<organization>/<first two>/<sha256>     cache of files that jobs read in place
    <root>/<organization>/kept/<first two>/<sha256>   its time is the last `put` or `keep`

A file is received, hashed and checked on the local disk, then sent; S3 shows an object once it is
complete. Every process of the portal must see the same `root`: it has the uploads and the lock
that keeps the sweep from files that are being stored again.
"""

from __future__ import annotations

import fcntl
import hashlib
import hmac
import io
import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import cached_property
from pathlib import Path
from typing import Any, BinaryIO, cast
from urllib.parse import quote, urlsplit
from uuid import UUID, uuid4

from portal.blobs.files import (
    AT_ONCE,
    PIECE,
    FileStore,
    StoredFile,
    file_name,
    in_nanoseconds,
    missing,
    now_in_nanoseconds,
    write_file,
)
from portal.core import clock
from portal.core.disk import full_disk
from portal.core.errors import NotFound, Unavailable
from portal.core.messages import Message

PART = 16 << 20  # bytes of a part of a large object; S3 takes 10,000 of them
MOST_PARTS = 9_000
READ_AHEAD = 256 << 10  # bytes that `open` asks for at least
URL_LASTS = timedelta(minutes=15)  # to start a download
CACHED = timedelta(days=1)  # since the last use
_RETRIES: Any = {"max_retries": 5, "retry_timeout": timedelta(seconds=60)}
_CLIENT: Any = {
    "allow_http": True,  # the operator names the host
    "connect_timeout": timedelta(seconds=10),
    "read_timeout": timedelta(seconds=60),
    "timeout": timedelta(days=2),
}


@dataclass(frozen=True)
class Bucket:
    """Where the objects are. `public_url`: the endpoint as users of the portal reach it."""

    name: str
    prefix: str = ""
    endpoint: str = ""
    region: str = "us-east-1"
    access_key: str = ""
    secret_key: str = field(default="", repr=False)
    public_url: str = ""


class S3FileStore(FileStore):
    """All files in one bucket. Any number of processes that share `root` may read and write."""

    def __init__(self, root: Path, bucket: Bucket):
        super().__init__(root)
        self.bucket = bucket

    @cached_property
    def _objects(self) -> Any:
        """Return the client: made at first use, because its threads do not survive a fork."""
        from obstore.store import S3Store

        given = self.bucket
        config: Any = {"region": given.region, "checksum_algorithm": "SHA256"}
        if given.endpoint:
            config["endpoint"] = given.endpoint
        if given.access_key:  # otherwise those of this machine
            config |= {
                "access_key_id": given.access_key,
                "secret_access_key": given.secret_key,
            }
        return S3Store(given.name, config=config, client_options=_CLIENT, retry_config=_RETRIES)

    def _key(self, name: str) -> str:
        return f"{self.bucket.prefix}/{name}" if self.bucket.prefix else name

    def _key_of(self, org_id: UUID, sha256: str) -> str:
        return self._key(file_name(org_id, sha256))

    def _add(self, org_id: UUID, aside: Path, stored: StoredFile, *, is_kept: bool) -> None:
        import obstore

        self._mark(org_id, stored.sha256)
        if self.size(org_id, stored.sha256) != stored.size:
            with _explained():
                obstore.put(
                    self._objects,
                    self._key_of(org_id, stored.sha256),
                    aside,
                    chunk_size=max(PART, stored.size // MOST_PARTS),
                    max_concurrency=4,
                )
            self._mark(org_id, stored.sha256)
        if not is_kept:
            aside.unlink()

    def _add_many(self, org_id: UUID, written: Sequence[tuple[Path, StoredFile]]) -> None:
        with ThreadPoolExecutor(AT_ONCE) as pool:
            list(pool.map(lambda each: self._add(org_id, *each, is_kept=True), written))

    def _mark(self, org_id: UUID, sha256: str) -> None:
        """Protect a file from the next sweeps, also one that is not there yet."""
        path = self._folder(org_id, f"kept/{sha256[:2]}") / sha256
        try:
            with self._locked(org_id, fcntl.LOCK_SH):
                path.touch(mode=0o600)
                os.utime(path, ns=(now_in_nanoseconds(), now_in_nanoseconds()))
        except OSError as error:
            raise full_disk(error) or error from error

    def keep(self, org_id: UUID, sha256: str) -> None:
        self._mark(org_id, sha256)
        if self.size(org_id, sha256) is None:
            raise missing()

    def open(self, org_id: UUID, sha256: str) -> BinaryIO:
        size = self.size(org_id, sha256)
        if size is None:
            raise missing()
        raw = _ObjectFile(self._objects, self._key_of(org_id, sha256), size)
        return cast("BinaryIO", io.BufferedReader(raw, READ_AHEAD))

    def read(
        self, org_id: UUID, sha256: str, start: int = 0, end: int | None = None
    ) -> Iterator[bytes]:
        import obstore

        options: Any = {}
        if start or end is not None:
            size = self.size(org_id, sha256)
            if size is None:
                raise missing()
            end = size if end is None else min(end, size)
            if start >= end:
                return iter(())
            options = {"range": (start, end)}
        with _explained():
            found = obstore.get(self._objects, self._key_of(org_id, sha256), options=options)
        return _pieces(found)

    def local(self, org_id: UUID, sha256: str) -> Path:
        """Return the path of a file, fetched into the cache. Raises NotFound, Unavailable."""
        path = self.path(org_id, sha256)
        with suppress(FileNotFoundError):
            os.utime(path, ns=(now_in_nanoseconds(), now_in_nanoseconds()))
            return path
        aside = self._folder(org_id, "incoming") / uuid4().hex
        try:
            found = write_file(aside, self.read(org_id, sha256))
            if found.sha256 != sha256:
                raise missing()
            os.replace(aside, self._folder(org_id, sha256[:2]) / sha256)
        except OSError as error:
            raise full_disk(error) or error from error
        finally:
            aside.unlink(missing_ok=True)
        return path

    def accelerated(self, org_id: UUID, sha256: str) -> str:
        return ""

    def url(self, org_id: UUID, sha256: str, headers: dict[str, str]) -> str:
        if not self.bucket.public_url:
            return ""
        asked = {f"response-{name.lower()}": value for name, value in headers.items()}
        return presigned_url(self.bucket, self._key_of(org_id, sha256), asked, clock.now())

    def size(self, org_id: UUID, sha256: str) -> int | None:
        meta = self._head(org_id, sha256)
        return meta["size"] if meta else None

    def _head(self, org_id: UUID, sha256: str) -> Any:
        import obstore

        try:
            with _explained():
                return obstore.head(self._objects, self._key_of(org_id, sha256))
        except NotFound:
            return None

    def stored(self, org_id: UUID) -> Iterator[StoredFile]:
        for meta in self._listed(org_id):
            yield StoredFile(meta["path"].rpartition("/")[2], meta["size"])

    def _listed(self, org_id: UUID) -> Iterator[Any]:
        import obstore

        with _explained():
            for batch in obstore.list(self._objects, self._key(f"{org_id.hex}/")):
                yield from batch

    def organizations(self) -> list[UUID]:
        import obstore

        with _explained():
            found = obstore.list_with_delimiter(self._objects, self.bucket.prefix or None)
        names = {UUID(path.rstrip("/").rpartition("/")[2]) for path in found["common_prefixes"]}
        return sorted(names | set(super().organizations()))

    def _old(self, org_id: UUID, limit_ns: int) -> Iterator[str]:
        self._clean(org_id, "kept", limit_ns)
        self._clean(org_id, ".", in_nanoseconds(clock.now() - CACHED))
        for meta in self._listed(org_id):
            name = meta["path"].rpartition("/")[2]
            if in_nanoseconds(meta["last_modified"]) < limit_ns and not self._is_marked(
                org_id, name
            ):
                yield name

    def _is_marked(self, org_id: UUID, sha256: str) -> bool:
        """Return whether a file was put or kept after the time that `_clean` was given."""
        return (self.root / org_id.hex / "kept" / sha256[:2] / sha256).exists()

    def _clean(self, org_id: UUID, folder: str, limit_ns: int) -> None:
        """Delete old marks, or old files of the cache."""
        for path in (self.root / org_id.hex / folder).glob("[0-9a-f][0-9a-f]/*"):
            with suppress(FileNotFoundError):
                if path.stat().st_mtime_ns < limit_ns:
                    with self._locked(org_id, fcntl.LOCK_EX):
                        if path.stat().st_mtime_ns < limit_ns:
                            path.unlink()

    def _delete_if_old(self, org_id: UUID, sha256: str, limit_ns: int) -> int:
        import obstore

        with self._locked(org_id, fcntl.LOCK_EX):
            meta = None if self._is_marked(org_id, sha256) else self._head(org_id, sha256)
            if meta is None or in_nanoseconds(meta["last_modified"]) >= limit_ns:
                return 0
            with _explained():
                obstore.delete(self._objects, self._key_of(org_id, sha256))
            self.path(org_id, sha256).unlink(missing_ok=True)
            return int(meta["size"])


class _ObjectFile(io.RawIOBase):
    """An object as a file that can only be read."""

    def __init__(self, objects: Any, key: str, size: int):
        self._objects, self._key, self._size, self._at = objects, key, size, 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        base = {os.SEEK_SET: 0, os.SEEK_CUR: self._at, os.SEEK_END: self._size}[whence]
        self._at = max(base + offset, 0)
        return self._at

    def readinto(self, buffer: Any) -> int:
        import obstore

        end = min(self._at + len(buffer), self._size)
        if self._at >= end:
            return 0
        with _explained():
            data = obstore.get_range(self._objects, self._key, start=self._at, end=end)
        buffer[: len(data)] = memoryview(data)
        self._at += len(data)
        return len(data)


def presigned_url(bucket: Bucket, key: str, asked: dict[str, str], at: datetime) -> str:
    """Return an address from which anybody downloads an object for a while.

    It is signed by AWS Signature Version 4. `asked` are parameters of GetObject, such as
    `response-content-type`; `obstore.sign` takes none, and botocore would be 25 MB.
    """
    host = urlsplit(bucket.public_url)
    day, time = at.astimezone(UTC).strftime("%Y%m%d"), at.astimezone(UTC).strftime("%Y%m%dT%H%M%SZ")
    scope = f"{day}/{bucket.region}/s3/aws4_request"
    values = {
        **asked,
        "X-Amz-Algorithm": "AWS4-HMAC-SHA256",
        "X-Amz-Credential": f"{bucket.access_key}/{scope}",
        "X-Amz-Date": time,
        "X-Amz-Expires": str(int(URL_LASTS.total_seconds())),
        "X-Amz-SignedHeaders": "host",
    }
    path = quote(f"{host.path.rstrip('/')}/{bucket.name}/{key}")
    query = "&".join(
        f"{quote(name, safe='')}={quote(value, safe='')}" for name, value in sorted(values.items())
    )
    request = "\n".join(["GET", path, query, f"host:{host.netloc}\n", "host", "UNSIGNED-PAYLOAD"])
    digest = hashlib.sha256(request.encode()).hexdigest()
    secret = f"AWS4{bucket.secret_key}".encode()
    for part in (day, bucket.region, "s3", "aws4_request"):
        secret = hmac.digest(secret, part.encode(), "sha256")
    text = f"AWS4-HMAC-SHA256\n{time}\n{scope}\n{digest}"
    signature = hmac.digest(secret, text.encode(), "sha256").hex()
    return f"{host.scheme}://{host.netloc}{path}?{query}&X-Amz-Signature={signature}"


def _pieces(found: Any) -> Iterator[bytes]:
    with _explained():
        for piece in found.stream(min_chunk_size=PIECE):
            yield bytes(piece)


@contextmanager
def _explained() -> Iterator[None]:
    """Turn what the client raises into errors of the portal."""
    from obstore.exceptions import BaseError

    try:
        yield
    except FileNotFoundError:
        raise missing() from None
    except BaseError as error:
        raise Unavailable(
            Message(
                "The object store of this portal does not answer as it should. Try again later; if "
                "it stays so, tell the operator."
            ),
            code="store_unavailable",
        ) from error
