"""Read scalars from TensorBoard event files (TFRecord of protocol buffers), as they grow.

The `tensorboard` package brings numpy, grpcio and a web server for this (60 MiB); only five
messages with a dozen fields are needed: Event, Summary, Summary.Value, SummaryMetadata, TensorProto
of https://github.com/tensorflow/tensorflow/tree/master/tensorflow/core. Pure: no Django.

A record is taken if both of its checksums are right. What is not a record is skipped up to the next
one, and reported as a gap. At the end of a file it may still be arriving (a page of NFS reads as
zeros until then), so it is left for the next call.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import PurePosixPath
from typing import NamedTuple, Protocol

import google_crc32c

LONGEST = 8 << 20  # bytes of one record that is read; images and graphs may be longer
MOST = 10_000  # scalars of one record, and of one call about twice as many
MOST_READ = 64 << 20  # bytes of one call; those behind damage are read more than once
_LAST = 253_402_300_799  # Unix seconds; the end of the year 9999
_MOST_STEP = 2**61  # the differences of steps fit into 64 bits
_HEADER = struct.Struct("<QI")
_SCAN = 4 << 20  # bytes that are searched at once for the next record
# The first 8 bytes of a record, its length, as far as records are read: 1 to 2**24 - 1.
_LENGTH = re.compile(rb"(?=(?:[^\0]..|.[^\0].|..[^\0])\0{5})", re.DOTALL)
_FOOTER = 4  # bytes: the checksum of the data
_FLOAT, _DOUBLE, _INT32, _INT64 = 1, 2, 3, 9  # TensorFlow's DataType
_PACKED = {5: "f", 6: "d"}  # TensorProto.float_val and double_val
_CONTENT = {_FLOAT: "f", _DOUBLE: "d", _INT32: "i", _INT64: "q"}


NAME = re.compile(r"events\.out\.tfevents\.")
# Folders whose names say nothing about the metrics in them: roots, times and versions.
_PLAIN = re.compile(
    r"runs|logs|tb|tb_logs|tensorboard|lightning_logs|events|fit|default|version_\d+"
    r"|\d{4}-?\d\d-?\d\d[T_-]?[\d_:-]*|[A-Z][a-z]{2}\d\d_\d\d-\d\d-\d\d_.*"
)


class Scalar(NamedTuple):
    """A value of a tag; `at_ms` is Unix milliseconds."""

    tag: str
    step: int
    at_ms: int
    value: float


class Gap(NamedTuple):
    """A range of bytes without a record."""

    start: int
    end: int


@dataclass
class Piece:
    """What a call has read: scalars, the offset behind them, and the gaps between them."""

    offset: int
    scalars: list[Scalar] = field(default_factory=list)
    gaps: list[Gap] = field(default_factory=list)
    bytes_read: int = 0


class BinaryFile(Protocol):
    """A binary file to read from."""

    def seek(self, offset: int, whence: int = 0, /) -> int: ...

    def read(self, size: int, /) -> bytes: ...


def metric_name(path: str, tag: str) -> str:
    """Return the name of a metric: its tag below the folders of the file that mean something."""
    folders = [name for name in PurePosixPath(path).parts[:-1] if not _PLAIN.fullmatch(name)]
    return "/".join([*folders, tag])[:250]


def read(file: BinaryFile, offset: int, budget: int) -> Piece:
    """Return the scalars of complete records from an offset on.

    Goes on for about `budget` bytes, fewer where there is much damage. What may still be written is
    left for the next call. A record whose time, step or tag cannot be stored is skipped, as is one
    that is longer than LONGEST.
    """
    piece = Piece(offset)
    end = offset + budget
    while piece.offset < end and len(piece.scalars) < MOST and piece.bytes_read < MOST_READ:
        after = _next(file, piece)
        if after is None:
            break
        piece.offset = after
    return piece


def _next(file: BinaryFile, piece: Piece) -> int | None:
    """Read one record, or skip to the next one; return the offset behind, None to come back."""
    at, after = piece.offset, None
    file.seek(at)
    header = file.read(_HEADER.size)
    if len(header) < _HEADER.size:
        return None
    size, checksum = _HEADER.unpack(header)
    if checksum == _masked_crc(header[:8]):
        after = at + _HEADER.size + size + _FOOTER
        if size > LONGEST:
            return after if file.seek(0, 2) >= after else None
        data = file.read(size + _FOOTER)
        piece.bytes_read += len(data)
        if len(data) < size + _FOOTER:
            return None
        if int.from_bytes(data[size:], "little") == _masked_crc(data[:size]):
            piece.scalars.extend(_scalars(memoryview(data)[:size]))
            return after
    found = _after_damage(file, at, after)
    piece.bytes_read += _SCAN
    if found is not None:
        piece.gaps.append(Gap(at, found))
    return found


def _after_damage(file: BinaryFile, at: int, expected: int | None) -> int | None:
    """Return where the next record begins, or where to search on; None at the end of the file."""
    if expected is not None:
        file.seek(expected)
        if _is_header(file.read(_HEADER.size)):
            return expected
    file.seek(at + 1)
    data = file.read(_SCAN)
    for match in _LENGTH.finditer(data):
        if _is_header(data[match.start() : match.start() + _HEADER.size]):
            return at + 1 + match.start()
    return at + 1 + len(data) - _HEADER.size if len(data) == _SCAN else None


def _is_header(data: bytes) -> bool:
    if len(data) < _HEADER.size:
        return False
    size, checksum = _HEADER.unpack(data)
    return bool(size) and checksum == _masked_crc(data[:8])


def _scalars(event: memoryview) -> list[Scalar]:
    """Return the scalars of an Event; none if it cannot be read."""
    at, step = 0.0, 0
    values: list[int | memoryview] = []
    try:
        for number, value in _fields(event):
            if number == 1 and isinstance(value, memoryview):
                (at,) = struct.unpack("<d", value)
            elif number == 2 and isinstance(value, int):
                step = value - (1 << 64) if value >> 63 else value
            elif number == 5 and isinstance(value, memoryview):
                inside = (inner for kind, inner in _fields(value) if kind == 1)
                values += islice(inside, MOST - len(values))
        if not (0 <= at <= _LAST and abs(step) < _MOST_STEP):
            return []
        read_values = [_value(v) for v in values if isinstance(v, memoryview)]
        return [Scalar(tag, step, round(at * 1000), n) for tag, n in filter(None, read_values)]
    except (struct.error, ValueError, IndexError, OverflowError):
        return []


def _value(data: memoryview) -> tuple[str, float] | None:
    """Return tag and number of a Summary.Value that is a scalar."""
    tag, number = "", None
    for kind, value in _fields(data):
        if not isinstance(value, memoryview):
            continue
        if kind == 1:
            tag = bytes(value).decode()
        elif kind == 2:
            (number,) = struct.unpack("<f", value)
        elif kind == 8:
            number = _number(value)
        elif kind == 9 and _plugin(value) not in {"", "scalars"}:
            return None
    return (tag, number) if tag and "\0" not in tag and number is not None else None


def _plugin(metadata: memoryview) -> str:
    for kind, value in _fields(metadata):
        if kind == 1 and isinstance(value, memoryview):
            for inner, name in _fields(value):
                if inner == 1 and isinstance(name, memoryview):
                    return bytes(name).decode()
    return ""


def _number(tensor: memoryview) -> float | None:
    """Return the number of a TensorProto with one element; None for any other."""
    kind, content = 0, b""
    for number, value in _fields(tensor):
        if number == 1 and isinstance(value, int):
            kind = value
        elif (
            number == 2 and isinstance(value, memoryview) and any(n == 2 for n, _ in _fields(value))
        ):
            return None  # it has dimensions
        elif number == 4 and isinstance(value, memoryview):
            content = bytes(value)
        elif code := _PACKED.get(number):
            size = struct.calcsize(code)
            return (
                float(struct.unpack(f"<{code}", value)[0])
                if isinstance(value, memoryview) and len(value) == size
                else None
            )
        elif number in {7, 10} and isinstance(value, int):  # int_val, int64_val
            return float(value - (1 << 64) if value >> 63 else value)
    code = _CONTENT.get(kind, "")
    if code and len(content) == struct.calcsize(f"<{code}"):
        return float(struct.unpack(f"<{code}", content)[0])
    return None


def _fields(data: memoryview) -> Iterator[tuple[int, int | memoryview]]:
    """Yield the number and value of each field of a protocol buffer message."""
    at = 0
    while at < len(data):
        key, at = _varint(data, at)
        kind = key & 7
        if kind == 0:
            value, at = _varint(data, at)
            yield key >> 3, value
            continue
        if kind == 2:
            size, at = _varint(data, at)
        elif kind in {1, 5}:
            size = 8 if kind == 1 else 4
        else:
            raise ValueError("unknown wire type")
        if at + size > len(data):
            raise ValueError("a field is cut")
        yield key >> 3, data[at : at + size]
        at += size


def _varint(data: memoryview, at: int) -> tuple[int, int]:
    value = 0
    for shift in range(0, 70, 7):
        byte = data[at]
        value |= (byte & 0x7F) << shift
        at += 1
        if byte < 0x80:
            return value, at
    raise ValueError("a number is too long")


def _masked_crc(data: bytes) -> int:
    """Return TFRecord's checksum."""
    crc = google_crc32c.value(data)
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF
