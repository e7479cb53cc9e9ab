"""Entries of this app in the navigation."""

from __future__ import annotations

from django.utils.translation import gettext_lazy as _

from portal.web.navigation import Group, NavigationEntry

# Whether there are models to see depends on the teams of a member
ENTRIES = (NavigationEntry(Group.ASSETS, _("Models"), "models", "models", None, 20, "o"),)
