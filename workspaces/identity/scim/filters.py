"""Parse SCIM filters (RFC 7644, 3.4.2.2) into predicates over resources.

Pure. A filter that is too long or too deeply nested is refused before it is evaluated.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from workspaces.identity.scim.schemas import ScimError

Predicate = Callable[[Mapping[str, Any]], bool]
LONGEST, DEEPEST = 2000, 20
_TOKENS = re.compile(
    r'\s*(?:(?P<sign>[()\[\]])|(?P<text>"(?:[^"\\]|\\.)*")|(?P<word>[^\s()\[\]"]+))'
)
_COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    "eq": lambda a, b: a == b,
    "ne": lambda a, b: a != b,
    "co": lambda a, b: isinstance(a, str) and isinstance(b, str) and b in a,
    "sw": lambda a, b: isinstance(a, str) and isinstance(b, str) and a.startswith(b),
    "ew": lambda a, b: isinstance(a, str) and isinstance(b, str) and a.endswith(b),
    "gt": lambda a, b: _ordered(a, b) and a > b,
    "ge": lambda a, b: _ordered(a, b) and a >= b,
    "lt": lambda a, b: _ordered(a, b) and a < b,
    "le": lambda a, b: _ordered(a, b) and a <= b,
}


def _ordered(a: Any, b: Any) -> bool:
    return type(a) is type(b) and isinstance(a, (str, int, float)) and not isinstance(a, bool)


def parse(text: str) -> Predicate:
    """Parse a filter. Raises ScimError."""
    if len(text) > LONGEST:
        raise _filter_error("is too long")
    tokens = _Tokens(list(_split(text)))
    found = _parse_or(tokens, 0)
    if not tokens.is_done:
        raise _filter_error(f"has an unexpected {tokens.next()!r}")
    return found


def equals(text: str) -> tuple[str, str] | None:
    """Return the attribute and the value of a filter of the form `name eq "value"`, else None.

    Most filters have this form, and an index can answer them.
    """
    found = re.fullmatch(r'\s*([A-Za-z]+)\s+eq\s+("(?:[^"\\]|\\.)*")\s*', text, re.IGNORECASE)
    return (found[1].lower(), str(_literal(found[2]))) if found else None


def values_at(resource: Any, path: str) -> list[Any]:
    """Return all values at a path such as `emails.value`; names are case-insensitive."""
    found = [resource]
    for name in path.split("."):
        found = [value for each in found for value in _values_of(each, name)]
    return found


def _values_of(each: Any, name: str) -> Iterator[Any]:
    if isinstance(each, Mapping):
        for key, value in each.items():
            if key.lower() == name.lower():
                yield from value if isinstance(value, list) else [value]


class _Tokens:
    def __init__(self, tokens: list[str]):
        self._tokens, self._at = tokens, 0

    @property
    def is_done(self) -> bool:
        return self._at >= len(self._tokens)

    def peek(self) -> str:
        return "" if self.is_done else self._tokens[self._at]

    def next(self) -> str:
        if self.is_done:
            raise _filter_error("ends unexpectedly")
        self._at += 1
        return self._tokens[self._at - 1]

    def take(self, word: str) -> bool:
        if self.peek().lower() != word:
            return False
        self._at += 1
        return True


def _split(text: str) -> Iterator[str]:
    at = 0
    while text[at:].strip():
        found = _TOKENS.match(text, at)
        if not found or found.end() == at:
            raise _filter_error("can't be parsed")
        yield found[found.lastgroup or 0]
        at = found.end()


def _parse_or(tokens: _Tokens, depth: int) -> Predicate:
    parts = [_parse_and(tokens, depth)]
    while tokens.take("or"):
        parts.append(_parse_and(tokens, depth))
    return parts[0] if len(parts) == 1 else lambda resource: any(part(resource) for part in parts)


def _parse_and(tokens: _Tokens, depth: int) -> Predicate:
    parts = [_parse_term(tokens, depth)]
    while tokens.take("and"):
        parts.append(_parse_term(tokens, depth))
    return parts[0] if len(parts) == 1 else lambda resource: all(part(resource) for part in parts)


def _parse_term(tokens: _Tokens, depth: int) -> Predicate:
    if depth > DEEPEST:
        raise _filter_error("is nested too deeply")
    if tokens.take("not"):
        inner = _parse_group(tokens, depth)
        return lambda resource: not inner(resource)
    if tokens.peek() == "(":
        return _parse_group(tokens, depth)
    path = _path(tokens.next())
    if tokens.take("["):
        inside = _parse_or(tokens, depth + 1)
        if not tokens.take("]"):
            raise _filter_error("lacks a ]")
        if tokens.peek().startswith("."):  # emails[type eq "work"].value eq "x"
            sub = _path(tokens.next()[1:])
            fits = _parse_comparison(tokens)
            return lambda resource: fits(_values_where(resource, path, inside, sub))
        return lambda resource: any(inside(value) for value in values_at(resource, path))
    fits = _parse_comparison(tokens)
    return lambda resource: fits(values_at(resource, path))


def _parse_group(tokens: _Tokens, depth: int) -> Predicate:
    if not tokens.take("("):
        raise _filter_error("lacks a (")
    inner = _parse_or(tokens, depth + 1)
    if not tokens.take(")"):
        raise _filter_error("lacks a )")
    return inner


def _values_where(resource: Any, path: str, inside: Predicate, sub: str) -> list[Any]:
    rows = [row for row in values_at(resource, path) if inside(row)]
    return [value for row in rows for value in values_at(row, sub)]


def _parse_comparison(tokens: _Tokens) -> Callable[[list[Any]], bool]:
    """Parse an operator and its value into a predicate over the values at a path."""
    operator = tokens.next().lower()
    if operator == "pr":
        return lambda values: any(value not in (None, "", [], {}) for value in values)
    if operator not in _COMPARE:
        raise _filter_error(f"has an unknown operator {operator[:20]!r}")
    wanted, compare = _folded(_literal(tokens.next())), _COMPARE[operator]
    how = all if operator == "ne" else any
    return lambda values: how(compare(_plain(value), wanted) for value in values)


def _plain(value: Any) -> Any:
    return _folded(value.get("value") if isinstance(value, Mapping) else value)


def _folded(value: Any) -> Any:
    """Fold case, as strings compare case-insensitively and Azure sends true as "True"."""
    return value.lower() if isinstance(value, str) else value


def _literal(text: str) -> Any:
    try:
        found = json.loads(text if text.startswith('"') else text.lower())
    except ValueError:
        raise _filter_error(f"has an invalid value {text[:20]!r}") from None
    if isinstance(found, str) and re.search(r"[\x00\ud800-\udfff]", found):
        raise _filter_error("has a value with invalid characters")
    if isinstance(found, (dict, list)):
        raise _filter_error("has an object or a list as a value")
    return found


def _path(text: str) -> str:
    """Remove the schema prefix, which some clients send."""
    name = text.rpartition(":")[2] if text.lower().startswith("urn:") else text
    if not re.fullmatch(r"[A-Za-z$][\w$-]*(\.[A-Za-z$][\w$-]*)?", name):
        raise _filter_error(f"has {text[:40]!r} instead of an attribute")
    return name


def _filter_error(why: str) -> ScimError:
    return ScimError(400, f"The filter {why}.", "invalidFilter")
