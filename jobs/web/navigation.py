"""Entries of this app in the navigation."""

from __future__ import annotations

from django.utils.translation import gettext_lazy as _

from portal.web.navigation import Entry, Group
from workspaces.access.permissions import Permission as P

ENTRIES = (
    Entry(Group.WORK, _("Home"), "home", "home", None, 10, "h"),
    Entry(Group.WORK, _("Jobs"), "jobs", "jobs", None, 20, "j"),
    Entry(Group.COMPUTE, _("Quotas"), "quotas", "quotas", P.QUOTAS_READ, 60, "q"),
    Entry(Group.PLATFORM, _("Queue"), "queue", "queue", P.CLUSTERS_READ, 40, "w"),
)
