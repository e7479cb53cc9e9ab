"""Read scalars from TensorBoard event files (TFRecord of protocol buffers), as they grow.

The `tensorboard` package brings numpy, grpcio and a web server for this (60 MiB); only five
messages with a dozen fields are needed: Event, Summary, Summary.Value, SummaryMetadata, TensorProto
of https://github.com/tensorflow/tensorflow/tree/master/tensorflow/core. Pure: no Django.

The portal and the client, which is a distribution of its own, have the same copy of this module.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator
from itertools import islice
from pathlib import PurePosixPath
from typing import BinaryIO, NamedTuple

LONGEST = 8 << 20  # bytes of one record that is read; images and graphs may be longer
MOST = 10_000  # scalars of one record, and of one call about twice as many
_LAST = 253_402_300_799  # Unix seconds; the end of the year 9999
_MOST_STEP = 2**61  # the differences of steps fit into 64 bits
_HEADER = struct.Struct("<QI")
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


class Corrupt(ValueError):
    """The file is not an event file, or damaged."""


def metric_name(path: str, tag: str) -> str:
    """Return the name of a metric: its tag below the folders of the file that mean something."""
    folders = [name for name in PurePosixPath(path).parts[:-1] if not _PLAIN.fullmatch(name)]
    return "/".join([*folders, tag])[:250]


def read(file: BinaryIO, offset: int, budget: int) -> tuple[list[Scalar], int]:
    """Return the scalars of complete records from an offset on, and the offset behind them.

    Reads about `budget` bytes. A record that is still being written is left for the next call;
    one whose time, step or tag cannot be stored is skipped.
    Raises Corrupt.
    """
    found: list[Scalar] = []
    file.seek(offset)
    end = offset + budget
    while (
        offset < end
        and len(found) < MOST
        and len(header := file.read(_HEADER.size)) == _HEADER.size
    ):
        size, checksum = _HEADER.unpack(header)
        if checksum != _masked_crc(header[:8]):
            raise Corrupt(f"no record at byte {offset}")
        whole = _HEADER.size + size + _FOOTER
        if size > LONGEST:
            if file.seek(0, 2) < offset + whole:
                break
            file.seek(offset + whole)
        else:
            data = file.read(size + _FOOTER)
            if len(data) < size + _FOOTER:
                break
            found += _scalars(memoryview(data)[:size])
        offset += whole
    return found, offset


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


def _table() -> list[int]:
    rows = []
    for n in range(256):
        for _ in range(8):
            n = n >> 1 ^ 0x82F63B78 if n & 1 else n >> 1
        rows.append(n)
    return rows


_CRC32C = _table()


def _masked_crc(data: bytes) -> int:
    """Return TFRecord's checksum."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc = _CRC32C[(crc ^ byte) & 0xFF] ^ crc >> 8
    crc ^= 0xFFFFFFFF
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF
