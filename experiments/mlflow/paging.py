"""Page tokens of lists that the client orders."""

from __future__ import annotations

import binascii
from base64 import urlsafe_b64decode, urlsafe_b64encode
from typing import Any, TypeVar

import orjson
from django.db.models import Model, QuerySet

from portal.core.errors import InvalidInput
from portal.core.messages import Message

M = TypeVar("M", bound=Model)
_MOST = 10_000_000


def page_of(rows: QuerySet[M], *, limit: int, token: str) -> tuple[list[M], str]:
    """Return up to `limit` rows, and the token of the next page or "". Raises InvalidInput."""
    start = _start(token)
    found = list(rows[start : start + limit + 1])
    return found[:limit], next_token(start, limit) if len(found) > limit else ""


def part_of(rows: list[Any], *, limit: int | None, token: str) -> tuple[list[Any], str]:
    """Return a page of a list that has been read. Raises InvalidInput."""
    start = _start(token)
    if limit is None:
        return rows[start:], ""
    return rows[start : start + limit], next_token(start, limit) if len(
        rows
    ) > start + limit else ""


def next_token(start: int, limit: int) -> str:
    return urlsafe_b64encode(orjson.dumps({"offset": start + limit})).decode()


def _start(token: str) -> int:
    if not token:
        return 0
    try:
        start = orjson.loads(urlsafe_b64decode(token))["offset"]
        if isinstance(start, int) and 0 <= start < _MOST:
            return start
    except (binascii.Error, orjson.JSONDecodeError, KeyError, TypeError, ValueError):
        pass
    raise InvalidInput(Message("Invalid page token, could not base64-decode"))
