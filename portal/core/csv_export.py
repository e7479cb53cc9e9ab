"""Write CSV that is safe to open in a spreadsheet, in chunks."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal

_CHUNK = 1 << 16  # bytes
# Characters that start a formula in a spreadsheet, or hide one.
_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")


def escape_cell(value: object) -> str:
    """Return a CSV cell: a number, or text, in which an apostrophe precedes a possible formula."""
    text = "" if value is None else str(value)
    is_formula = text.lstrip(" ").startswith(_FORMULA_STARTS)
    return "'" + text if is_formula and not isinstance(value, Decimal) else text


def csv_lines(
    columns: Sequence[str], rows: Iterable[Iterable[object]], *, is_marked: bool = True
) -> Iterator[bytes]:
    """Yield a CSV file with a header line; values are escaped.

    It begins with a byte order mark, without which Excel does not read it as UTF-8, unless it is
    for programs only.
    """
    buffer = io.StringIO()
    buffer.write("\ufeff" if is_marked else "")
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
