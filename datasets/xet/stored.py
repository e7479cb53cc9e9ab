"""Where the chunks of xorbs are stored."""

from __future__ import annotations

import struct
from collections.abc import Collection, Iterator
from itertools import accumulate
from pathlib import Path
from typing import NamedTuple

from datasets.models import Repository, Xorb
from datasets.xet.hashes import Chunk
from portal.blobs.files import pieces_of
from portal.blobs.store import file_store
from portal.core.errors import InvalidInput
from portal.core.messages import Message

_CHUNK = struct.Struct("<32sI")
_PLACE = struct.Struct("<IIQ32s")


class StoredChunks(NamedTuple):
    """Chunks `start` to `end` of a xorb are at this offset of a file."""

    start: int
    end: int
    offset: int  # bytes
    sha256: bytes


class StoredXorb:
    """A xorb of a repository, and how to read its chunks."""

    def __init__(self, row: Xorb):
        self.row = row
        self.chunks = [Chunk(*parts) for parts in _CHUNK.iter_unpack(bytes(row.chunks))]
        self.places = [StoredChunks(*parts) for parts in _PLACE.iter_unpack(bytes(row.places))]
        self.offsets = [0, *accumulate(chunk.size for chunk in self.chunks)]
        self._is_placed = bytearray(len(self.chunks))
        for place in self.places:
            self._mark(place)

    @property
    def is_stored(self) -> bool:
        """Return whether all chunks can be read."""
        return self.is_aside or self.is_placed(0, len(self.chunks))

    @property
    def is_aside(self) -> bool:
        """Return whether all chunks are put aside: what was written may be lost with the power."""
        try:
            return path_of(self.row).stat().st_size == self.offsets[-1]
        except FileNotFoundError:
            return False

    def pack(self) -> None:
        """Write chunks and places to the row."""
        self.row.chunks = b"".join(_CHUNK.pack(*chunk) for chunk in self.chunks)
        self.row.places = b"".join(_PLACE.pack(*place) for place in self.places)

    def read(self, start: int, end: int) -> Iterator[bytes]:
        """Yield the bytes of chunks. Raises InvalidInput if they are not stored any more."""
        if self.is_aside:
            file = path_of(self.row).open("rb")
            yield from pieces_of(file, self.offsets[start], self.offsets[end])
            return
        store = file_store()
        while start < end:
            place = next((p for p in self.places if p.start <= start < p.end), None)
            if place is None:
                raise unknown(self.row.hash)
            upto = min(end, place.end)
            first = place.offset + self.offsets[start] - self.offsets[place.start]
            size = self.offsets[upto] - self.offsets[start]
            yield from store.read(self.row.org_id, place.sha256.hex(), first, first + size)
            start = upto

    def is_placed(self, start: int, end: int) -> bool:
        """Return whether files have all of these chunks."""
        return 0 not in self._is_placed[start:end]

    def add(self, place: StoredChunks) -> None:
        """Note where chunks are."""
        self.places.append(place)
        self._mark(place)

    def _mark(self, place: StoredChunks) -> None:
        self._is_placed[place.start : place.end] = b"\1" * (place.end - place.start)


def forget(repository: Repository, digests: Collection[str]) -> None:
    """Delete the xorbs whose chunks were in deleted contents of a locked repository."""
    gone = {bytes.fromhex(sha256) for sha256 in digests}
    for row in Xorb.objects.filter(repository=repository).iterator(chunk_size=100):
        if any(place.sha256 in gone for place in StoredXorb(row).places):
            row.delete()


def name_of(row: Xorb) -> str:
    """Return the name under which the chunks are put aside."""
    return f"xorb-{row.repository_id.hex}-{row.hash}"


def path_of(row: Xorb) -> Path:
    """Return the path of the chunks that are put aside, which may not exist."""
    return file_store().aside(row.org_id, name_of(row))


def unknown(name: str) -> InvalidInput:
    """Return the error for chunks that are not stored."""
    return InvalidInput(
        Message(
            "The shard refers to chunks of {xorb} that are not stored here. Delete the cache of "
            "the client, and upload again.",
            xorb=name[:16],
        ),
        code="no_chunk",
    )
