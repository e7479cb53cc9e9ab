"""Types of the fields of shapes.

A shape is a TypedDict whose name ends in `Shape`, declared beside the function that returns it. It
says once what the API answers: the OpenAPI schema (`portal.api.shapes`), the types of the SDK
(`manage.py shapes`) and the columns of the command line follow from it. Fields are of these types,
of built-in ones, and of other shapes; a text in `Annotated` describes a field,
and one that is the title of states (`portal.core.states`) lists them.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Generic, TypedDict, TypeVar
from uuid import UUID


@dataclass(frozen=True)
class TextFormat:
    """JSON has a text of this format, as OpenAPI calls it."""

    name: str


T = TypeVar("T")
Id = Annotated[str | UUID, TextFormat("uuid")]
Time = Annotated[str | datetime, TextFormat("date-time")]


class PageShape(TypedDict, Generic[T]):
    items: list[T]
    next: str | None
    previous: str | None


def time_text(at: datetime) -> str:
    """Return a time in UTC as answers have it."""
    return at.isoformat().replace("+00:00", "Z")


def whole_page(rows: list[T]) -> PageShape[T]:
    """Return a list that always fits into one page."""
    return {"items": rows, "next": None, "previous": None}


class PersonShape(TypedDict):
    email: str
    name: str
