"""Serialize events canonically, and compute the hashes that chain them.

The bytes are a JSON array of the event's columns in the order of COLUMNS: without whitespace, keys
of objects sorted, times in UTC (`2026-01-31T12:00:00.000001Z`), UUIDs in hyphenated form. An
exported chain can therefore be verified with a few lines in any language.

hash_n = SHA-256(hash_{n-1} ‖ bytes), and hash_0 is SHA-256("muster audit chain " ‖ the id of the
organization, zero for none).
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import orjson
from django.db import connection

from portal.core.models import Event


@dataclass
class ChainHead:
    """The end of a chain; `since` counts the links that no anchor covers yet."""

    seq: int
    hash: bytes
    since: int = 0


COLUMNS = (
    "position",
    "id",
    "at",
    "kind",
    "org_id",
    "actor",
    "on_behalf_of",
    "via",
    "address",
    "subject_type",
    "subject_id",
    "data",
    "request_id",
)
NO_ORG = UUID(int=0)
_AT, _ORG, _DATA = COLUMNS.index("at"), COLUMNS.index("org_id"), COLUMNS.index("data")
_UUIDS = [
    at
    for at, name in enumerate(COLUMNS)
    if name == "id" or (name.endswith("_id") and name != "request_id")
]
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_HOW = orjson.OPT_SORT_KEYS | orjson.OPT_UTC_Z | orjson.OPT_NAIVE_UTC

Row = list[Any]


def columns(alias: str = "e") -> str:
    """Return the columns for a SELECT whose rows are passed to `read`.

    On PostgreSQL, times are selected as microseconds, because parsing timestamps dominates the
    cost.
    """
    quote = connection.ops.quote_name
    at = (
        f"(extract(epoch FROM {alias}.{quote('at')}) * 1000000)::bigint"
        if connection.vendor == "postgresql"
        else f"{alias}.{quote('at')}"
    )
    return ", ".join(at if name == "at" else f"{alias}.{quote(name)}" for name in COLUMNS)


def read(rows: Iterable[Sequence[Any]], behind: int = 0) -> Iterator[Row]:
    """Convert rows of the driver to the values of events; `behind` other columns come first."""
    convert = _from_sqlite if connection.vendor == "sqlite" else _from_postgres
    for row in rows:
        values = list(row)
        if values[behind] is not None:
            convert(values, behind)
        yield values


def canonical(values: Sequence[Any]) -> bytes:
    """Return the canonical bytes of an event."""
    return orjson.dumps(values, option=_HOW)


def chain_of(values: Sequence[Any]) -> UUID:
    """Return the chain to which an event belongs."""
    return values[_ORG] or NO_ORG


def initial_hash(chain: UUID) -> bytes:
    """Return the hash before the first event of a chain."""
    return hashlib.sha256(b"muster audit chain " + chain.bytes).digest()


def next_hash(before: bytes, event: bytes) -> bytes:
    """Return the hash after this event."""
    return hashlib.sha256(before + event).digest()


def event_table() -> str:
    return connection.ops.quote_name(Event._meta.db_table)


def _from_postgres(values: Row, behind: int) -> None:
    values[behind + _AT] = _EPOCH + timedelta(microseconds=values[behind + _AT])
    values[behind + _DATA] = _json(values[behind + _DATA])


def _from_sqlite(values: Row, behind: int) -> None:
    values[behind + _DATA] = _json(values[behind + _DATA])
    at = values[behind + _AT]  # the driver converts times only in plain statements
    values[behind + _AT] = (at if isinstance(at, datetime) else datetime.fromisoformat(at)).replace(
        tzinfo=UTC
    )
    for at in _UUIDS:
        if (text := values[behind + at]) is not None:
            values[behind + at] = UUID(text)


def _json(text: Any) -> Any:
    """Parse JSON. Return invalid text unchanged, so that it is still part of the chain."""
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        return str(text)
