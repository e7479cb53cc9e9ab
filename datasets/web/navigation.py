"""Entries of this app in the navigation, and its actions in the command palette."""

from __future__ import annotations

from django.utils.translation import pgettext_lazy

from portal.web.navigation import Action, Group, NavigationEntry, dialog
from workspaces.access.permissions import Permission as P

# Whether there is something to see depends on the teams of a member
ENTRIES = (
    NavigationEntry(
        Group.ASSETS, pgettext_lazy("navigation", "Datasets"), "datasets", "datasets", None, 10, "f"
    ),
    NavigationEntry(
        Group.ASSETS,
        pgettext_lazy("navigation", "Checkpoints"),
        "checkpoints",
        "checkpoints",
        None,
        15,
        "y",
    ),
    NavigationEntry(
        Group.ASSETS,
        pgettext_lazy("navigation", "Workspaces"),
        "workspaces",
        "workspaces",
        None,
        17,
        "w",
    ),
)

ACTIONS = (
    Action(
        pgettext_lazy("button", "Upload data"),
        pgettext_lazy("synonyms", "new dataset, add data, import, files"),
        "datasets",
        dialog("new-repository"),
        permission=P.DATASETS_WRITE,
    ),
    Action(
        pgettext_lazy("button", "New workspace"),
        pgettext_lazy("synonyms", "shared folder, home directory, storage"),
        "workspaces",
        dialog("new-workspace"),
        permission=P.DATASETS_WRITE,
    ),
)
