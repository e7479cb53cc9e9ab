"""Entries of this app in the navigation."""

from __future__ import annotations

from django.utils.translation import gettext_lazy as _

from portal.web.navigation import Group, NavigationEntry
from workspaces.access.permissions import Permission as P

ENTRIES = (
    NavigationEntry(Group.COMPUTE, _("Capacity"), "capacity", "capacity", P.NODES_READ, 25, "c"),
    NavigationEntry(Group.COMPUTE, _("Nodes"), "nodes", "nodes", P.NODES_READ, 30, "n"),
    NavigationEntry(
        Group.PLATFORM, _("Overview"), "platform-overview", "overview", P.CLUSTERS_READ, 10, "h"
    ),
    NavigationEntry(
        Group.PLATFORM, _("Capacity"), "platform-capacity", "capacity", P.CLUSTERS_READ, 30, "c"
    ),
    NavigationEntry(
        Group.PLATFORM, _("Nodes"), "platform-nodes", "nodes", P.CLUSTERS_READ, 25, "n"
    ),
    NavigationEntry(
        Group.PLATFORM, _("Fleet"), "platform-fleet", "columns", P.CLUSTERS_READ, 31, "f"
    ),
    NavigationEntry(
        Group.PLATFORM,
        _("Telemetry"),
        "platform-telemetry",
        "telemetry",
        P.CLUSTERS_READ,
        32,
        "t",
    ),
)
