"""Report all errors of a spec at once, each with its field and the allowed values."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic_core import PydanticCustomError

MOST_ERRORS = 50
LONGEST_SHOWN = 60
EMPTY = "is empty; a value that begins with # must be in quotes, since # begins a comment"


@dataclass(frozen=True, slots=True)
class FieldError:
    """One error.

    `field` is a dotted path ("resources.memory", "inputs[0].path", "" for the whole document).
    """

    field: str
    message: str
    line: int | None = None  # 1-based; None without source text (a JSON body)

    def __str__(self) -> str:
        where = f"line {self.line}: " if self.line else ""
        return f"{where}{self.field}: {self.message}" if self.field else f"{where}{self.message}"

    def as_dict(self) -> dict[str, Any]:
        return {"field": self.field, "message": self.message, "line": self.line}


class SpecErrors(ValueError):
    """The only exception of the parsers.

    `errors` is never empty and follows the order of the text.
    """

    def __init__(self, errors: Iterable[FieldError]):
        self.errors = tuple(errors)
        super().__init__("\n".join(str(error) for error in self.errors))


def line_of(lines: Mapping[str, int], field_path: str) -> int | None:
    """Return the line of the field, or of the nearest enclosing field in the text."""
    while field_path and field_path not in lines:
        field_path = field_path[: max(field_path.rfind("."), field_path.rfind("["), 0)]
    return lines.get(field_path)


def invalid(message: str) -> PydanticCustomError:
    """Return the error of a value; the message completes the sentence "<field> …".

    A plain ValueError("must be …") is shown after the value instead.
    """
    return PydanticCustomError("invalid", "{message}", {"message": message})


@dataclass
class SpecReport:
    """Collects the errors of one spec and knows the line of each field."""

    lines: Mapping[str, int] = field(default_factory=dict)
    errors: list[FieldError] = field(default_factory=list)
    unsaid: int = 0

    @property
    def is_full(self) -> bool:
        return len(self.errors) >= MOST_ERRORS

    def add(self, field_path: str, message: str, line: int | None = None) -> None:
        if self.is_full:
            self.unsaid += 1
            return
        self.errors.append(FieldError(field_path, message, line or line_of(self.lines, field_path)))

    def raise_if_any(self) -> None:
        if not self.errors:
            return
        errors = sorted(self.errors, key=lambda error: error.line or 0)
        if self.unsaid:
            errors.append(FieldError("", f"and {self.unsaid} more errors that are not listed"))
        raise SpecErrors(errors)


class Scalar(str):
    """A number or boolean of a YAML document as typed ("1.10"), and its value (1.1)."""

    value: bool | int | float

    def __new__(cls, text: str, value: bool | int | float) -> Scalar:
        made = super().__new__(cls, text)
        made.value = value
        return made


def plain(value: object) -> object:
    """Return the value of a scalar, and anything else unchanged."""
    return value.value if isinstance(value, Scalar) else value


def shown(value: object) -> str:
    """Format a value for an error message as one short line, as typed if known (1e999, not inf)."""
    if isinstance(value, Scalar):
        return str(value) if len(value) <= LONGEST_SHOWN else shown(value.value)
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) >= 10**LONGEST_SHOWN:
        return "a number with too many digits"
    if isinstance(value, Mapping):
        return "a mapping"
    if isinstance(value, list | tuple):
        return "a list"
    text = (
        repr(value) if isinstance(value, str | int | float | bytes) else f"a {type(value).__name__}"
    )
    text = text.encode("utf-8", "backslashreplace").decode()
    return text if len(text) <= LONGEST_SHOWN else text[: LONGEST_SHOWN - 1] + "…"


def shown_key(key: object) -> str:
    """Format a key for a field path, shortened or quoted if necessary."""
    if isinstance(key, str) and key.isprintable() and len(key) <= LONGEST_SHOWN:
        return key
    return shown(key)


def nearest(word: str, known: Iterable[str]) -> str:
    """Return "; did you mean `x`?" if a known word is similar, else ""."""
    matches = difflib.get_close_matches(word[:LONGEST_SHOWN].lower(), list(known), n=1, cutoff=0.6)
    return f"; did you mean `{matches[0]}`?" if matches else ""
