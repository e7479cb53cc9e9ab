"""Read serialized xorbs: chunks, each with a header of 8 bytes, perhaps compressed."""

from __future__ import annotations

from collections.abc import Iterator

import lz4.frame

from datasets.xet.hashes import Chunk, chunk_hash, xorb_hash
from portal.core.errors import InvalidInput
from portal.core.messages import Message

LARGEST = 68 << 20  # bytes of a serialized xorb: 64 MiB of chunks with headers and a footer
LARGEST_CHUNK = 128 << 10  # bytes
MOST_CHUNKS = 8 << 10
_FOOTER = b"XETBLOB"  # begins what follows the chunks
_PLAIN, _LZ4, _GROUPED_LZ4 = range(3)


def read_xorb(data: bytes, expected: bytes) -> tuple[list[Chunk], Iterator[bytes]]:
    """Return the chunks of a xorb and their bytes.

    All hashes were verified when this returns. Raises InvalidInput.
    """
    chunks: list[Chunk] = []
    pieces: list[bytes] = []
    at = 0
    while at < len(data) and data[at : at + 7] != _FOOTER:
        if len(chunks) >= MOST_CHUNKS:
            raise _malformed()
        piece, at = _read_chunk(data, at)
        chunks.append(Chunk(chunk_hash(piece), len(piece)))
        pieces.append(piece)
    if not chunks or xorb_hash(chunks) != expected:
        raise InvalidInput(
            Message("The xorb does not have the hash that it was sent under."), code="checksum"
        )
    return chunks, iter(pieces)


def _read_chunk(data: bytes, at: int) -> tuple[bytes, int]:
    """Return the bytes of the chunk at an offset, and the offset behind it."""
    start = at + 8
    packed = int.from_bytes(data[at + 1 : at + 4], "little")
    size = int.from_bytes(data[at + 5 : start], "little")
    end = start + packed
    if data[at] != 0 or not 0 < size <= LARGEST_CHUNK or packed > 2 * LARGEST_CHUNK:
        raise _malformed()
    if end > len(data):
        raise _malformed()
    scheme, body = data[at + 4], data[start:end]
    if scheme == _PLAIN:
        piece = body
    elif scheme in {_LZ4, _GROUPED_LZ4}:
        piece = _decompressed(body, size)
    else:
        raise _malformed()
    if len(piece) != size:
        raise _malformed()
    return (_regrouped(piece) if scheme == _GROUPED_LZ4 else piece), end


def _decompressed(body: bytes, size: int) -> bytes:
    """Return the content of an LZ4 frame, at most one byte more than `size`."""
    reader = lz4.frame.LZ4FrameDecompressor()
    try:
        return bytes(reader.decompress(body, max_length=size + 1))
    except RuntimeError as error:
        raise _malformed() from error


def _regrouped(piece: bytes) -> bytes:
    """Return bytes whose every fourth was stored together."""
    found = bytearray(len(piece))
    start = 0
    for number in range(4):
        size = len(range(number, len(piece), 4))
        found[number::4] = piece[start : start + size]
        start += size
    return bytes(found)


def _malformed() -> InvalidInput:
    return InvalidInput(Message("The body is not a xorb."), code="malformed")
