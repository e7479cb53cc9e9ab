"""Types of the API's answers, as `make shapes` writes them: do not edit."""

from __future__ import annotations

from typing import Annotated, Any, Generic, TypedDict, TypeVar

Id = str
T = TypeVar("T")
Time = str  # ISO 8601


class PageShape(TypedDict, Generic[T]):
    items: list[T]
    next: str | None
    previous: str | None


class ConnectionCheckShape(TypedDict):
    label: str
    state: Annotated[str, "ok, warning, failed or skipped"]
    message: str
    field: Annotated[str, "The option that causes it, or empty."]


class OptionShape(TypedDict):
    name: str
    label: str
    kind: Annotated[str, "text, secret, whole, number, switch or words"]
    note: str
    choices: list[str]
    default: Any
    is_required: bool
    is_rare: bool
    is_long: bool
    is_operators: bool


class PersonShape(TypedDict):
    email: str
    name: str


class SeriesShape(TypedDict):
    name: str
    labels: dict[str, str]
    unit: str
    times: Annotated[list[int], "Unix milliseconds."]
    values: Annotated[list[float | None], "null for gaps, NaN and infinities."]
    steps: Annotated[list[int], "Empty for a series without steps."]


class WayShape(TypedDict):
    name: str
    title: str
    about: str
    needs: Annotated[list[str], "Options that it cannot do without."]
    one_of: Annotated[list[str], "Options of which it needs one."]
    also: Annotated[list[str], "Options that it may have."]
