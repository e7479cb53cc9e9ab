"""Entries of this app in the navigation."""

from __future__ import annotations

from django.utils.translation import gettext_lazy as _

from portal.web.navigation import Group, NavigationEntry
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
