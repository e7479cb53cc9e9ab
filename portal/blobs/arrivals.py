"""Record when the bytes of a log arrived, in a file `index` next to them.

The file holds 16-byte records (offset, Unix ms), ordered by offset. A job that writes for a week
leaves millions of records, so nothing here reads them all.
"""

from __future__ import annotations

import os
import struct
from bisect import bisect_left, bisect_right
from pathlib import Path
from typing import BinaryIO

EVERY_MS = 50
_RECORD = struct.Struct("<QQ")
_SIZE = _RECORD.size


def between(folder: Path, start: int, end: int) -> list[tuple[int, int]]:
    """Return (offset, Unix ms) of the arrivals between two offsets.

    The first one is the arrival that contains `start`.
    """
    file = _open_index(folder)
    if file is None:
        return []
    with file:
        numbers = range(_count(file))
        first = max(bisect_right(numbers, start, key=lambda n: _read(file, n)[0]) - 1, 0)
        last = bisect_left(numbers, end, lo=first, key=lambda n: _read(file, n)[0])
        return list(
            _RECORD.iter_unpack(os.pread(file.fileno(), (last - first) * _SIZE, first * _SIZE))
        )


def first_and_last(folder: Path) -> tuple[int | None, int | None]:
    """Return the Unix ms of the first and the last arrival; None if nothing arrived."""
    file = _open_index(folder)
    if file is None:
        return None, None
    with file:
        count = _count(file)
        return (_read(file, 0)[1], _read(file, count - 1)[1]) if count else (None, None)


def note(folder: Path, offset: int, at_ms: int) -> None:
    """Append a record, at most one per 50 ms.

    Removes a torn record at the end, and those that a power failure left without their bytes.
    """
    with open(folder / "index", "ab+") as file:
        size = file.seek(0, os.SEEK_END)
        count, last = size // _SIZE, (0, 0)
        while count and (last := _read(file, count - 1))[0] > offset:
            count -= 1
        if size != count * _SIZE:
            file.truncate(count * _SIZE)
        if not count or not 0 <= at_ms - last[1] < EVERY_MS:
            file.write(_RECORD.pack(offset, at_ms))


def _open_index(folder: Path) -> BinaryIO | None:
    """Open the index; None if nothing arrived or the log was deleted."""
    try:
        return open(folder / "index", "rb")
    except FileNotFoundError:
        return None


def _count(file: BinaryIO) -> int:
    return os.fstat(file.fileno()).st_size // _SIZE


def _read(file: BinaryIO, number: int) -> tuple[int, int]:
    offset, at_ms = _RECORD.unpack(os.pread(file.fileno(), _SIZE, number * _SIZE))
    return offset, at_ms
