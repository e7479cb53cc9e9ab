"""Registry of the entries of the navigation: each app registers the pages that it owns."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from django.urls import reverse
from django.utils.translation import gettext_lazy as _

if TYPE_CHECKING:
    from django.utils.functional import _StrPromise


class Group(StrEnum):
    WORK = "work"
    ASSETS = "assets"
    COMPUTE = "compute"
    ORGANIZATION = "organization"
    PLATFORM = "platform"


GROUP_LABELS: dict[Group, str | _StrPromise] = {
    Group.WORK: _("Work"),
    Group.ASSETS: _("Assets"),
    Group.COMPUTE: _("Compute"),
    Group.ORGANIZATION: _("Organization"),
    Group.PLATFORM: _("Platform"),
}


@dataclass(frozen=True)
class Entry:
    """One page in the navigation: of an organization, or of the platform area.

    `permission` is what an actor needs to see the entry; None shows it to every member. `key` is
    the key that opens the page after `g`; entries of the platform area may reuse keys.
    """

    group: Group
    label: str | _StrPromise
    url_name: str
    icon: str
    permission: str | None
    order: int
    key: str

    @property
    def is_platform(self) -> bool:
        return self.group is Group.PLATFORM

    def url(self, org: str = "") -> str:
        """Return the page's path, in an organization unless it is of the platform area."""
        return reverse(self.url_name, kwargs={} if self.is_platform else {"org": org})


_entries: dict[str, Entry] = {}
_running_counts: list[Callable[[Any], int]] = []


def register(*entries: Entry) -> None:
    """Add entries; one with the same URL name is replaced."""
    _entries.update({entry.url_name: entry for entry in entries})


def register_running_count(count: Callable[[Any], int]) -> None:
    """Set the function that counts an actor's running jobs, for the top bar."""
    _running_counts[:] = [count]


def running_count(actor: Any) -> int:
    """Return how many jobs of the actor run in the current organization."""
    return _running_counts[0](actor) if _running_counts else 0


def entries_for(may: Callable[[Any], bool], *, is_platform: bool = False) -> list[Entry]:
    """Return the entries in display order, by group, that pass `may` for their permission."""
    order = list(Group)
    return sorted(
        (
            entry
            for entry in _entries.values()
            if entry.is_platform == is_platform
            and (entry.permission is None or may(entry.permission))
        ),
        key=lambda entry: (order.index(entry.group), entry.order),
    )
