"""Entries of this app in the navigation, and its actions in the command palette."""

from __future__ import annotations

from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from portal.web.navigation import Action, Group, NavigationEntry
from workspaces.access.permissions import Permission as P

# Whether there are models to see depends on the teams of a member
ENTRIES = (
    NavigationEntry(
        Group.ASSETS,
        pgettext_lazy("navigation, machine learning", "Models"),
        "models",
        "models",
        None,
        20,
        "o",
    ),
)

ACTIONS = (
    Action(
        _("Register a model"),
        pgettext_lazy("synonyms", "upload model, new model, publish"),
        "model-new",
        permission=P.MODELS_WRITE,
    ),
)
