"""Store logs as append-only bytes in segments, with a time index, gaps and a final certificate.

A log is a folder `<root>/<last two of key>/<key>/`:

    <start>.seg            bytes from offset <start> on, open for appends (16 hex digits)
    <start>-<end>.zst      a full segment, compressed
    index                  16-byte records (offset, Unix ms): when bytes from that offset on arrived
    gaps                   one JSON line for each range that was never stored, and why
    .<kind>.new            temporary file of an atomic replacement; ignored after a crash
    uncounted              why nobody has counted what is lost, if that is so
    certificate.json       written once, when the log is closed
    deleted.json           replaces all bytes of a deleted log; written before they are removed

Offsets are those of the source, so repeated writes are idempotent: an overlapping prefix is
dropped. Bytes acknowledged as durable were fsynced. After a crash at any point the folder is a
valid shorter log, and the source continues from `end`. Logs do not depend on the rows of jobs and
outlive them.
"""

from __future__ import annotations

import errno
import fcntl
import hashlib
import json
import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from functools import cache, lru_cache
from pathlib import Path

import zstandard
from blake3 import blake3

from portal.blobs import arrivals
from portal.blobs.certificate import (
    DELETED,
    Certificate,
    Deletion,
    Lost,
    certificate_of,
    certificate_text,
    deletion_of,
)
from portal.core.errors import Unavailable
from portal.core.messages import Message, MessageDecoder, MessageEncoder

SEGMENT = 4 << 20
PIECE = 128 << 10  # bytes in memory per download, however slow the reader
LIMIT = 4 << 30  # bytes kept per log; the rest becomes a gap
SEARCH_BUDGET = 32 << 20  # bytes searched per call
_KEY = re.compile(r"[0-9a-zA-Z_-]{1,100}\Z")
FULL = Message("the log's size limit was reached")
_MISSING = "missing from the disk that keeps the logs"


class Gap(ValueError):
    """The bytes before these were never stored: record that with `skip`, or send them first."""


@dataclass(frozen=True)
class LogRead:
    """Bytes from `start` on.

    `start` is larger than the requested offset if that lies in a gap. `end` is the end of the log.
    """

    start: int
    data: bytes
    end: int
    gaps: list[Lost] = field(default_factory=list)


@dataclass(frozen=True)
class SearchResult:
    """Matching lines as (offset, line). Continue from `after` unless `done`."""

    hits: list[tuple[int, str]]
    after: int
    done: bool

    def as_dict(self) -> dict[str, object]:
        return {
            "hits": [{"offset": offset, "line": line} for offset, line in self.hits],
            "after": self.after,
            "done": self.done,
        }


@dataclass(frozen=True)
class _Segment:
    path: Path
    start: int
    end: int

    @property
    def is_full(self) -> bool:
        return self.path.suffix == ".zst"


class LogStore:
    """All logs in one folder.

    Any number of processes may read; a lock per log serializes writers.
    """

    def __init__(self, root: Path, limit: int = LIMIT):
        self.root, self.limit = root, limit

    def end(self, key: str) -> int:
        """Return the offset after the last byte stored or skipped; 0 if the log does not exist."""
        return _end(*_contents(self._folder(key)))

    def append(
        self, key: str, offset: int, data: bytes, at_ms: int, *, durable: bool = True
    ) -> int:
        """Append bytes, dropping those before the end, and return the new end.

        Raises Gap, and Unavailable if the disk is full.
        """
        with self._locked(key) as folder:
            end = self.end(key)
            if offset > end:
                raise Gap(f"the log ends at {end}, these bytes begin at {offset}")
            data = data[end - offset :]
            if not data or (folder / "certificate.json").exists():
                return end
            kept = data[: max(self.limit - end, 0)]
            if kept:
                self._write(folder, end, kept, at_ms, durable=durable)
            if len(kept) < len(data):
                _add_gap(folder, end + len(kept), end + len(data), FULL)
            return end + len(data)

    def skip(self, key: str, start: int, end: int, why: str) -> None:
        """Record that a range is lost, and why. Ignores stored bytes and closed logs."""
        with self._locked(key) as folder:
            start = max(start, self.end(key))
            if end > start and not (folder / "certificate.json").exists():
                _add_gap(folder, start, end, why)

    def note_uncounted(self, key: str, why: str) -> None:
        """Record why nobody counts what of a log is lost. Ignores closed logs and further reasons."""
        if not _uncounted(self._folder(key)):
            with self._locked(key) as folder:
                if not (folder / "certificate.json").exists():
                    _replace(folder / "uncounted", json.dumps(why, cls=MessageEncoder).encode())

    def read(self, key: str, after: int, limit: int = 1 << 20) -> LogRead:
        """Return at most `limit` bytes from offset `after`, never across a gap."""
        segments, gaps = _contents(self._folder(key))
        end = _end(segments, gaps)
        for segment in segments:
            if segment.end <= after:
                continue
            start = max(after, segment.start)
            try:
                data = _bytes(segment, start, min(segment.end, start + limit))
            except FileNotFoundError:
                if deletion_of(self._folder(key)):  # deleted after it was listed
                    return self.read(key, after, limit)
                raise
            return LogRead(
                start, data, end, [g for g in gaps if g[1] > after and g[0] < start + len(data)]
            )
        return LogRead(end, b"", end, [g for g in gaps if g[1] > after])

    def open_range(self, key: str, start: int, end: int, chunk: int = 1 << 20) -> Iterator[bytes]:
        """Yield the bytes currently stored between two offsets."""
        yield from _chunks(_contents(self._folder(key))[0], start, end, chunk)

    def whole(self, key: str) -> tuple[int, Iterator[bytes]]:
        """Return the number of bytes currently stored, and an iterator over exactly these."""
        segments = _contents(self._folder(key))[0]
        return sum(s.end - s.start for s in segments), _chunks(
            segments, 0, segments[-1].end if segments else 0, PIECE
        )

    def size(self, key: str) -> int:
        """Return the number of stored bytes, without gaps."""
        return self.whole(key)[0]

    def times(self, key: str, start: int, end: int) -> list[tuple[int, int]]:
        """Return (offset, Unix ms) of the arrivals between two offsets.

        The first one is the arrival that contains `start`.
        """
        return arrivals.between(self._folder(key), start, end)

    def search(
        self,
        key: str,
        needle: bytes,
        after: int = 0,
        limit: int = 1000,
        *,
        ignore_case: bool = True,
    ) -> SearchResult:
        """Return lines that contain the needle, from offset `after`.

        Searches at most 32 MiB per call.
        """
        pattern = re.compile(re.escape(needle), re.IGNORECASE if ignore_case else 0)
        hits: list[tuple[int, str]] = []
        at, carry, stop = after, b"", after + SEARCH_BUDGET
        end = self.end(key)
        while at < min(end, stop) and len(hits) < limit:
            part = self.read(key, at)
            # A line torn by a gap is searched up to the gap.
            if part.start != at:
                hits, carry, at = (
                    hits + _hits(carry, at - len(carry), pattern, limit + 1 - len(hits)),
                    b"",
                    part.start,
                )
            if not part.data:
                break
            text, base = carry + part.data, part.start - len(carry)
            at = part.start + len(part.data)
            cut = text.rfind(b"\n") + 1 if at < end else len(text)
            hits += _hits(text[:cut] if cut else text, base, pattern, limit + 1 - len(hits))
            carry = text[cut:] if cut else b""
        if len(hits) > limit:
            return SearchResult(hits[:limit], hits[limit][0], False)
        return SearchResult(hits, at - len(carry) if at < end else at, at >= end)

    def seal(self, key: str, closed_by: str) -> Certificate:
        """Close a log permanently. Idempotent: returns the first certificate."""
        with self._locked(key) as folder:
            if known := self.certificate(key):
                return known
            _sync_segments(folder)
            made = _certify(self, key, folder, closed_by)
            _replace(
                folder / "certificate.json", json.dumps(made.as_dict(), cls=MessageEncoder).encode()
            )
            return made

    def certificate(self, key: str) -> Certificate | None:
        """Return the certificate, or None while the log is open."""
        return certificate_of(self._folder(key))

    def delete(self, key: str, by: str, at_ms: int) -> Deletion | None:
        """Delete the bytes of a closed log permanently; return None if there were none.

        The deletion is recorded first: after a crash the log counts as deleted, and the next call
        removes the rest. Repeated calls keep the first deletion. Raises ValueError for an open log.
        """
        with self._locked(key) as folder:
            known = self.certificate(key)
            if known is None:
                raise ValueError("a log that may still grow cannot be deleted")
            deletion = deletion_of(folder)
            if deletion is None and known.bytes:
                deletion = Deletion(by, at_ms, known.bytes, self.end(key))
                _replace(folder / DELETED, json.dumps(asdict(deletion)).encode())
            if deletion:
                _remove_bytes(folder)
            return deletion

    def _folder(self, key: str) -> Path:
        if not _KEY.match(key):
            raise ValueError("not the key of a log")
        return self.root / key[-2:] / key

    @contextmanager
    def _locked(self, key: str) -> Iterator[Path]:
        folder = self._folder(key)
        try:
            if not folder.is_dir():
                folder.mkdir(mode=0o700, parents=True, exist_ok=True)
                _sync(folder.parent)
                _sync(self.root)
            with open(folder / "lock", "wb") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX)
                yield folder
        except OSError as error:
            if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EROFS):
                raise Unavailable(
                    Message(
                        "The disk with the logs is full. Stored logs are intact, and writing "
                        "resumes "
                        "once there is space."
                    )
                ) from error
            raise

    def _write(self, folder: Path, end: int, data: bytes, at_ms: int, *, durable: bool) -> None:
        arrivals.note(folder, end, at_ms)
        while data:
            segment = _open_segment(folder, end)
            part = data[: max(SEGMENT - (end - segment.start), 1)]
            _add_bytes(segment, end, part, durable=durable)
            end, data = end + len(part), data[len(part) :]
            if end - segment.start >= SEGMENT:
                _compress(segment, end)


def _add_bytes(segment: _Segment, end: int, part: bytes, *, durable: bool) -> None:
    """Write all bytes or none.

    Bytes that the disk refused must not count, because a second fsync would not report the error
    again.
    """
    try:
        with open(segment.path, "ab") as file:
            file.write(part)
            file.flush()
            if durable:
                os.fdatasync(file.fileno())
        if durable and end == segment.start:
            _sync(segment.path.parent)
    except OSError:
        with suppress(OSError):
            os.truncate(segment.path, end - segment.start)
        raise


def _open_segment(folder: Path, end: int) -> _Segment:
    """Return the segment that ends here and has space, or a new one."""
    for segment in _segments(folder):
        if segment.end == end and not segment.is_full:
            return segment
    return _Segment(folder / f"{end:016x}.seg", end, end)


def _compress(segment: _Segment, end: int) -> None:
    """Compress a full segment.

    After a crash both files may exist; the compressed one takes precedence.
    """
    packed = zstandard.ZstdCompressor(level=1, write_checksum=True).compress(
        segment.path.read_bytes()
    )
    _replace(segment.path.with_name(f"{segment.start:016x}-{end:016x}.zst"), packed)
    segment.path.unlink(missing_ok=True)


def _segments(folder: Path) -> list[_Segment]:
    """Return the segments in order, without overlaps."""
    found: dict[int, _Segment] = {}
    try:
        names = os.listdir(folder)
    except FileNotFoundError:
        return []
    for name in sorted(names):
        stem, _, kind = name.partition(".")
        if kind == "seg" and int(stem, 16) not in found:
            try:
                size = (folder / name).stat().st_size
            except FileNotFoundError:  # compressed concurrently
                return _segments(folder)
            found[int(stem, 16)] = _Segment(folder / name, int(stem, 16), int(stem, 16) + size)
        elif kind == "zst":
            start, _, end = stem.partition("-")
            found[int(start, 16)] = _Segment(folder / name, int(start, 16), int(end, 16))
    return [found[start] for start in sorted(found)]


def _contents(folder: Path) -> tuple[list[_Segment], list[Lost]]:
    """Return segments and gaps that adjoin without a hole.

    Lists again if a writer interfered. What is missing then is reported as a gap, so that no
    certificate calls the log complete.
    """
    for _ in range(5):
        if deleted := deletion_of(folder):
            return [], [deleted.gap]
        # Read gaps before segments: a gap is written before the bytes after it.
        gaps = _gaps(folder)
        segments = _segments(folder)
        holes = list(_holes(segments, gaps))
        if not holes and (segments or not (folder / DELETED).exists()):
            break
    return segments, sorted([*gaps, *holes]) if holes else gaps


def _holes(segments: Sequence[_Segment], gaps: Sequence[Lost]) -> Iterator[Lost]:
    at = 0
    for start, end in sorted(
        [(s.start, s.end) for s in segments] + [(gap[0], gap[1]) for gap in gaps]
    ):
        if start > at:
            yield (at, start, _MISSING)
        at = max(at, end)


def _remove_bytes(folder: Path) -> None:
    """Remove the bytes from the first segment on.

    A concurrent reader then meets a hole, lists again and finds the deletion.
    """
    for path in (
        *sorted([*folder.glob("*.seg"), *folder.glob("*.zst")]),
        folder / "index",
        folder / "gaps",
    ):
        path.unlink(missing_ok=True)
    _sync(folder)


def _end(segments: Sequence[_Segment], gaps: Sequence[Lost]) -> int:
    return max(segments[-1].end if segments else 0, gaps[-1][1] if gaps else 0)


def _chunks(
    segments: Sequence[_Segment], start: int, end: int, chunk: int = 1 << 20
) -> Iterator[bytes]:
    for segment in segments:
        last = min(end, segment.end)
        for at in range(max(start, segment.start), last, chunk):
            piece = _bytes(segment, at, min(at + chunk, last))
            if len(piece) < min(chunk, last - at):
                raise OSError(errno.EIO, _MISSING, str(segment.path))
            yield piece


def _bytes(segment: _Segment, start: int, end: int) -> bytes:
    if segment.is_full:
        return _decompressed(segment.path)[start - segment.start : end - segment.start]
    try:
        with open(segment.path, "rb") as file:
            return os.pread(file.fileno(), end - start, start - segment.start)
    except FileNotFoundError:  # compressed after it was listed
        for again in _segments(segment.path.parent):
            if again.start == segment.start:
                return _bytes(again, start, end)
        raise


@lru_cache(maxsize=2)
def _decompressed(path: Path) -> bytes:
    """Decompress a full segment; cached, because readers request one piece after another."""
    return zstandard.ZstdDecompressor().decompress(path.read_bytes())


def _gaps(folder: Path) -> list[Lost]:
    try:
        lines = (folder / "gaps").read_text().splitlines()
    except FileNotFoundError:
        return []
    found: list[Lost] = []
    for line in lines:
        with suppress(ValueError):  # a torn last line was never acknowledged
            _add_merged(found, *json.loads(line, cls=MessageDecoder))
    return found


def _add_merged(gaps: list[Lost], start: int, end: int, why: str) -> None:
    """Append a gap, merging it with an adjacent one for the same reason."""
    if gaps and gaps[-1][1:] == (start, why):
        start = gaps.pop()[0]
    gaps.append((start, end, why))


def _add_gap(folder: Path, start: int, end: int, why: str) -> None:
    gaps = _gaps(folder)
    _add_merged(gaps, start, end, why)
    lines = (json.dumps(gap, cls=MessageEncoder) for gap in gaps)
    _replace(folder / "gaps", b"".join(line.encode() + b"\n" for line in lines))


def _hits(text: bytes, base: int, pattern: re.Pattern[bytes], most: int) -> list[tuple[int, str]]:
    found: list[tuple[int, str]] = []
    seen = -1
    for match in pattern.finditer(text):
        start = text.rfind(b"\n", 0, match.start()) + 1
        if start != seen:
            stop = text.find(b"\n", match.end())
            found.append(
                (
                    base + start,
                    text[start : stop if stop >= 0 else len(text)][:2000].decode(errors="replace"),
                )
            )
            seen = start
        if len(found) >= most:
            break
    return found


def _sync_segments(folder: Path) -> None:
    """Sync bytes written without fsync, before the log is certified."""
    for segment in _segments(folder):
        if not segment.is_full:
            with open(segment.path, "rb") as file:
                os.fdatasync(file.fileno())
    _sync(folder)


def _certify(store: LogStore, key: str, folder: Path, closed_by: str) -> Certificate:
    sha, blake, lines, size, last = hashlib.sha256(), blake3(), 0, 0, b"\n"
    for data in store.open_range(key, 0, store.end(key)):
        sha.update(data)
        blake.update(data)
        lines += data.count(b"\n")
        size, last = size + len(data), data[-1:]
    gaps, (first_at, last_at) = _contents(folder)[1], arrivals.first_and_last(folder)
    uncounted = _uncounted(folder)
    return Certificate(
        bytes=size,
        lines=lines + (last != b"\n"),
        sha256=sha.hexdigest(),
        blake3=blake.hexdigest(),
        gaps=gaps,
        complete=not gaps and not uncounted,
        closed_by=closed_by,
        first_at=first_at,
        last_at=last_at,
        text=certificate_text(folder, size, gaps, uncounted),
        uncounted=uncounted,
    )


def _uncounted(folder: Path) -> str:
    try:
        return str(json.loads((folder / "uncounted").read_bytes(), cls=MessageDecoder))
    except FileNotFoundError:
        return ""


def _replace(path: Path, data: bytes) -> None:
    """Replace a file atomically and durably. The caller holds the log's lock."""
    aside = path.with_name(f".{path.suffix.lstrip('.') or path.name}.new")
    with open(aside, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    os.replace(aside, path)
    _sync(path.parent)


def _sync(folder: Path) -> None:
    """Sync a folder: file names are durable only after that."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@cache
def _store_at(root: Path, limit: int) -> LogStore:
    return LogStore(root, limit)


def log_store() -> LogStore:
    """Return the portal's log store."""
    from django.conf import settings

    return _store_at(Path(settings.MUSTER_HOME) / "blobs" / "logs", settings.MUSTER_LOG_LIMIT)
