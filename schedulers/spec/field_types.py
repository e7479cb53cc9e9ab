"""Define the field types of a spec, as in `Annotated[int, whole(1, 10)]`.

A type reads plain data, writes it back, and describes in the JSON schema all that it reads. Readers
raise ValueError("must be …"), which is shown after the value, or `invalid`, a whole sentence.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Any, TypeVar

from pydantic import GetPydanticSchema
from pydantic_core import core_schema

from schedulers.spec import grammar
from schedulers.spec.errors import invalid, nearest, plain, shown

T = TypeVar("T")
E = TypeVar("E", bound=StrEnum)
Schema = dict[str, Any]

TEXT: Schema = {"type": ["string", "number", "boolean"]}


def field_type(
    read: Callable[[Any], Any], schema: Schema, write: Callable[[Any], Any] | None = None
) -> GetPydanticSchema:
    """Return a type that is read, described and written (by default unchanged) as given."""
    serialization = core_schema.plain_serializer_function_ser_schema(write) if write else None
    return GetPydanticSchema(
        lambda _source, _handler: core_schema.no_info_plain_validator_function(
            read, serialization=serialization
        ),
        lambda _core, _handler: {**schema},  # pydantic adds to it
    )


def text(
    *,
    most: int = 1024,
    lines: bool = False,
    exact: bool = False,
    pattern: str = "",
    hint: str = "",
    check: Callable[[str], str] | None = None,
) -> GetPydanticSchema:
    """Return the type of text without NUL, of at most `most` bytes.

    `check` validates further; `lines` allows line breaks, normalized to LF unless `exact`.
    """

    def read(value: object) -> str:
        text = _text_of(value)
        if lines and not exact:
            text = text.replace("\r\n", "\n")
        _measure(text, most, lines)
        if pattern and not re.fullmatch(pattern, text):
            raise ValueError(f"must be {hint}")
        return check(text) if check else text

    schema = {**TEXT, "maxLength": most}
    return field_type(read, {**schema, "pattern": f"^(?:{pattern})$"} if pattern else schema)


def name(pattern: str, check: Callable[[str], None]) -> GetPydanticSchema:
    """Return the type of the names of a mapping; `check` raises for a forbidden one."""

    def read(value: object) -> str:
        if not isinstance(value, str):
            raise invalid("names must be text; put the name in quotes")
        check(value)
        return value

    return field_type(read, {"type": "string", "pattern": f"^(?:{pattern})$"})


def choice(
    words: type[E], *, aliases: Mapping[str, E] | None = None, only: tuple[E, ...] = ()
) -> GetPydanticSchema:
    """Return the type of the members of an enum; `aliases` are alternative spellings."""
    known = {word.value: word for word in (only or tuple(words))}
    accepted = {**known, **(aliases or {})}

    def read(value: object) -> E:
        word = value.strip().lower() if isinstance(value, str) else ""
        if word not in accepted:
            raise ValueError(f"must be one of {', '.join(known)}{nearest(word, known)}")
        return accepted[word]

    return field_type(read, {"enum": [*accepted]})


def whole(least: int, most: int) -> GetPydanticSchema:
    """Return the type of whole numbers from `least` to `most`."""
    return field_type(
        lambda value: read_whole(value, least, most),
        {
            "anyOf": [
                {"type": "integer", "minimum": least, "maximum": most},
                {"type": "string", "pattern": r"^\s*[+-]?[0-9]{1,18}\s*$"},
            ]
        },
    )


def read_whole(value: object, least: int, most: int, what: str = "") -> int:
    """Return a whole number. Raises ValueError."""
    value = plain(value)
    if isinstance(value, str) and re.fullmatch(r"[+-]?[0-9]{1,18}", value.strip(), re.ASCII):
        value = int(value)
    if isinstance(value, float) and math.isfinite(value) and value == int(value):
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise ValueError(f"must be a whole number from {least:,} to {most:,}{what}")
    return value


def switch() -> GetPydanticSchema:
    """Return the type of true and false."""

    def read(value: object) -> bool:
        value = plain(value)
        if not isinstance(value, bool):
            raise ValueError("must be true or false")
        return value

    return field_type(read, {"type": "boolean"})


def size(most: int) -> GetPydanticSchema:
    return _quantity(
        grammar.SIZE_HINT, grammar.parse_size, grammar.format_size, grammar.SIZE_PATTERN, 0, most
    )


def duration(least: int, most: int) -> GetPydanticSchema:
    return _quantity(
        grammar.DURATION_HINT,
        grammar.parse_duration,
        grammar.format_duration,
        grammar.DURATION_PATTERN,
        least,
        most,
    )


def cores(least: float, most: float) -> GetPydanticSchema:
    return _quantity(
        grammar.CORES_HINT, grammar.parse_cores, _plain_number, grammar.CORES_PATTERN, least, most
    )


def _quantity(
    hint: str,
    parse: Callable[[int | float | str], Any],
    form: Callable[[Any], Any],
    pattern: str,
    least: float,
    most: float,
) -> GetPydanticSchema:
    """Return the type of numbers with their own syntax; `form` is the inverse of `parse`."""

    def read(value: object) -> Any:
        typed, value = value, plain(value)
        if (
            isinstance(value, bool)
            or not isinstance(value, int | float | str)
            or _is_endless(value)
        ):
            raise ValueError(f"must be {hint}, and finite")
        number = parse(value)
        if not least <= number <= most:
            raise invalid(
                f"{shown(typed)} is out of range: must be from {form(least)} to {form(most)} "
                f"({hint})"
            )
        return number

    return field_type(
        read,
        {"anyOf": [{"type": "number", "minimum": 0}, {"type": "string", "pattern": pattern}]},
        form,
    )


def _measure(text: str, most: int, lines: bool) -> None:
    if "\0" in text:
        raise invalid("contains a NUL character, which cannot be passed to a program")
    try:
        size = len(text.encode())
    except UnicodeEncodeError:
        raise invalid("contains a lone surrogate; use valid Unicode") from None
    if size > most:
        raise invalid(f"is {size:,} bytes long; at most {most:,} are allowed")
    bad = None if lines else next((char for char in text if char < " "), None)
    if bad:
        raise invalid(
            f"contains the control character {bad!r}; only printable text on one line is allowed"
        )


def _text_of(value: object) -> str:
    """Return numbers and booleans as typed: `VERSION: 1.10` stays "1.10"."""
    if isinstance(value, str):
        return str(value)
    if value is None:
        raise invalid('is empty; write "" for an empty text (and quote a value that begins with #)')
    if not isinstance(value, bool | int | float):
        raise invalid(f"must be text, not {shown(value)}")
    if isinstance(value, bool):
        return "true" if value else "false"
    if _is_endless(value):
        raise invalid(f"{shown(value)} is not a finite number; put it in quotes to send it as text")
    return str(value)


def _plain_number(value: float) -> int | float:
    return int(value) if value == int(value) else value


def _is_endless(value: int | float | str) -> bool:
    """Whether a number is NaN, infinite or has absurdly many digits."""
    return not isinstance(value, str) and not abs(value) <= 10**24
