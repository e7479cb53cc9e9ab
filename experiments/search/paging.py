"""Keyset pages of a query set in any order, whose keys may be null (last)."""

from __future__ import annotations

import binascii
import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Sequence
from datetime import datetime
from typing import Any, TypeVar
from uuid import UUID

from django.core.exceptions import ValidationError
from django.db.models import Model, Q, QuerySet
from django.db.models.expressions import F, OrderBy

from portal.core.errors import InvalidInput
from portal.core.messages import Message

M = TypeVar("M", bound=Model)
_LONGEST = 50_000  # characters of a token; a param can be long


def page_of(rows: QuerySet[M], *, limit: int, token: str = "") -> tuple[list[M], str]:
    """Return up to `limit` rows after the token, and the token of the next page or "".

    `rows` are ordered by `F(…).asc()` and `.desc()`, the last of which is unique. A page begins
    after the last row of the one before, also if rows have come or gone. Raises InvalidInput.
    """
    order = _order(rows)
    if token:
        marks = _read(token, order)
        try:
            rows = rows.filter(_after(order, marks))
        except (ValueError, TypeError, ValidationError, OverflowError):
            raise _invalid() from None
    found = list(rows[: limit + 1])
    if len(found) <= limit:
        return found, ""
    last = found[limit - 1]
    return found[:limit], _written(order, [getattr(last, name) for name, _ in order])


def _order(rows: QuerySet[Any]) -> list[tuple[str, bool]]:
    """Return the names of the order and whether each is descending."""
    found = []
    for key in rows.query.order_by:
        assert isinstance(key, OrderBy)
        assert isinstance(key.expression, F)
        found.append((str(key.expression.name), key.descending))  # type: ignore[attr-defined]
    return found


def _after(order: Sequence[tuple[str, bool]], marks: Sequence[Any]) -> Q:
    """Compare rows with a mark: (a, b) > (x, y) is a > x or (a = x and b > y)."""
    (name, is_descending), mark = order[0], marks[0]
    rest = _after(order[1:], marks[1:]) if len(order) > 1 else Q(pk__in=[])
    if mark is None:  # only null can follow
        return Q((f"{name}__isnull", True)) & rest
    beyond = Q((f"{name}__{'lt' if is_descending else 'gt'}", mark))
    if len(order) > 1:
        beyond |= Q((f"{name}__isnull", True))
        beyond |= Q((name, mark)) & rest
    return beyond


def _written(order: Sequence[tuple[str, bool]], values: Sequence[Any]) -> str:
    marks = [
        value.isoformat()
        if isinstance(value, datetime)
        else str(value)
        if isinstance(value, UUID)
        else value
        for value in values
    ]
    text = json.dumps([_spelled(order), marks], separators=(",", ":"))
    return urlsafe_b64encode(text.encode()).decode()


def _read(token: str, order: Sequence[tuple[str, bool]]) -> list[Any]:
    if len(token) > _LONGEST:
        raise _invalid()
    try:
        spelled, marks = json.loads(urlsafe_b64decode(token))
    except (binascii.Error, ValueError, TypeError, RecursionError):
        raise _invalid() from None
    known = isinstance(marks, list) and all(
        mark is None or isinstance(mark, str | int | float) for mark in marks
    )
    if spelled != _spelled(order) or not known or len(marks) != len(order):
        raise _invalid()
    return marks


def _spelled(order: Sequence[tuple[str, bool]]) -> str:
    return ",".join(f"{'-' if is_descending else ''}{name}" for name, is_descending in order)


def _invalid() -> InvalidInput:
    return InvalidInput.at(
        "page_token", Message("is not of this search; repeat it without a page token")
    )
