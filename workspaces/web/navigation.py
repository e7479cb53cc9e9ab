"""Entries of this app in the navigation."""

from __future__ import annotations

from django.utils.translation import gettext_lazy as _

from portal.web.navigation import Group, NavigationEntry
from workspaces.access.permissions import Permission as P

_ORG, _PLATFORM = Group.ORGANIZATION, Group.PLATFORM

ENTRIES = (
    NavigationEntry(_ORG, _("People"), "members", "people", P.MEMBERS_READ, 10, "m"),
    NavigationEntry(_ORG, _("Teams"), "teams", "teams", P.TEAMS_READ, 20, "t"),
    NavigationEntry(_ORG, _("Roles"), "roles", "roles", P.MEMBERS_READ, 30, "r"),
    NavigationEntry(_ORG, _("Secrets"), "secrets", "secrets", None, 40, "s"),
    NavigationEntry(_ORG, _("Tokens"), "tokens", "tokens", P.TOKENS_READ, 50, "k"),
    NavigationEntry(_ORG, _("Sign-in"), "directories", "sign-in", P.PROVIDERS_READ, 60, "d"),
    NavigationEntry(_ORG, _("Requests"), "approvals", "approvals", P.TEAMS_READ, 65, "v"),
    NavigationEntry(
        _ORG, _("Announcements"), "announcements", "announcements", P.ORG_ADMIN, 70, "b"
    ),
    NavigationEntry(_ORG, _("Audit"), "audit", "audit", P.AUDIT_READ, 80, "a"),
    NavigationEntry(
        _PLATFORM,
        _("Organizations"),
        "platform-organizations",
        "organizations",
        P.PLATFORM_ADMIN,
        50,
        "o",
    ),
    NavigationEntry(_PLATFORM, _("People"), "platform-people", "people", P.PLATFORM_ADMIN, 60, "m"),
    NavigationEntry(
        _PLATFORM, _("Applications"), "applications", "applications", P.APPLICATIONS_READ, 70, "i"
    ),
    NavigationEntry(
        _PLATFORM, _("Audit"), "audit-installation", "audit", P.AUDIT_PLATFORM, 80, "a"
    ),
)
