"""Entries of this app in the navigation, and its actions in the command palette."""

from __future__ import annotations

from django.utils.translation import pgettext_lazy

from portal.web.navigation import Action, Area, Group, NavigationEntry, dialog
from workspaces.access.permissions import Permission as P

ENTRIES = (
    NavigationEntry(
        Group.COMPUTE, pgettext_lazy("navigation", "Usage"), "usage", "usage", None, 70, "u"
    ),
    NavigationEntry(
        Group.PLATFORM,
        pgettext_lazy("navigation", "Usage"),
        "platform-usage",
        "usage",
        P.CLUSTERS_READ,
        45,
        "u",
    ),
    NavigationEntry(
        Group.PLATFORM,
        pgettext_lazy("navigation", "Prices"),
        "platform-prices",
        "price",
        P.PLATFORM_ADMIN,
        55,
        "p",
    ),
)

ACTIONS = (
    Action(
        pgettext_lazy("button", "Set budget"),
        pgettext_lazy("synonyms", "limit cost, spending, alert"),
        "usage-cost",
        dialog("set-budget"),
    ),
    Action(
        pgettext_lazy("button", "Set price"),
        pgettext_lazy("synonyms", "cost of a GPU, rate"),
        "platform-prices",
        dialog("set-price"),
        permission=P.PLATFORM_ADMIN,
        area=Area.PLATFORM,
    ),
)
