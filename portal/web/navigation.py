"""Registry of the entries of the navigation: each app registers the pages that it owns."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from django.urls import reverse

if TYPE_CHECKING:
    from django.utils.functional import _StrPromise


class Group(StrEnum):
    WORK = "work"
    ASSETS = "assets"
    COMPUTE = "compute"
    ORGANIZATION = "organization"
    PLATFORM = "platform"


@dataclass(frozen=True)
class Entry:
    """One page of an organization in the navigation.

    `permission` is what an actor needs to see the entry; None shows it to every member. `key` is
    the key that opens the page after `g`.
    """

    group: Group
    label: str | _StrPromise
    url_name: str
    icon: str
    permission: str | None
    order: int
    key: str

    def url(self, org: str) -> str:
        """Return the page's path in an organization."""
        return reverse(self.url_name, kwargs={"org": org})


_entries: dict[str, Entry] = {}


def register(*entries: Entry) -> None:
    """Add entries; one with the same URL name is replaced."""
    _entries.update({entry.url_name: entry for entry in entries})


def entries_for(may: Callable[[Any], bool]) -> list[Entry]:
    """Return the entries in display order that pass `may` for their permission."""
    return sorted(
        (e for e in _entries.values() if e.permission is None or may(e.permission)),
        key=lambda entry: entry.order,
    )
