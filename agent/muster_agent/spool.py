"""Ordered, bounded queue of unsent batches, on disk so that it survives restarts and kills.

The ring consists of two files. Batches are appended to `new`; when it reaches half of the limit, it
becomes `old`, and the batches left in the former `old` are dropped and counted. A record is a
length, a CRC-32 and zlib-compressed bytes; one truncated by a kill is cut off when the spool is
opened. A file begins with a random name, because inodes are reused too soon. The reader's position
is stored in `place` with that name and ignored if its file is gone, so that a batch may be sent
twice (its batch id tells) but is never skipped.
"""

from __future__ import annotations

import fcntl
import json
import os
import struct
import threading
import zlib
from collections import deque
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

HEAD = struct.Struct("<II")
NAME = 8  # bytes of the file id at the start of a file


@dataclass(frozen=True)
class PendingBatch:
    """The oldest batch, and the read position after it."""

    data: bytes
    place: tuple[bytes, int]


class SpoolBusy(Exception):
    """Another agent uses this directory."""


class Queue(Protocol):
    """Interface of a spool. `dropped` counts batches that exceeded the limit."""

    dropped: int

    def append(self, data: bytes) -> None: ...
    def peek(self) -> PendingBatch | None: ...
    def advance(self, waiting: PendingBatch) -> None: ...
    def __len__(self) -> int: ...


class MemorySpool:
    """In-memory spool for an agent without a spool directory. `limit` is in bytes."""

    def __init__(self, limit: int):
        self._limit, self._size, self._serial, self.dropped = limit, 0, 0, 0
        self._waiting: deque[PendingBatch] = deque()
        self._lock = threading.Lock()

    def append(self, data: bytes) -> None:
        with self._lock:
            packed, self._serial = zlib.compress(data, 1), self._serial + 1
            self._waiting.append(PendingBatch(packed, (b"", self._serial)))
            self._size += len(packed)
            while self._size > self._limit and len(self._waiting) > 1:
                self._size -= len(self._waiting.popleft().data)
                self.dropped += 1

    def peek(self) -> PendingBatch | None:
        with self._lock:
            first = self._waiting[0] if self._waiting else None
        return PendingBatch(zlib.decompress(first.data), first.place) if first else None

    def advance(self, waiting: PendingBatch) -> None:
        with self._lock:
            if self._waiting and self._waiting[0].place == waiting.place:
                self._size -= len(self._waiting.popleft().data)

    def __len__(self) -> int:
        return len(self._waiting)


class Spool:
    """Ring buffer on disk in `folder`; `limit` is in bytes.

    Raises OSError, and SpoolBusy if another agent uses the directory.
    """

    def __init__(self, folder: Path, limit: int):
        folder.mkdir(parents=True, exist_ok=True)
        self._old, self._new, self._place = folder / "old", folder / "new", folder / "place"
        self._half, self._lock, self.dropped = limit // 2, threading.Lock(), 0
        self._hold = os.open(folder / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(self._hold, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            os.close(self._hold)
            raise SpoolBusy(f"another agent uses the spool {folder}") from error
        if not self._new.exists() or self._new.stat().st_size < NAME:
            start_file(self._new)
        self._at = self._read_place()
        self._count = self._recover(self._old, self._at) if self._old.exists() else 0
        self._count += self._recover(self._new, NAME if self._old.exists() else self._at)

    def close(self) -> None:
        os.close(self._hold)

    def __len__(self) -> int:
        return self._count

    def append(self, data: bytes) -> None:
        """Append a batch. Raises OSError, such as for a full disk, without a partial write."""
        packed = zlib.compress(data, 1)
        with self._lock:
            if self._new.stat().st_size + len(packed) > self._half:
                self._rotate()
            with self._new.open("ab") as file:
                size = file.tell()
                try:
                    file.write(HEAD.pack(len(packed), zlib.crc32(packed)) + packed)
                    file.flush()
                except OSError:
                    os.ftruncate(file.fileno(), size)
                    raise
            self._count += 1

    def peek(self) -> PendingBatch | None:
        """Return the oldest batch that was not consumed, or None."""
        with self._lock:
            while self._count:
                path = self._oldest()
                found = read_record(path, self._at)
                if found is not None:
                    return PendingBatch(zlib.decompress(found[0]), (name_of(path), found[1]))
                self._give_up(path)
            return None

    def advance(self, waiting: PendingBatch) -> None:
        """Consume a batch. Does nothing if the ring has dropped it in the meantime."""
        with self._lock:
            path, (name, after) = self._oldest(), waiting.place
            if name_of(path) != name or after <= self._at:
                return
            self._count -= 1
            self._move_to(path, after)

    def _oldest(self) -> Path:
        return self._old if self._old.exists() else self._new

    def _move_to(self, path: Path, at: int) -> None:
        if at < path.stat().st_size:
            self._at = at
        else:
            self._at = NAME
            path.unlink() if path == self._old else start_file(path)
        self._write_place()

    def _rotate(self) -> None:
        if self._old.exists():
            lost = count_records(self._old, self._at)
            self.dropped, self._count, self._at = self.dropped + lost, self._count - lost, NAME
        self._new.replace(self._old)
        start_file(self._new)
        self._write_place()

    def _give_up(self, path: Path) -> None:
        """Drop the rest of a file after a record with a wrong CRC."""
        lost = max(1, count_records(path, self._at))
        self.dropped, self._count = self.dropped + lost, max(0, self._count - lost)
        self._move_to(path, path.stat().st_size)

    def _recover(self, path: Path, at: int) -> int:
        """Truncate a torn record and return the number of complete records after `at`."""
        end = at
        while (after := next_record(path, end)) is not None:
            end = after
        if end < path.stat().st_size:
            os.truncate(path, end)
        return count_records(path, at)

    def _read_place(self) -> int:
        try:
            place, path = json.loads(self._place.read_text()), self._oldest()
            is_here = (
                place["file"] == name_of(path).hex() and NAME <= place["at"] <= path.stat().st_size
            )
            return int(place["at"]) if is_here else NAME
        except (OSError, ValueError, KeyError, TypeError):
            return NAME

    def _write_place(self) -> None:
        draft = self._place.with_suffix(".draft")
        draft.write_text(json.dumps({"file": name_of(self._oldest()).hex(), "at": self._at}))
        draft.replace(self._place)


def start_file(path: Path) -> None:
    """Truncate a file and write a new random id."""
    path.write_bytes(os.urandom(NAME))
    path.chmod(0o600)


def name_of(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(NAME)


def read_record(path: Path, at: int) -> tuple[bytes, int] | None:
    """Return the packed record at an offset and the next offset, or None if missing or corrupt."""
    with path.open("rb") as file:
        file.seek(at)
        head = file.read(HEAD.size)
        if len(head) < HEAD.size:
            return None
        length, crc = HEAD.unpack(head)
        packed = file.read(length)
    return (
        (packed, at + HEAD.size + length)
        if zlib.crc32(packed) == crc and len(packed) == length
        else None
    )


def next_record(path: Path, at: int) -> int | None:
    """Return the offset after a record, or None if it is incomplete. Reads only its header."""
    with path.open("rb") as file:
        file.seek(at)
        head = file.read(HEAD.size)
    if len(head) < HEAD.size:
        return None
    after = at + HEAD.size + int(HEAD.unpack(head)[0])
    return after if after <= path.stat().st_size else None


def count_records(path: Path, at: int) -> int:
    count = 0
    while (after := next_record(path, at)) is not None:
        at, count = after, count + 1
    return count
