"""Export events as JSON lines (complete) or as CSV that is safe to open in a spreadsheet."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import orjson

from portal.core.csv_export import csv_lines

FORMATS = {"jsonl": "application/x-ndjson", "csv": "text/csv; charset=utf-8"}
COLUMNS = (
    "at",
    "kind",
    "text",
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


def lines(facts: Iterable[Mapping[str, Any]], kind: str) -> Iterator[bytes]:
    """Yield the file in chunks."""
    return (
        csv_lines(COLUMNS, map(_cells, facts))
        if kind == "csv"
        else (orjson.dumps(dict(fact), option=orjson.OPT_UTC_Z) + b"\n" for fact in facts)
    )


def _cells(fact: Mapping[str, Any]) -> list[object]:
    data = dict(fact["data"])
    shown = {
        "at": fact["at"].isoformat(),
        **{name: _json(data.pop(name, None)) for name in ("before", "after")},
    }
    shown["details"] = _json(data or None)
    return [shown.get(name, fact.get(name)) for name in COLUMNS]


def _json(value: object) -> str:
    return "" if value is None else orjson.dumps(value).decode()
