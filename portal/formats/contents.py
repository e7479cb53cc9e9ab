"""Recognise what a file holds by its first bytes, and open what is compressed.

Loaders such as `joblib.load` recognise compression by content, so that a name says nothing.
"""

from __future__ import annotations

import bz2
import gzip
import lzma
import tempfile
import zlib
from collections.abc import Callable
from typing import IO, Protocol

import lz4.frame
import zstandard

from portal.formats.reading import Damaged

LARGEST_CONTENT = 64 << 20  # bytes that are unpacked of one file
IN_MEMORY = 4 << 20  # bytes of those that stay in memory
START = 512  # bytes that `is_tar` needs
TEXT = 64 << 10  # bytes that decide whether a file is text
_PIECE = 1 << 18
# Media and tables, whose readers run no code of the file
_DATA = (
    b"\x89PNG\r\n\x1a\n",
    b"\xff\xd8\xff",
    b"GIF87a",
    b"GIF89a",
    b"PAR1",
    b"ARROW1",
    b"%PDF-",
    b"OggS",
    b"fLaC",
    b"ID3",
)


class Reader(Protocol):
    """A stream of what was compressed."""

    def read(self, size: int, /) -> bytes: ...


class _Zlib:
    def __init__(self, file: IO[bytes]):
        self._file, self._inflater = file, zlib.decompressobj()

    def read(self, size: int, /) -> bytes:
        while True:
            inflater = self._inflater
            data = inflater.unused_data or inflater.unconsumed_tail or self._file.read(_PIECE)
            if inflater.eof and data:  # joblib reads one stream after the other
                inflater = self._inflater = zlib.decompressobj()
            elif not data:
                if inflater.eof:
                    return b""
                raise EOFError
            if found := inflater.decompress(data, size):
                return found


def _zstd(file: IO[bytes]) -> Reader:
    return zstandard.ZstdDecompressor(max_window_size=128 << 20).stream_reader(  # type: ignore[return-value]
        file, read_across_frames=True
    )


_COMPRESSED: tuple[tuple[tuple[bytes, ...], Callable[[IO[bytes]], Reader]], ...] = (
    ((b"\x1f\x8b",), gzip.open),
    ((b"BZh",), bz2.open),
    ((b"\xfd7zXZ\0", b"\x5d\0\0"), lzma.open),
    ((b"\x04\x22\x4d\x18",), lz4.frame.open),
    ((b"\x28\xb5\x2f\xfd",), _zstd),
    ((b"\x78\x01", b"\x78\x5e", b"\x78\x9c", b"\x78\xda"), _Zlib),
)


def is_compressed(start: bytes) -> bool:
    """Return whether a file that starts so is compressed as a whole."""
    return _opener(start) is not None


def is_tar(start: bytes) -> bool:
    """Return whether a file that starts so is a tar archive; the oldest ones have only a checksum."""
    digits = start[148:156].strip(b" \0")
    if len(start) < START or not digits or digits.strip(b"01234567"):
        return False
    return int(digits, 8) == sum(start[:148]) + 8 * 32 + sum(start[156:START])


def is_data(start: bytes) -> bool:
    """Return whether a file that starts so is of a format whose readers run no code."""
    return start.startswith(_DATA) or (start.startswith(b"RIFF") and start[8:12] != b"")


def is_text(data: bytes) -> bool:
    """Return whether the beginning of a file is text in UTF-8."""
    if b"\0" in data:
        return False
    try:
        data.decode()
    except UnicodeDecodeError as error:
        return error.start >= len(data) - 4 and len(data) > 4
    return True


def unpacked(file: IO[bytes], start: bytes) -> tuple[IO[bytes], int]:
    """Return the content of a compressed file, and its size. Raises Damaged."""
    file.seek(0)
    opener = _opener(start)
    assert opener is not None
    try:
        return copied(opener(file))
    except (OSError, EOFError, zlib.error, lzma.LZMAError, zstandard.ZstdError, RuntimeError):
        raise Damaged("The compressed content is damaged.") from None


def copied(reader: Reader) -> tuple[IO[bytes], int]:
    """Return a temporary file of a stream, and its size. Raises Damaged if there is too much."""
    made, size = tempfile.SpooledTemporaryFile(IN_MEMORY), 0  # noqa: SIM115 — the caller closes it
    while data := reader.read(_PIECE):
        size += len(data)
        if size > LARGEST_CONTENT:
            made.close()
            raise Damaged("The compressed content is too large to be scanned.")
        made.write(data)
    made.seek(0)
    return made, size


def _opener(start: bytes) -> Callable[[IO[bytes]], Reader] | None:
    return next((opener for marks, opener in _COMPRESSED if start.startswith(marks)), None)
