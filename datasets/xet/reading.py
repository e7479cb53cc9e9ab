"""Serve stored files as Xet: clients read so what `paths-info` gives them a hash of.

Files are kept whole, so a file is presented as segments, each a xorb of plain chunks of one size. The
hash of a file is its SHA-256 here: clients of Xet read a file by the hash that they were told, and
do not compute it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Any, NamedTuple
from uuid import UUID

from django.core import signing

from datasets.models import Content, Repository
from portal.blobs.store import file_store
from portal.core.errors import NotFound, NotPermitted
from portal.core.messages import Message

CHUNK = 64 << 10  # bytes
SEGMENT = 16 << 20  # bytes; a multiple of CHUNK
HEADER = 8  # bytes before a chunk
VALID_SECONDS = 3600
MOST_SEGMENTS = 256  # in an answer; clients ask for the rest
_SALT = "datasets.xet.reading"


class ChunkSpan(NamedTuple):
    """The chunks `first` to `end` (exclusive) of a stored file, counted from its begin."""

    org_id: UUID
    sha256: str
    size: int  # bytes of the file
    first: int
    end: int

    @property
    def start(self) -> int:
        """Return the offset of its first byte in the file."""
        return self.first * CHUNK

    @property
    def length(self) -> int:
        """Return its bytes."""
        return min(self.end * CHUNK, self.size) - self.start

    @property
    def packed(self) -> int:
        """Return its bytes with headers."""
        return self.length + HEADER * (self.end - self.first)

    def pieces(self) -> Iterator[bytes]:
        """Yield its chunks with their headers. Raises NotFound at once."""
        file = file_store().open(self.org_id, self.sha256)

        def read() -> Iterator[bytes]:
            with file:
                file.seek(self.start)
                left = self.length
                while left:
                    data = file.read(min(CHUNK, left))
                    if not data:
                        return
                    left -= len(data)
                    size = len(data).to_bytes(3, "little")
                    yield b"\0" + size + b"\0" + size + data

        return read()


def size_of(repository: Repository, sha256: str) -> int:
    """Return the size of a file of any version of a repository. Raises NotFound."""
    row = Content.objects.filter(repository=repository, sha256=sha256, is_used=True).first()
    if row is None:
        raise NotFound(Message("There is no such file."), code="no_file")
    return int(row.size)


def reconstruction(
    repository: Repository, sha256: str, start: int, end: int, base: str
) -> dict[str, Any]:
    """Return how to read the bytes `start` to `end` (exclusive) of a file.

    `base` is the address that a signature is appended to.
    """
    size = size_of(repository, sha256)
    terms, fetches = [], {}
    first, last = start // CHUNK, -(-min(end, size) // CHUNK)
    each = SEGMENT // CHUNK
    for number in range(first // each, min(-(-last // each), first // each + MOST_SEGMENTS)):
        zero = number * each
        part = ChunkSpan(repository.org_id, sha256, size, max(first, zero), min(last, zero + each))
        chunks = {"start": part.first - zero, "end": part.end - zero}
        name = hashlib.sha256(f"{sha256}:{number}".encode()).hexdigest()
        offset = (part.first - zero) * (CHUNK + HEADER)
        terms.append({"hash": name, "unpacked_length": part.length, "range": chunks})
        fetches[name] = [
            {
                "range": chunks,
                "url": base + signed(part),
                "url_range": {"start": offset, "end": offset + part.packed - 1},
            }
        ]
    return {
        "offset_into_first_range": start - first * CHUNK,
        "terms": terms,
        "fetch_info": fetches,
    }


def signed(part: ChunkSpan) -> str:
    """Return a part as the end of an address, which needs no token."""
    return signing.dumps([str(part.org_id), *part[1:]], salt=_SALT)


def part_of(signature: str) -> ChunkSpan:
    """Return the part of an address. Raises NotPermitted."""
    try:
        org, *numbers = signing.loads(signature, salt=_SALT, max_age=VALID_SECONDS)
    except signing.BadSignature as error:
        raise NotPermitted(
            Message("This address is not valid any more. Start the download again.")
        ) from error
    return ChunkSpan(UUID(org), *numbers)
