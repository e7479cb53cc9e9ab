"""Entries of this app in the navigation."""

from __future__ import annotations

from django.utils.translation import gettext_lazy as _

from portal.web.navigation import Group, NavigationEntry
from workspaces.access.permissions import Permission as P

ENTRIES = (
    NavigationEntry(Group.COMPUTE, _("Pools"), "pools", "pools", P.NODES_READ, 40, "p"),
    NavigationEntry(
        Group.PLATFORM, _("Clusters"), "clusters", "clusters", P.CLUSTERS_READ, 20, "l"
    ),
    NavigationEntry(
        Group.PLATFORM, _("Partitioning"), "mig-plans", "slices", P.CLUSTERS_READ, 32, "m"
    ),
    NavigationEntry(
        Group.PLATFORM,
        _("GPU requests"),
        "platform-pool-requests",
        "inbox",
        P.CLUSTERS_READ,
        35,
        "r",
    ),
)
