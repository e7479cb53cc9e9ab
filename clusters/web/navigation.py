"""Entries of this app in the navigation, and its actions in the command palette."""

from __future__ import annotations

from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from portal.web.navigation import Action, Area, Group, NavigationEntry, dialog
from workspaces.access.permissions import Permission as P

ENTRIES = (
    NavigationEntry(
        Group.COMPUTE, pgettext_lazy("navigation", "Pools"), "pools", "pools", P.NODES_READ, 40, "p"
    ),
    NavigationEntry(
        Group.PLATFORM,
        pgettext_lazy("navigation", "Clusters"),
        "clusters",
        "clusters",
        P.CLUSTERS_READ,
        20,
        "l",
    ),
    NavigationEntry(
        Group.PLATFORM,
        pgettext_lazy("navigation", "GPU partitioning"),
        "mig-plans",
        "slices",
        P.CLUSTERS_READ,
        32,
        "m",
    ),
    NavigationEntry(
        Group.PLATFORM,
        pgettext_lazy("navigation", "GPU requests"),
        "platform-pool-requests",
        "inbox",
        P.CLUSTERS_READ,
        35,
        "r",
    ),
)

ACTIONS = (
    Action(
        pgettext_lazy("button", "New pool"),
        pgettext_lazy("synonyms", "create pool, partition, share nodes"),
        "clusters",
        permission=P.CLUSTERS_WRITE,
        area=Area.PLATFORM,
    ),
    Action(
        pgettext_lazy("button", "Request GPUs"),
        pgettext_lazy("synonyms", "reserve GPUs, reservation, ask for GPUs, book"),
        "pool-requests",
        dialog("ask-gpus"),
        permission=P.NODES_READ,
    ),
    Action(
        _("Connect a cluster"),
        pgettext_lazy("synonyms", "add cluster, Slurm, Kubernetes, new cluster"),
        "clusters",
        permission=P.CLUSTERS_WRITE,
        area=Area.PLATFORM,
    ),
    Action(
        pgettext_lazy("button", "New MIG plan"),
        pgettext_lazy("synonyms", "partition GPUs, slices, MIG"),
        "mig-plans",
        dialog("new-plan"),
        permission=P.CLUSTERS_WRITE,
        area=Area.PLATFORM,
    ),
)
