"""Entries of this app in the navigation, and its actions in the command palette."""

from __future__ import annotations

from django.utils.translation import pgettext_lazy

from portal.web.navigation import Action, Group, NavigationEntry
from workspaces.access.permissions import Permission as P

ENTRIES = (
    NavigationEntry(
        Group.WORK,
        pgettext_lazy("navigation, interactive sessions", "Sessions"),
        "sessions",
        "sessions",
        None,
        30,
        "s",
    ),
)

ACTIONS = (
    Action(
        pgettext_lazy("button", "New session"),
        pgettext_lazy(
            "synonyms", "notebook, Jupyter, VS Code, terminal, shell, TensorBoard, interactive"
        ),
        "session-new",
        permission=P.JOBS_SUBMIT,
    ),
    Action(
        pgettext_lazy("button", "My sessions"),
        pgettext_lazy("synonyms", "my notebooks, active sessions"),
        "sessions",
        "?owner=me&state=queued,starting,ready,stopping",
    ),
)
