"""Define the field types of a spec.

Each type parses, writes and describes its values, so the parser, the YAML output, the JSON schema
and the documentation cannot drift apart.
"""

from __future__ import annotations

import math
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Any, Generic, TypeVar

from schedulers.spec import grammar
from schedulers.spec.errors import InvalidValue, Location, listed, nearest, shown, shown_key

T = TypeVar("T")
E = TypeVar("E", bound=StrEnum)
Schema = dict[str, Any]


class Kind(ABC, Generic[T]):
    """A field type.

    `title` is its name in the documentation; `values` are offered for completion.
    """

    title: str
    values: tuple[str, ...] = ()

    @abstractmethod
    def read(self, value: object, place: Location) -> T:
        """Return the normalized value.

        Raises InvalidValue, or records errors at the places of nested values.
        """

    @abstractmethod
    def schema(self) -> Schema:
        """Return the JSON schema (2020-12) of everything that `read` accepts."""

    def write(self, value: T) -> Any:
        """Return plain data that `read` turns into an equal value."""
        return value


class Text(Kind[str]):
    """Text without NUL.

    `check` validates further; `lines` allows line breaks, normalized to LF unless `exact`.
    """

    def __init__(
        self,
        title: str = "text",
        *,
        most: int = 1024,
        lines: bool = False,
        exact: bool = False,
        pattern: str = "",
        hint: str = "",
        check: Callable[[str], str] | None = None,
    ):
        self.title, self.most, self.lines, self.exact = title, most, lines, exact
        self.pattern, self.hint, self.check = pattern, hint, check

    def read(self, value: object, place: Location) -> str:
        text = _text_of(value, place)
        if self.lines and not self.exact:
            text = text.replace("\r\n", "\n")
        self._measure(text)
        if self.pattern and not re.fullmatch(self.pattern, text):
            raise InvalidValue(f"{shown(text)} is not allowed: must be {self.hint}")
        return self.check(text) if self.check else text

    def _measure(self, text: str) -> None:
        if "\0" in text:
            raise InvalidValue("contains a NUL character, which cannot be passed to a program")
        try:
            size = len(text.encode())
        except UnicodeEncodeError:
            raise InvalidValue("contains a lone surrogate; use valid Unicode") from None
        if size > self.most:
            raise InvalidValue(f"is {size:,} bytes long; at most {self.most:,} are allowed")
        bad = None if self.lines else next((char for char in text if char < " "), None)
        if bad:
            raise InvalidValue(
                f"contains the control character {bad!r}; only printable text on one line is allowed"
            )

    def schema(self) -> Schema:
        schema: Schema = {"type": ["string", "number", "boolean"], "maxLength": self.most}
        return {**schema, "pattern": f"^(?:{self.pattern})$"} if self.pattern else schema


class Choice(Kind[E]):
    """A member of an enum; `aliases` are alternative spellings."""

    def __init__(
        self, words: type[E], *, aliases: Mapping[str, E] | None = None, only: tuple[E, ...] = ()
    ):
        self.words = {word.value: word for word in (only or tuple(words))}
        self.aliases = dict(aliases or {})
        self.values = tuple(self.words)
        self.title = "one of " + listed(self.values)

    def read(self, value: object, place: Location) -> E:
        word = str(value).strip().lower() if isinstance(value, str) else ""
        found = self.words.get(word) or self.aliases.get(word)
        if found is None:
            raise InvalidValue(
                f"{place.shown(value)} is not allowed: must be one of {listed(self.values)}{nearest(word, self.values)}"
            )
        return found

    def write(self, value: E) -> str:
        return value.value

    def schema(self) -> Schema:
        return {"enum": [*self.words, *self.aliases]}


class Whole(Kind[int]):
    title = "whole number"

    def __init__(self, least: int, most: int):
        self.least, self.most = least, most

    def read(self, value: object, place: Location) -> int:
        if isinstance(value, str) and re.fullmatch(r"[+-]?[0-9]{1,18}", value.strip(), re.ASCII):
            value = int(value)
        if isinstance(value, float) and math.isfinite(value) and value == int(value):
            value = int(value)
        if (
            isinstance(value, bool)
            or not isinstance(value, int)
            or not self.least <= value <= self.most
        ):
            raise InvalidValue(
                f"{place.shown(value)} is not allowed: must be a whole number from {self.least:,} to {self.most:,}"
            )
        return value

    def schema(self) -> Schema:
        return {
            "anyOf": [
                {"type": "integer", "minimum": self.least, "maximum": self.most},
                {"type": "string", "pattern": r"^\s*[+-]?[0-9]{1,18}\s*$"},
            ]
        }


class Switch(Kind[bool]):
    title = "true or false"

    def read(self, value: object, place: Location) -> bool:
        if not isinstance(value, bool):
            raise InvalidValue(f"{place.shown(value)} is not allowed: must be true or false")
        return value

    def schema(self) -> Schema:
        return {"type": "boolean"}


class Quantity(Kind[T]):
    """A number with its own syntax.

    `parse` raises ValueError, `form` is its inverse; bounds are inclusive.
    """

    def __init__(
        self,
        title: str,
        parse: Callable[[int | float | str], T],
        form: Callable[[T], Any],
        pattern: str,
        bounds: tuple[T, T],
    ):
        self.title, self.parse, self.form, self.pattern, self.bounds = (
            title,
            parse,
            form,
            pattern,
            bounds,
        )

    def read(self, value: object, place: Location) -> T:
        if (
            isinstance(value, bool)
            or not isinstance(value, int | float | str)
            or _is_endless(value)
        ):
            raise InvalidValue(
                f"{place.shown(value)} is not allowed: must be {self.title}, and finite"
            )
        try:
            number = self.parse(value)
        except ValueError as fault:
            raise InvalidValue(f"{place.shown(value)} is not allowed: {fault}") from None
        least, most = self.bounds
        if not least <= number <= most:  # type: ignore[operator]  # T is int or float
            raise InvalidValue(
                f"{place.shown(value)} is out of range: must be from {self.form(least)} to {self.form(most)} ({self.title})"
            )
        return number

    def write(self, value: T) -> Any:
        return self.form(value)

    def schema(self) -> Schema:
        return {
            "anyOf": [{"type": "number", "minimum": 0}, {"type": "string", "pattern": self.pattern}]
        }


class ListOf(Kind[tuple[T, ...]]):
    """A list of at most `most` items; with `lone`, a scalar is a list of one."""

    def __init__(self, kind: Kind[T], *, most: int, lone: bool = False):
        self.kind, self.most, self.lone = kind, most, lone
        self.title, self.values = f"list of: {kind.title}", kind.values

    def read(self, value: object, place: Location) -> tuple[T, ...]:
        if self.lone and isinstance(value, str | int):
            return (self.kind.read(value, place),)
        if not isinstance(value, list | tuple):
            raise InvalidValue(f"must be a list, not {shown(value)}")
        if len(value) > self.most:
            raise InvalidValue(f"has {len(value):,} items; at most {self.most:,} are allowed")
        marker: Any = _MISSING
        items = [
            place.item(index).read(self.kind, item, marker) for index, item in enumerate(value)
        ]
        return tuple(item for item in items if item is not marker)

    def write(self, value: tuple[T, ...]) -> list[Any]:
        return [self.kind.write(item) for item in value]

    def schema(self) -> Schema:
        schema: Schema = {"type": "array", "items": self.kind.schema(), "maxItems": self.most}
        return {"anyOf": [schema, self.kind.schema()]} if self.lone else schema


class MapOf(Kind[Mapping[str, T]]):
    """A mapping of names to values. `check_name` raises InvalidValue for a forbidden name."""

    def __init__(
        self, kind: Kind[T], *, most: int, pattern: str, check_name: Callable[[str], None]
    ):
        self.kind, self.most, self.pattern, self.check_name = kind, most, pattern, check_name
        self.title = f"names to: {kind.title}"

    def read(self, value: object, place: Location) -> Mapping[str, T]:
        if not isinstance(value, Mapping):
            raise InvalidValue(f"must be a mapping of names to values, not {shown(value)}")
        if len(value) > self.most:
            raise InvalidValue(f"has {len(value):,} entries; at most {self.most:,} are allowed")
        return {
            str(name): entry
            for name, entry in (
                (name, self._entry(name, item, place)) for name, item in value.items()
            )
            if entry is not _MISSING
        }

    def _entry(self, name: object, value: object, place: Location) -> Any:
        at = place.key(shown_key(name))
        try:
            if not isinstance(name, str):
                raise InvalidValue("names must be text; put the name in quotes")
            self.check_name(name)
            return self.kind.read(value, at)
        except InvalidValue as fault:
            at.add(str(fault))
            return _MISSING

    def write(self, value: Mapping[str, T]) -> dict[str, Any]:
        return {name: self.kind.write(item) for name, item in value.items()}

    def schema(self) -> Schema:
        return {
            "type": "object",
            "maxProperties": self.most,
            "propertyNames": {"pattern": self.pattern},
            "additionalProperties": self.kind.schema(),
        }


def size(most: int) -> Quantity[int]:
    return Quantity(
        grammar.SIZE_HINT, grammar.parse_size, grammar.format_size, grammar.SIZE_PATTERN, (0, most)
    )


def duration(least: int, most: int) -> Quantity[int]:
    return Quantity(
        grammar.DURATION_HINT,
        grammar.parse_duration,
        grammar.format_duration,
        grammar.DURATION_PATTERN,
        (least, most),
    )


def cores(least: float, most: float) -> Quantity[float]:
    return Quantity(
        grammar.CORES_HINT, grammar.parse_cores, _plain_number, grammar.CORES_PATTERN, (least, most)
    )


_MISSING: Any = object()


def _plain_number(value: float) -> int | float:
    return int(value) if value == int(value) else value


def _is_endless(value: int | float | str) -> bool:
    """Whether a number is NaN, infinite or has absurdly many digits."""
    if isinstance(value, str):
        return False
    return value != value or abs(value) > 10**24


def _text_of(value: object, place: Location) -> str:
    """Return numbers and booleans as typed: `VERSION: 1.10` stays "1.10"."""
    if isinstance(value, str):
        return value
    if value is None:
        raise InvalidValue(
            'is empty; write "" for an empty text (and quote a value that begins with #)'
        )
    if not isinstance(value, bool | int | float):
        raise InvalidValue(f"must be text, not {shown(value)}")
    if place.source is not None:
        return place.source
    if isinstance(value, bool):
        return "true" if value else "false"
    if _is_endless(value):
        raise InvalidValue(
            f"{shown(value)} is not a finite number; put it in quotes to send it as text"
        )
    return str(value)
