"""Read serialized xorbs: chunks, each with a header of 8 bytes, perhaps compressed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import lz4.frame

from datasets.xet.hashes import Chunk, chunk_hash, xorb_hash
from portal.core.errors import InvalidInput
from portal.core.messages import Message

LARGEST = 68 << 20  # bytes of a serialized xorb: 64 MiB of chunks with headers and a footer
LARGEST_CHUNK = 128 << 10  # bytes
MOST_CHUNKS = 8 << 10
_HEADER = 8  # bytes before each chunk
_FOOTER = b"XETBLOB"  # begins what follows the chunks
_PLAIN, _LZ4, _GROUPED_LZ4 = range(3)


def read_xorb(body: Iterable[bytes], expected: bytes, chunks: list[Chunk]) -> Iterator[bytes]:
    """Yield the bytes of each chunk of a xorb as they come, and note the chunk in `chunks`.

    Raises InvalidInput, at the end if the xorb does not have the expected hash.
    """
    rest, is_ended = b"", False
    for data in body:
        if is_ended:  # only the footer comes
            continue
        rest += data
        at = 0
        while (end := _end_of_chunk(rest, at)) is not None:
            if len(chunks) >= MOST_CHUNKS:
                raise _malformed()
            piece = _read_chunk(rest, at, end)
            chunks.append(Chunk(chunk_hash(piece), len(piece)))
            yield piece
            at = end
        rest = rest[at:]
        is_ended = rest.startswith(_FOOTER)
    if rest and not is_ended:
        raise _malformed()
    if not chunks or xorb_hash(chunks) != expected:
        raise InvalidInput(
            Message("The xorb does not have the hash that it was sent under."), code="checksum"
        )


def _end_of_chunk(data: bytes, at: int) -> int | None:
    """Return the offset behind the chunk at an offset, None if more must come or it is the footer.

    Raises InvalidInput.
    """
    start = at + _HEADER
    if len(data) < start or data.startswith(_FOOTER, at):
        return None
    packed = int.from_bytes(data[at + 1 : at + 4], "little")
    if data[at] != 0 or packed > 2 * LARGEST_CHUNK:
        raise _malformed()
    end = start + packed
    return end if end <= len(data) else None


def _read_chunk(data: bytes, at: int, end: int) -> bytes:
    """Return the bytes of the chunk at an offset."""
    start = at + _HEADER
    size = int.from_bytes(data[at + 5 : start], "little")
    if not 0 < size <= LARGEST_CHUNK:
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
    return _regrouped(piece) if scheme == _GROUPED_LZ4 else piece


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
