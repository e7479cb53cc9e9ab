"""Entries of this app in the navigation."""

from __future__ import annotations

from django.utils.translation import gettext_lazy as _

from portal.web.navigation import Entry, Group
from workspaces.access.permissions import Permission as P

ENTRIES = (
    Entry(Group.ORGANIZATION, _("Teams"), "teams", "teams", P.TEAMS_READ, 70, "t"),
    Entry(Group.ORGANIZATION, _("Members"), "members", "members", P.MEMBERS_READ, 80, "m"),
    Entry(
        Group.ORGANIZATION,
        _("Directories"),
        "directories",
        "directories",
        P.PROVIDERS_READ,
        90,
        "d",
    ),
    Entry(Group.ORGANIZATION, _("Roles"), "roles", "roles", P.MEMBERS_READ, 100, "r"),
    Entry(
        Group.PLATFORM, _("Applications"), "applications", "tokens", P.APPLICATIONS_READ, 120, "i"
    ),
    Entry(Group.ORGANIZATION, _("Tokens"), "tokens", "tokens", P.TOKENS_READ, 130, "k"),
    Entry(Group.ORGANIZATION, _("Secrets"), "secrets", "secrets", None, 140, "s"),
    Entry(
        Group.ORGANIZATION, _("Announcements"), "announcements", "announce", P.ORG_ADMIN, 150, "b"
    ),
    Entry(Group.ORGANIZATION, _("Audit"), "audit", "audit", P.AUDIT_READ, 160, "a"),
    Entry(
        Group.PLATFORM,
        _("Platform"),
        "platform-organizations",
        "platform",
        P.PLATFORM_ADMIN,
        170,
        "o",
    ),
)
