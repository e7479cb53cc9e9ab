"""Write CSV that is safe to open in a spreadsheet, in chunks."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator, Sequence

_CHUNK = 1 << 16  # bytes
# Characters that start a formula in a spreadsheet, or hide one.
_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
_NEGATIVE = re.compile(r"-[0-9]+(\.[0-9]+)?")


def escape_cell(value: object) -> str:
    """Return a CSV cell that is text or a number: an apostrophe precedes a possible formula."""
    text = "" if value is None else str(value)
    is_formula = text.lstrip(" ").startswith(_FORMULA_STARTS) and not _NEGATIVE.fullmatch(text)
    return "'" + text if is_formula else text


def csv_lines(columns: Sequence[str], rows: Iterable[Iterable[object]]) -> Iterator[bytes]:
    """Yield a CSV file with a header line; values are escaped."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\r\n")
    writer.writerow(columns)
    for row in rows:
        writer.writerow([escape_cell(value) for value in row])
        if buffer.tell() > _CHUNK:
            yield _drain(buffer)
    yield _drain(buffer)


def _drain(buffer: io.StringIO) -> bytes:
    text = buffer.getvalue()
    buffer.seek(0)
    buffer.truncate()
    return text.encode()
