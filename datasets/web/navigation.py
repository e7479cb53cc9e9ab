"""Entries of this app in the navigation."""

from __future__ import annotations

from django.utils.translation import gettext_lazy as _

from portal.web.navigation import Entry, Group

# Whether there is something to see depends on the teams of a member
ENTRIES = (
    Entry(Group.ASSETS, _("Datasets"), "datasets", "datasets", None, 10, "f"),
    Entry(Group.ASSETS, _("Checkpoints"), "checkpoints", "checkpoints", None, 15, "y"),
    Entry(Group.ASSETS, _("Workspaces"), "workspaces", "workspaces", None, 17, "w"),
)
