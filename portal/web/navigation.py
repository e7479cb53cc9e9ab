"""The navigation and the actions of the command palette.

Each app declares in `web/navigation.py` the ENTRIES of its pages, and as ACTIONS what people can do.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from django.urls import reverse
from django.utils.translation import pgettext_lazy as pgettext

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
    Group.WORK: pgettext("navigation, group of pages", "Work"),
    Group.ASSETS: pgettext("navigation, group of pages: datasets, models", "Assets"),
    Group.COMPUTE: pgettext("navigation, group of pages: clusters, GPUs", "Compute"),
    Group.ORGANIZATION: pgettext("navigation, group of pages", "Organization"),
    Group.PLATFORM: pgettext("navigation, group of pages", "Platform"),
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


class Area(StrEnum):
    ORGANIZATION = "organization"
    PLATFORM = "platform"
    EVERYWHERE = "everywhere"  # pages of the account, and what opens no page


@dataclass(frozen=True)
class Action:
    """Something to do that the command palette offers: it opens `url_name`, usually at a dialog.

    `words` are other words for it, separated by commas: "add user, member". They are translated and
    found in English, too. An action with a `permission` is offered to those who have it, at least in
    one team. One with a `theme` chooses it; one with `text` searches for something to act on.
    """

    label: str | _StrPromise
    words: str | _StrPromise
    url_name: str = ""
    query: str = ""
    permission: str | None = None
    area: Area = Area.ORGANIZATION
    theme: str | None = None
    text: str | _StrPromise = ""
    key: str = ""

    def url(self, org: str = "") -> str:
        """Return the address that it opens; "" if it opens none."""
        if not self.url_name:
            return ""
        kwargs = {"org": org} if self.area is Area.ORGANIZATION else {}
        return reverse(self.url_name, kwargs=kwargs) + self.query


def dialog(name: str) -> str:
    """Return the query of an address that opens a dialog of the page (c-dialog)."""
    return f"?dialog={name}"


def actions_for(actor: Any, area: Area) -> list[Action]:
    """Return the actions of an area that an actor may take, by app."""
    return [
        one
        for one in declared("web.navigation", "ACTIONS")
        if one.area is area and _may(actor, one.permission)
    ]


def _may(actor: Any, permission: Any) -> bool:
    return permission is None or actor.may(permission) or bool(actor.teams_where(permission))


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
