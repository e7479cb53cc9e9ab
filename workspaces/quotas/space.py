"""What takes storage and what nothing refers to: each app answers for its own rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple
from uuid import UUID

from portal.core.declarations import declared
from portal.core.messages import Message


class Total(NamedTuple):
    """How many rows of a kind take how many bytes."""

    number: int
    bytes: int


@dataclass(frozen=True)
class SpaceUse:
    """Something that takes storage, such as a dataset with all of its versions.

    `reason` says why it may be unneeded, and `step` what to do on `page`; both only for such rows.
    """

    title: str
    bytes: int
    team: str = ""
    owner: str = ""
    page: str = ""
    detail: Any = ""
    reason: Any = ""
    step: Any = ""


@dataclass(frozen=True)
class SpaceQuery:
    """Whose storage: what the actor sees in the organization `org` (slug), or in one team of it."""

    actor: Any
    org: str
    team_id: UUID | None = None

    def narrow(self, rows: Any, field: str = "team_id") -> Any:
        """Return the rows of the team that was asked for."""
        return rows.filter(**{field: self.team_id}) if self.team_id else rows


@dataclass(frozen=True)
class SpaceSource:
    """What one kind of rows takes.

    `total` is what counts in quotas, `largest` returns rows in any order, at most as many as asked
    for, and `unused` those that may be unneeded.
    """

    kind: str
    label: Message
    order: int
    total: Callable[[SpaceQuery], Total]
    largest: Callable[[SpaceQuery, int], Sequence[SpaceUse]]
    unused: Callable[[SpaceQuery, int], Sequence[SpaceUse]] | None = None


def sources() -> list[SpaceSource]:
    """Return the sources in the order in which they are shown."""
    return sorted(declared("providers", "SPACE_SOURCES"), key=lambda source: source.order)


def totals(asked: SpaceQuery) -> list[tuple[SpaceSource, Total]]:
    """Return what each kind takes."""
    return [(source, source.total(asked)) for source in sources()]


def largest(asked: SpaceQuery, most: int) -> list[tuple[SpaceSource, SpaceUse]]:
    """Return the largest rows of all kinds, with their sources."""
    found = [(source, use) for source in sources() for use in source.largest(asked, most)]
    return sorted(found, key=lambda one: -one[1].bytes)[:most]


def unused(asked: SpaceQuery, most: int) -> list[tuple[SpaceSource, SpaceUse]]:
    """Return the largest rows that may be unneeded, each with its reason and next step."""
    found = [
        (source, use)
        for source in sources()
        if source.unused is not None
        for use in source.unused(asked, most)
    ]
    return sorted(found, key=lambda one: -one[1].bytes)[:most]
