"""Entries of this app in the navigation."""

from __future__ import annotations

from django.utils.translation import gettext_lazy as _

from portal.web.navigation import Group, NavigationEntry

ENTRIES = (
    NavigationEntry(Group.WORK, _("Experiments"), "experiments", "experiments", None, 40, "e"),
)
