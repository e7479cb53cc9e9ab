"""Points of series and their binary format. Pure functions.

A packed chunk has three columns, compressed together: times (Unix milliseconds) and steps as
differences, and values as differences of decimals where they have few digits, else as 64-bit floats
(including NaN and infinities). The bytes of each column are ordered by their significance. Chunks
before this format are compressed arrays of 64-bit numbers. A raw chunk is the byte RAW and then rows
in the order of their arrival, so that the database can append to it.
"""

from __future__ import annotations

import struct
import sys
import threading
from array import array
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import accumulate, chain, groupby, islice, pairwise
from math import copysign, gcd, isfinite, isnan, nan
from operator import eq, itemgetter, lt, sub
from typing import Annotated, Any, NamedTuple, TypedDict, TypeVar, cast

import zstandard

T = TypeVar("T")
NO_STEP = -(2**62)
RAW = b"\0"  # zstd's data begins with another byte
PACKED = b"\1"  # then exponent (or FLOATS) and divisor of the values, and compressed columns
FLOATS, MOST_DECIMALS, MOST_WHOLE = 255, 4, 2.0**53
_ROW = struct.Struct("<qqd")
_HEAD = struct.Struct("<BQ")
_VALUE = itemgetter(2)  # of a row


class Point(NamedTuple):
    """One measurement. A tuple, because a request may bring thousands.

    `at_ms` is in Unix milliseconds; `step` is for training metrics; `unit` is for display (SI).
    """

    name: str
    labels: dict[str, str]
    at_ms: int
    value: float
    step: int | None = None
    unit: str = ""

    @property
    def key(self) -> str:
        """Return `name{label=value}`, which identifies the series in live topics."""
        return series_key(self.name, self.labels)

    def labelled(self, labels: dict[str, str]) -> Point:
        """Return this measurement with other labels."""
        return self._replace(labels=labels)


class SeriesShape(TypedDict):
    name: str
    labels: dict[str, str]
    unit: str
    times: Annotated[list[int], "Unix milliseconds."]
    values: Annotated[list[float | None], "null for gaps, NaN and infinities."]
    steps: Annotated[list[int], "Empty for a series without steps."]


@dataclass(frozen=True)
class SeriesData:
    """One series for display.

    `values` holds None for gaps, NaN and infinities, which JSON has not; `steps` is empty for series without steps.
    """

    name: str
    labels: dict[str, str]
    unit: str
    times: list[int]
    values: list[float | None]
    steps: list[int] = field(default_factory=list)

    def as_dict(self) -> SeriesShape:
        return cast(SeriesShape, dict(vars(self)))  # `asdict` would copy each point


def series_key(name: str, labels: Mapping[str, str]) -> str:
    """Return `name{label=value}` with sorted labels; the name if there are none."""
    inner = ",".join(f"{k}={v}" for k, v in sorted(labels.items()))
    return f"{name}{{{inner}}}" if inner else name


Row = tuple[int, int, float]  # (step or NO_STEP, Unix ms, value)


def pack(rows: Sequence[Row]) -> bytes:
    """Pack rows, in their order, into compressed columns."""
    steps, times, values = zip(*rows, strict=True) if rows else ((), (), ())
    exponent, whole = _as_decimals(values)
    divisor = gcd(*whole) or 1 if whole is not None else 1  # of bytes often 2^20
    try:
        places = _packed_places(steps, times)
        column = (
            array("d", values)
            if whole is None
            else _zigzag(_differences([n // divisor for n in whole]))
        )
    except OverflowError:  # differences of more than 63 bits
        return _pack_plainly(rows)
    body = codec(zstandard.ZstdCompressor).compress(places + _by_significance(column))
    return PACKED + _HEAD.pack(exponent, divisor) + body


@lru_cache(
    maxsize=2
)  # the series of a node have the same times, and are packed one after the other
def _packed_places(steps: Sequence[int], times: Sequence[int]) -> bytes:
    columns = (_zigzag(_differences(times)), _zigzag(_differences(steps)))
    return b"".join(map(_by_significance, columns))


def _pack_plainly(rows: Sequence[Row]) -> bytes:
    columns = (
        array("q", _differences([r[1] for r in rows])),
        array("d", [r[2] for r in rows]),
        array("q", _differences([r[0] for r in rows])),
    )
    return codec(zstandard.ZstdCompressor).compress(b"".join(_little(c).tobytes() for c in columns))


def _as_decimals(values: Sequence[float]) -> tuple[int, list[int] | None]:
    """Return an exponent and whole numbers that are exactly the values times ten to the exponent.

    Sensors have few digits, and whole numbers compress to a third of floats. Without such an
    exponent: FLOATS and None.
    """
    head = values[:16]
    for exponent in range(MOST_DECIMALS + 1):
        scale = 10.0**exponent
        if _as_whole(head, scale) is None:
            continue
        if (whole := _as_whole(values, scale)) is not None:
            return exponent, whole
    return FLOATS, None


def _as_whole(values: Sequence[float], scale: float) -> list[int] | None:
    """Return whole numbers that are exactly the values times `scale`, or None."""
    try:
        whole = [round(value * scale) for value in values]
    except (OverflowError, ValueError):  # infinity and NaN
        return None
    if not values or not -MOST_WHOLE < min(whole) <= max(whole) < MOST_WHOLE:
        return None if values else []
    if not all(map(eq, values, [n / scale for n in whole])):
        return None
    has_negative_zero = 0 in whole and any(not v and copysign(1, v) < 0 for v in values)
    return None if has_negative_zero else whole


def _zigzag(numbers: Sequence[int]) -> array[int]:
    """Return whole numbers without sign, so that small ones have leading zeros. Raises OverflowError."""
    return array("Q", [(n << 1) ^ (n >> 63) for n in numbers])


def _by_significance(column: array[Any]) -> bytes:
    """Return the lowest bytes of all numbers, then the next, since bytes of one rank are alike."""
    data = _little(column).tobytes()
    return b"".join([data[rank::8] for rank in range(8)])


def _from_significance(data: bytes, code: str) -> array[Any]:
    count = len(data) // 8
    joined = bytearray(len(data))
    for rank in range(8):
        joined[rank::8] = data[rank * count : (rank + 1) * count]
    column = array(code)
    column.frombytes(bytes(joined))
    return _little(column)


def _signed(column: array[int]) -> Iterable[int]:
    return accumulate([(n >> 1) ^ -(n & 1) for n in column])


def codec(kind: type[T]) -> T:
    """Return this thread's compressor or decompressor: making one takes as long as a small chunk."""
    found = getattr(_local, kind.__name__, None)
    if found is None:
        found = kind()
        setattr(_local, kind.__name__, found)
    return found  # type: ignore[no-any-return]


_local = threading.local()


def encode(rows: Iterable[Row]) -> bytes:
    """Return rows as they are appended to a raw chunk."""
    return b"".join([_ROW.pack(*row) for row in rows])


def unpack(data: bytes) -> list[Row]:
    """Return the rows of a chunk, packed or raw, in order and each once."""
    if data.startswith(RAW):
        return merged(_ROW.iter_unpack(memoryview(data)[len(RAW) :]))
    if data.startswith(PACKED):
        return _unpack_decimals(data)
    raw = codec(zstandard.ZstdDecompressor).decompress(data)
    count = len(raw) // 24
    times, values, steps = array("q"), array("d"), array("q")
    times.frombytes(raw[: count * 8])
    values.frombytes(raw[count * 8 : count * 16])
    steps.frombytes(raw[count * 16 : count * 24])
    return list(
        zip(accumulate(_little(steps)), accumulate(_little(times)), _little(values), strict=True)
    )


def _unpack_decimals(data: bytes) -> list[Row]:
    exponent, divisor = _HEAD.unpack_from(data, len(PACKED))
    raw = codec(zstandard.ZstdDecompressor).decompress(data[len(PACKED) + _HEAD.size :])
    size = len(raw) // 3
    times = _signed(_from_significance(raw[:size], "Q"))
    steps = _signed(_from_significance(raw[size : 2 * size], "Q"))
    values: Iterable[float]
    if exponent == FLOATS:
        values = _from_significance(raw[2 * size :], "d")
    else:
        scale = 10.0**exponent
        values = [n * divisor / scale for n in _signed(_from_significance(raw[2 * size :], "Q"))]
    return list(zip(steps, times, values, strict=True))


def merged(*parts: Iterable[Row]) -> list[Row]:
    """Merge rows in order of step, time and value (NaN first), without duplicates."""
    rows = [row for part in parts for row in part]
    if all(map(lt, rows, islice(rows, 1, None))):  # usually in order already
        return rows
    # NaN is not equal to itself
    seen = {row if row[2] == row[2] else (row[0], row[1], None): row for row in rows}
    return sorted(seen.values(), key=_order)


def _order(row: Row) -> tuple[int, int, bool, float]:
    return (row[0], row[1], row[2] == row[2], row[2])


def thinned(rows: Sequence[Row], most: int) -> list[Row]:
    """Reduce rows to at most `most` (at least three), keeping extremes and the last row.

    Keeps the lowest and the highest row of each bucket of equal count.
    """
    if len(rows) <= most:
        return list(rows)
    size = -(-len(rows) // max((most - 1) // 2, 1))
    kept: list[Row] = []
    for start in range(0, len(rows), size):
        bucket = rows[start : start + size]
        if any(map(isnan, map(_VALUE, bucket))):
            bucket = [r for r in bucket if not isnan(r[2])] or bucket[:1]
        low, high = min(bucket, key=_VALUE), max(bucket, key=_VALUE)
        kept += [low] if low is high else sorted((low, high), key=lambda r: (r[0], r[1]))
    if kept[-1] != rows[-1]:
        kept.append(rows[-1])
    return kept


def fitted(parts: Sequence[Sequence[Row]], most: int) -> list[list[Row]]:
    """Thin segments so that they and the gaps between them are at most `most` (at least 3) points.

    If gaps exceed a sixth of that, only the longest are kept.
    """
    joined = _joined(parts, max(most // 6, 1))
    total, spare = sum(map(len, joined)), max(most + 1 - 4 * len(joined), 0)
    return [thinned(part, 3 + spare * len(part) // total) for part in joined]


def _joined(parts: Sequence[Sequence[Row]], most: int) -> list[list[Row]]:
    pauses = sorted(range(1, len(parts)), key=lambda n: parts[n - 1][-1][1] - parts[n][0][1])[
        : most - 1
    ]
    bounds = [0, *sorted(pauses), len(parts)]
    return [[row for part in parts[a:b] for row in part] for a, b in pairwise(bounds) if b > a]


def coarse(rows: Sequence[Row], most: int) -> list[Row]:
    """Return the extremes of a closed chunk, and a NaN for each of its gaps."""
    found: list[Row] = []
    for part in fitted(split_at_gaps(rows, gap_of(rows)), most):
        found += [gap_after(found[-1])] if found else []
        found += part
    return found


def gap_after(row: Row) -> Row:
    """Return the row that marks a gap among coarse rows."""
    return (NO_STEP, row[1] + 1, nan)


def split(rows: Sequence[Row]) -> list[list[Row]]:
    """Split rows at NaNs."""
    return [list(part) for is_gap, part in groupby(rows, key=lambda r: isnan(r[2])) if not is_gap]


def gap_of(rows: Sequence[Row]) -> int | None:
    """Return the pause in ms above which there is a gap, or None if there are too few rows.

    That is three times the median spacing, and at least 30 s. Series with steps have no gaps.
    """
    if rows and rows[0][0] != NO_STEP:
        return None
    spacing = sorted(_spacing(rows))
    return max(spacing[len(spacing) // 2] * 3, 30_000) if len(spacing) > 3 else None


def _spacing(rows: Sequence[Row]) -> Iterable[int]:
    times = [row[1] for row in rows]
    return map(sub, islice(times, 1, None), times)


def split_at_gaps(rows: Sequence[Row], gap_ms: int | None) -> list[list[Row]]:
    """Split rows at gaps. Series with steps have none."""
    if not rows or gap_ms is None or rows[0][0] != NO_STEP:
        return [list(rows)] if rows else []
    if max(_spacing(rows), default=0) <= gap_ms:
        return [list(rows)]
    parts = [[rows[0]]]
    for row in rows[1:]:
        if row[1] - parts[-1][-1][1] > gap_ms:
            parts.append([])
        parts[-1].append(row)
    return parts


def columns(parts: Sequence[Sequence[Row]]) -> tuple[list[int], list[float | None], list[int]]:
    """Return times, values and steps, with a None between two segments."""
    times: list[int] = []
    values: list[float | None] = []
    for part in parts:
        if times:
            times.append(times[-1] + 1)
            values.append(None)
        times += [r[1] for r in part]
        values += [r[2] if isfinite(r[2]) else None for r in part]
    steps = [r[0] for part in parts for r in part]
    return times, values, steps if steps and steps[0] != NO_STEP else []


def _differences(numbers: Sequence[int]) -> list[int]:
    return list(map(sub, numbers, chain((0,), numbers)))


def _little(column: array[Any]) -> array[Any]:
    if sys.byteorder == "big":
        column.byteswap()
    return column
