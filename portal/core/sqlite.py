"""Functions of SQLite for texts of every language, which PostgreSQL compares by itself."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from django.db.backends.signals import connection_created
from django.dispatch import receiver


@receiver(connection_created, dispatch_uid="sqlite functions")
def add_functions(connection: Any, **kwargs: Any) -> None:
    """Replace LIKE, which ignores case for ASCII only, and add `json_as_text`."""
    if connection.vendor == "sqlite":
        for count in (2, 3):
            connection.connection.create_function("like", count, like, deterministic=True)
        connection.connection.create_function("json_as_text", 1, json_as_text, deterministic=True)


def like(pattern: Any, text: Any, escape: str = "") -> bool | None:
    """Return whether a text matches LIKE's pattern in any case; null if either is null."""
    if pattern is None or text is None:
        return None
    text, (first, *others) = str(text), _pieces(str(pattern), escape)
    if not others:
        return first.matches(text, 0, len(text))
    place, (*middle, last) = first.length, others
    if not first.matches(text, 0, place):
        return False
    for piece in middle:  # the first place is the best one, so there is no backtracking
        found = piece.expression.search(text, place)
        if found is None:
            return False
        place = found.end()
    return len(text) - last.length >= place and last.matches(
        text, len(text) - last.length, len(text)
    )


@dataclass(frozen=True)
class _Piece:
    """What is between two % of a pattern: characters and `_`."""

    expression: re.Pattern[str]
    length: int

    def matches(self, text: str, start: int, end: int) -> bool:
        found = self.expression.match(text, start)
        return found is not None and found.end() == end


@lru_cache(maxsize=256)
def _pieces(pattern: str, escape: str) -> list[_Piece]:
    pieces: list[list[str]] = [[]]
    characters = iter(pattern)
    for character in characters:
        if escape and character == escape:
            pieces[-1] += [re.escape(literal) for literal in (next(characters, ""),) if literal]
        elif character == "%":
            pieces.append([])
        else:
            pieces[-1].append("." if character == "_" else re.escape(character))
    flags = re.IGNORECASE | re.DOTALL
    return [_Piece(re.compile("".join(piece), flags), len(piece)) for piece in pieces]


def json_as_text(stored: Any) -> Any:
    """Return stored JSON with its characters as they are: Django escapes all but ASCII."""
    if not isinstance(stored, str) or "\\u" not in stored:
        return stored
    text = json.dumps(json.loads(stored), ensure_ascii=False)
    return text.encode("utf-8", "replace").decode()  # without halves of UTF-16 pairs
