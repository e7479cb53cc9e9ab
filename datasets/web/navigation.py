"""Entries of this app in the navigation."""

from __future__ import annotations

from django.utils.translation import gettext_lazy as _

from portal.web.navigation import Group, NavigationEntry

# Whether there is something to see depends on the teams of a member
ENTRIES = (
    NavigationEntry(Group.ASSETS, _("Datasets"), "datasets", "datasets", None, 10, "f"),
    NavigationEntry(Group.ASSETS, _("Checkpoints"), "checkpoints", "checkpoints", None, 15, "y"),
    NavigationEntry(Group.ASSETS, _("Workspaces"), "workspaces", "workspaces", None, 17, "w"),
)
