"""Read and write shards: which chunks files and xorbs consist of."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from datasets.xet.hashes import Chunk
from portal.core import clock
from portal.core.errors import InvalidInput
from portal.core.messages import Message

LARGEST = 128 << 20  # bytes; clients aim at 64 MiB
_TAG = b"HFRepoMetaData\0" + bytes.fromhex("556967456a7b815783a5bdd95ccdd14aa9")
_HEADER = struct.Struct("<32sQQ")
_ENTRY = struct.Struct("<32sIIII")  # each entry: a hash and four numbers
_FOOTER = struct.Struct("<9Q32sQQ6QQQQQ")
_LAST = b"\xff" * 32  # the hash of the entry that ends a section
_HAS_VERIFICATION, _HAS_METADATA = 1 << 31, 1 << 30
_VALID_SECONDS = 3600  # how long clients keep what `write_shard` returns


class Segment(NamedTuple):
    """Chunks `start` to `end` of a xorb. `proof` is their range hash as the client sent it."""

    xorb: bytes
    start: int
    end: int
    size: int  # bytes
    proof: bytes


class ShardFile(NamedTuple):
    """A file of a shard: its hash, its SHA-256 in hex, and its segments in order."""

    hash: bytes
    sha256: str
    segments: list[Segment]

    @property
    def size(self) -> int:
        """Return its bytes, as the client says."""
        return sum(segment.size for segment in self.segments)


def read_shard(data: bytes) -> Iterator[ShardFile]:
    """Yield the files of a shard. Raises InvalidInput, also while it is iterated."""
    if len(data) < _HEADER.size or _HEADER.unpack_from(data)[:2] != (_TAG, 2):
        raise _malformed()
    at = _HEADER.size
    while True:
        name, flags, count, _unused, _more = _entry(data, at)
        at += _ENTRY.size
        if name == _LAST:
            return
        if not flags & _HAS_VERIFICATION or not flags & _HAS_METADATA:
            raise InvalidInput(
                Message("Each file of a shard needs verification and its SHA-256."),
                code="malformed",
            )
        if at + (2 * count + 1) * _ENTRY.size > len(data):
            raise _malformed()
        parts = [_ENTRY.unpack_from(data, at + n * _ENTRY.size) for n in range(2 * count + 1)]
        at += len(parts) * _ENTRY.size
        segments = [
            Segment(xorb, start, end, size, proof[0])
            for (xorb, _flags, size, start, end), proof in zip(
                parts[:count], parts[count : 2 * count], strict=True
            )
        ]
        yield ShardFile(name, _sha256(parts[-1][0]), segments)


def write_shard(xorbs: Iterable[tuple[bytes, Sequence[Chunk]]]) -> bytes:
    """Return a shard that tells a client of xorbs it may refer to."""
    parts = [_HEADER.pack(_TAG, 2, _FOOTER.size), _ENTRY.pack(_LAST, 0, 0, 0, 0)]
    start = _HEADER.size + _ENTRY.size
    stored = 0
    for name, chunks in xorbs:
        size = sum(chunk.size for chunk in chunks)
        stored += size
        parts.append(_ENTRY.pack(name, 0, len(chunks), size, size))
        offset = 0
        for chunk in chunks:
            parts.append(_ENTRY.pack(chunk.hash, offset, chunk.size, 0, 0))
            offset += chunk.size
    parts.append(_ENTRY.pack(_LAST, 0, 0, 0, 0))
    end = start + (sum(map(len, parts[2:])))
    now = int(clock.now().timestamp())
    # version, offsets of files and xorbs, three empty lookup tables (offset, entries)
    numbers = (1, _HEADER.size, start, end, 0, end, 0, end, 0)
    times = (now, now + _VALID_SECONDS)
    footer = (*numbers, bytes(32), *times, *(0,) * 6, stored, stored, stored, end)
    return b"".join([*parts, _FOOTER.pack(*footer)])


def _entry(data: bytes, at: int) -> tuple[bytes, int, int, int, int]:
    if at + _ENTRY.size > len(data):
        raise _malformed()
    found: tuple[bytes, int, int, int, int] = _ENTRY.unpack_from(data, at)
    return found


def _sha256(value: bytes) -> str:
    """Return a SHA-256 in hex; clients store it as four numbers that were read from its text."""
    return b"".join(value[start : start + 8][::-1] for start in range(0, 32, 8)).hex()


def _malformed() -> InvalidInput:
    return InvalidInput(Message("The body is not a shard."), code="malformed")
