"""Entries of this app in the navigation, and its actions in the command palette."""

from __future__ import annotations

from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from portal.web.navigation import Action, Area, Group, NavigationEntry, dialog
from workspaces.access.permissions import Permission as P

ENTRIES = (
    NavigationEntry(Group.COMPUTE, _("Usage"), "usage", "usage", None, 70, "u"),
    NavigationEntry(
        Group.PLATFORM, _("Usage"), "platform-usage", "usage", P.CLUSTERS_READ, 45, "u"
    ),
    NavigationEntry(
        Group.PLATFORM, _("Prices"), "platform-prices", "price", P.PLATFORM_ADMIN, 55, "p"
    ),
)

ACTIONS = (
    Action(
        _("Set budget"),
        pgettext_lazy("synonyms", "limit cost, spending, alert"),
        "usage-cost",
        dialog("set-budget"),
    ),
    Action(
        _("Set price"),
        pgettext_lazy("synonyms", "cost of a GPU, rate"),
        "platform-prices",
        dialog("set-price"),
        permission=P.PLATFORM_ADMIN,
        area=Area.PLATFORM,
    ),
)
