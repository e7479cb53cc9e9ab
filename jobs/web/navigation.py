"""Entries of this app in the navigation."""

from __future__ import annotations

from django.utils.translation import gettext_lazy as _

from portal.web.navigation import Group, NavigationEntry
from workspaces.access.permissions import Permission as P

ENTRIES = (
    NavigationEntry(Group.WORK, _("Home"), "home", "home", None, 10, "h"),
    NavigationEntry(Group.WORK, _("Jobs"), "jobs", "jobs", None, 20, "j"),
    NavigationEntry(Group.COMPUTE, _("Quotas"), "quotas", "quotas", P.QUOTAS_READ, 60, "q"),
    NavigationEntry(Group.PLATFORM, _("Queue"), "queue", "queue", P.CLUSTERS_READ, 40, "w"),
)
