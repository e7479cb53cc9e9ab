"""Keyset pagination: pages that start after a row instead of at an offset, without a total."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Generic, TypeVar

from django.core.exceptions import ValidationError
from django.db.models import Field, IntegerField, Model, Q, QuerySet, TextField

from portal.core.errors import InvalidInput

T = TypeVar("T")
M = TypeVar("M", bound=Model)
MAX_CURSOR = 1000  # characters


@dataclass(frozen=True)
class Page(Generic[T]):
    """A page and the cursors of its neighbours; None where there is none."""

    items: list[T]
    next: str | None = None
    previous: str | None = None


class Order:
    """An order by fields (lookups such as `user__email`) or annotations that are never null.

    The last field is unique.
    """

    def __init__(self, *fields: str, is_descending: bool = False):
        self.fields, self.is_descending = fields, is_descending


def page_of(
    rows: QuerySet[M], order: Order, *, limit: int, cursor: str = "", is_searched: bool = False
) -> Page[M]:
    """Return up to `limit` rows after (n…) or before (p…) the cursor. Raises InvalidInput.

    `is_searched` finds the keys of the page first, for conditions that many rows must be tested
    for: an index with the tested columns answers that without reading the rows.
    """
    is_backwards = cursor.startswith("p")
    is_descending = order.is_descending != is_backwards
    if cursor:
        mark = _read_cursor(rows, order, cursor)
        rows = rows.filter(_beyond(order.fields, mark, "lt" if is_descending else "gt"))
    sign = "-" if is_descending else ""
    ordered = rows.order_by(*(sign + field for field in order.fields))
    if is_searched:
        ordered = ordered.filter(pk__in=ordered.values("pk")[: limit + 1])
    found = list(ordered[: limit + 1])
    has_more, found = len(found) > limit, found[:limit]
    if is_backwards:
        found.reverse()
    if not found:
        return Page([])
    has_next, has_previous = (True, has_more) if is_backwards else (has_more, bool(cursor))
    return Page(
        found,
        "n" + _mark(order, found[-1]) if has_next else None,
        "p" + _mark(order, found[0]) if has_previous else None,
    )


def _beyond(fields: Sequence[str], mark: Sequence[Any], comparison: str) -> Q:
    """Compare rows with a mark: (a, b) > (x, y) is a > x or (a = x and b > y)."""
    field, value = fields[0], mark[0]
    found = Q((f"{field}__{comparison}", value))
    if len(fields) > 1:
        found |= Q((field, value)) & _beyond(fields[1:], mark[1:], comparison)
    return found


def _mark(order: Order, row: Any) -> str:
    """Return the row's position as text: its value, or a JSON list of several."""
    values = []
    for field in order.fields:
        value = row
        for name in field.split("__"):
            value = getattr(value, name)
        values.append(value.isoformat() if isinstance(value, datetime) else str(value))
    return values[0] if len(values) == 1 else json.dumps(values, separators=(",", ":"))


def _read_cursor(rows: QuerySet[Any], order: Order, cursor: str) -> list[Any]:
    error = InvalidInput.at("cursor", "is not a valid cursor")
    if cursor[0] not in "np" or len(cursor) > MAX_CURSOR or not cursor.isprintable():
        raise error
    try:
        texts = [cursor[1:]] if len(order.fields) == 1 else json.loads(cursor[1:])
        pairs = zip(order.fields, texts, strict=True)
        return [_parse(_field(rows, name), text) for name, text in pairs]
    except (ValueError, TypeError, ValidationError):
        raise error from None


def _field(rows: QuerySet[Any], lookup: str) -> Field[Any, Any]:
    if lookup in rows.query.annotations:
        return rows.query.annotations[lookup].output_field
    model: type[Model] = rows.model
    *path, last = lookup.split("__")
    for name in path:
        model = model._meta.get_field(name).related_model  # type: ignore[assignment]
    return model._meta.get_field(last)  # type: ignore[return-value]


def _parse(field: Field[Any, Any], text: Any) -> Any:
    if not isinstance(text, str) or not (text or isinstance(field, TextField)):
        raise ValueError(text)
    if isinstance(field, IntegerField) and not (
        text.isascii() and text.isdigit() and len(text) < 19
    ):
        raise ValueError(text)
    return field.to_python(text)
