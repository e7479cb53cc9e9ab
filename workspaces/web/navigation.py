"""Entries of this app in the navigation."""

from __future__ import annotations

from django.utils.translation import gettext_lazy as _

from portal.web.navigation import Entry, Group
from workspaces.access.permissions import Permission as P

_ORG, _PLATFORM = Group.ORGANIZATION, Group.PLATFORM

ENTRIES = (
    Entry(_ORG, _("People"), "members", "people", P.MEMBERS_READ, 10, "m"),
    Entry(_ORG, _("Teams"), "teams", "teams", P.TEAMS_READ, 20, "t"),
    Entry(_ORG, _("Roles"), "roles", "roles", P.MEMBERS_READ, 30, "r"),
    Entry(_ORG, _("Secrets"), "secrets", "secrets", None, 40, "s"),
    Entry(_ORG, _("Tokens"), "tokens", "tokens", P.TOKENS_READ, 50, "k"),
    Entry(_ORG, _("Sign-in"), "directories", "sign-in", P.PROVIDERS_READ, 60, "d"),
    Entry(_ORG, _("Requests"), "approvals", "approvals", P.TEAMS_READ, 65, "v"),
    Entry(_ORG, _("Announcements"), "announcements", "announcements", P.ORG_ADMIN, 70, "b"),
    Entry(_ORG, _("Audit"), "audit", "audit", P.AUDIT_READ, 80, "a"),
    Entry(
        _PLATFORM,
        _("Organizations"),
        "platform-organizations",
        "organizations",
        P.PLATFORM_ADMIN,
        50,
        "o",
    ),
    Entry(_PLATFORM, _("People"), "platform-people", "people", P.PLATFORM_ADMIN, 60, "m"),
    Entry(
        _PLATFORM, _("Applications"), "applications", "applications", P.APPLICATIONS_READ, 70, "i"
    ),
    Entry(_PLATFORM, _("Audit"), "audit-installation", "audit", P.AUDIT_PLATFORM, 80, "a"),
)
