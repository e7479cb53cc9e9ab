"""Export events as JSON lines (complete) or as CSV that is safe to open in a spreadsheet."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import orjson

FORMATS = {"jsonl": "application/x-ndjson", "csv": "text/csv; charset=utf-8"}
COLUMNS = (
    "at",
    "kind",
    "actor",
    "on_behalf_of",
    "via",
    "address",
    "subject_type",
    "subject",
    "subject_id",
    "before",
    "after",
    "details",
    "request_id",
    "org_id",
    "id",
    "position",
    "seq",
    "hash",
)
# Characters that start a formula in a spreadsheet, or hide one.
_FORMULA_STARTS = (
    "=",
    "+",
    "-",
    "@",
    "\t",
    "\r",
    "\n",
    "＝",
    "＋",
    "－",
    "＠",
)


def lines(facts: Iterable[Mapping[str, Any]], kind: str) -> Iterator[bytes]:
    """Yield the file in chunks."""
    return (
        _csv(facts)
        if kind == "csv"
        else (orjson.dumps(dict(fact), option=orjson.OPT_UTC_Z) + b"\n" for fact in facts)
    )


def escape_cell(value: object) -> str:
    """Return a CSV cell that is text: an apostrophe is put before a possible formula."""
    text = "" if value is None else str(value)
    return "'" + text if text.lstrip(" ").startswith(_FORMULA_STARTS) else text


def _csv(facts: Iterable[Mapping[str, Any]]) -> Iterator[bytes]:
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\r\n")
    writer.writerow(COLUMNS)
    for fact in facts:
        writer.writerow(_cells(fact))
        if buffer.tell() > 1 << 16:
            yield _drain(buffer)
    yield _drain(buffer)


def _cells(fact: Mapping[str, Any]) -> list[str]:
    data = dict(fact["data"])
    shown = {
        "at": fact["at"].isoformat(),
        **{name: _json(data.pop(name, None)) for name in ("before", "after")},
    }
    shown["details"] = _json(data or None)
    return [escape_cell(shown.get(name, fact.get(name))) for name in COLUMNS]


def _json(value: object) -> str:
    return "" if value is None else orjson.dumps(value).decode()


def _drain(buffer: io.StringIO) -> bytes:
    text = buffer.getvalue()
    buffer.seek(0)
    buffer.truncate()
    return text.encode()
