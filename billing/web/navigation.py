"""Entries of this app in the navigation."""

from __future__ import annotations

from django.utils.translation import gettext_lazy as _

from portal.web.navigation import Entry, Group
from workspaces.access.permissions import Permission as P

ENTRIES = (
    Entry(Group.COMPUTE, _("Usage"), "usage", "usage", None, 70, "u"),
    Entry(Group.PLATFORM, _("Usage"), "platform-usage", "usage", P.CLUSTERS_READ, 45, "u"),
    Entry(Group.PLATFORM, _("Prices"), "platform-prices", "price", P.PLATFORM_ADMIN, 55, "p"),
)
