"""Report all errors of a spec at once, each with its field and the allowed values."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from schedulers.spec.field_types import Kind

T = TypeVar("T")
MOST_ERRORS = 50
LONGEST_SHOWN = 60


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


class InvalidValue(Exception):
    """A value is not allowed; the message completes the sentence "<field> …"."""


@dataclass
class Report:
    """Collects the errors of one spec and knows the line of each field."""

    lines: Mapping[str, int] = field(default_factory=dict)
    sources: Mapping[str, str] = field(default_factory=dict)
    errors: list[FieldError] = field(default_factory=list)
    unsaid: int = 0

    @property
    def is_full(self) -> bool:
        return len(self.errors) >= MOST_ERRORS

    @property
    def count(self) -> int:
        return len(self.errors) + self.unsaid

    def add(self, field_path: str, message: str, line: int | None = None) -> None:
        if self.is_full:
            self.unsaid += 1
            return
        self.errors.append(FieldError(field_path, message, line or self.line_of(field_path)))

    def line_of(self, field_path: str) -> int | None:
        """Return the line of the field, or of the nearest enclosing field in the text."""
        while field_path and field_path not in self.lines:
            field_path = field_path[: max(field_path.rfind("."), field_path.rfind("["), 0)]
        return self.lines.get(field_path)

    def raise_if_any(self) -> None:
        if not self.errors:
            return
        errors = sorted(self.errors, key=lambda error: error.line or 0)
        if self.unsaid:
            errors.append(FieldError("", f"and {self.unsaid} more errors that are not listed"))
        raise SpecErrors(errors)


@dataclass(frozen=True, slots=True)
class Location:
    """The position of a value in the spec while it is parsed."""

    report: Report
    path: str = ""

    def key(self, name: str) -> Location:
        return Location(self.report, f"{self.path}.{name}" if self.path else name)

    def item(self, index: int) -> Location:
        return Location(self.report, f"{self.path}[{index}]")

    @property
    def source(self) -> str | None:
        """Return the scalar as typed ("1.10"), if the spec came as text."""
        return self.report.sources.get(self.path)

    def add(self, message: str) -> None:
        self.report.add(self.path, message)

    def shown(self, value: object) -> str:
        """Format the value for a message, as typed if known (1e999, not inf)."""
        typed = self.source
        return shown(value) if typed is None or len(typed) > LONGEST_SHOWN else typed

    def read(self, kind: Kind[T], value: object, default: T) -> T:
        """Parse the value as `kind`; record an error and return `default` if that fails."""
        try:
            return kind.read(value, self)
        except InvalidValue as fault:
            self.add(str(fault))
            return default


def shown(value: object) -> str:
    """Format a value for an error message as one short line."""
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


def listed(words: Iterable[str]) -> str:
    return ", ".join(words)
