"""Entries of this app in the navigation, and its actions in the command palette."""

from __future__ import annotations

from django.utils.translation import pgettext_lazy

from portal.web.navigation import Action, Group, NavigationEntry, dialog
from workspaces.access.permissions import Permission as P

ENTRIES = (
    NavigationEntry(
        Group.WORK,
        pgettext_lazy("navigation", "Experiments"),
        "experiments",
        "experiments",
        None,
        40,
        "e",
    ),
)

ACTIONS = (
    Action(
        pgettext_lazy("button", "New experiment"),
        pgettext_lazy("synonyms", "tracking, MLflow, project"),
        "experiments",
        dialog("new-experiment"),
        permission=P.EXPERIMENTS_WRITE,
    ),
)
