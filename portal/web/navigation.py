"""The entries of the navigation: each app declares those of its pages in `web/navigation.py`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from portal.core.declarations import declared

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
class NavigationEntry:
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


def running_count(actor: Any) -> int:
    """Return how many jobs of the actor run in the current organization, for the top bar."""
    return sum(count(actor) for count in declared("providers", "RUNNING_COUNTS"))


def entries_for(may: Callable[[Any], bool], *, is_platform: bool = False) -> list[NavigationEntry]:
    """Return the entries in display order, by group, that pass `may` for their permission."""
    order = list(Group)
    return sorted(
        (
            entry
            for entry in declared("web.navigation", "ENTRIES")
            if entry.is_platform == is_platform
            and (entry.permission is None or may(entry.permission))
        ),
        key=lambda entry: (order.index(entry.group), entry.order),
    )
