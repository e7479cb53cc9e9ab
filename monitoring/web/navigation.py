"""Entries of this app in the navigation, and its actions in the command palette."""

from __future__ import annotations

from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from monitoring.web.search import DRAIN, RESUME
from portal.web.navigation import Action, Area, Group, NavigationEntry, dialog
from workspaces.access.permissions import Permission as P

ENTRIES = (
    NavigationEntry(
        Group.COMPUTE,
        pgettext_lazy("navigation", "Capacity"),
        "capacity",
        "capacity",
        P.NODES_READ,
        25,
        "c",
    ),
    NavigationEntry(
        Group.COMPUTE, pgettext_lazy("navigation", "Nodes"), "nodes", "nodes", P.NODES_READ, 30, "n"
    ),
    NavigationEntry(
        Group.PLATFORM,
        pgettext_lazy("navigation", "Overview"),
        "platform-overview",
        "overview",
        P.CLUSTERS_READ,
        10,
        "h",
    ),
    NavigationEntry(
        Group.PLATFORM,
        pgettext_lazy("navigation", "Capacity"),
        "platform-capacity",
        "capacity",
        P.CLUSTERS_READ,
        30,
        "c",
    ),
    NavigationEntry(
        Group.PLATFORM,
        pgettext_lazy("navigation", "Nodes"),
        "platform-nodes",
        "nodes",
        P.CLUSTERS_READ,
        25,
        "n",
    ),
    NavigationEntry(
        Group.PLATFORM,
        pgettext_lazy("navigation", "Fleet"),
        "platform-fleet",
        "columns",
        P.CLUSTERS_READ,
        31,
        "f",
    ),
    NavigationEntry(
        Group.PLATFORM,
        pgettext_lazy("navigation", "Telemetry"),
        "platform-telemetry",
        "telemetry",
        P.CLUSTERS_READ,
        32,
        "t",
    ),
)

ACTIONS = (
    Action(
        pgettext_lazy("button", "Drain a node …"),
        pgettext_lazy("synonyms", "cordon, maintenance, take out of service"),
        permission=P.CLUSTERS_WRITE,
        area=Area.EVERYWHERE,
        text=DRAIN,
    ),
    Action(
        pgettext_lazy("button", "Resume a node …"),
        pgettext_lazy("synonyms", "undrain, uncordon, return to service"),
        permission=P.CLUSTERS_WRITE,
        area=Area.EVERYWHERE,
        text=RESUME,
    ),
    Action(
        pgettext_lazy("button", "Free GPUs"),
        pgettext_lazy("synonyms", "available GPUs, idle, capacity"),
        "capacity",
        permission=P.NODES_READ,
    ),
    Action(
        _("Add telemetry source"),
        pgettext_lazy("synonyms", "Prometheus, DCGM, metrics, Grafana, monitoring"),
        "platform-telemetry",
        dialog("add-source"),
        permission=P.CLUSTERS_WRITE,
        area=Area.PLATFORM,
    ),
)
