"""Entries of this app in the navigation, and its actions in the command palette."""

from __future__ import annotations

from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from portal.web.navigation import Action, Area, Group, NavigationEntry, dialog
from workspaces.access.permissions import Permission as P

_ORG, _PLATFORM = Group.ORGANIZATION, Group.PLATFORM

ENTRIES = (
    NavigationEntry(
        _ORG, pgettext_lazy("navigation", "People"), "members", "people", P.MEMBERS_READ, 10, "m"
    ),
    NavigationEntry(
        _ORG, pgettext_lazy("navigation", "Teams"), "teams", "teams", P.TEAMS_READ, 20, "t"
    ),
    NavigationEntry(
        _ORG, pgettext_lazy("navigation", "Roles"), "roles", "roles", P.MEMBERS_READ, 30, "r"
    ),
    NavigationEntry(
        _ORG, pgettext_lazy("navigation", "Secrets"), "secrets", "secrets", None, 40, "z"
    ),
    NavigationEntry(
        _ORG, pgettext_lazy("navigation", "Tokens"), "tokens", "tokens", P.TOKENS_READ, 50, "k"
    ),
    NavigationEntry(
        _ORG,
        pgettext_lazy("navigation", "Sign-in"),
        "directories",
        "sign-in",
        P.PROVIDERS_READ,
        60,
        "d",
    ),
    NavigationEntry(
        _ORG,
        pgettext_lazy("navigation", "Requests"),
        "approvals",
        "approvals",
        P.TEAMS_READ,
        65,
        "v",
    ),
    NavigationEntry(
        _ORG,
        pgettext_lazy("navigation", "Announcements"),
        "announcements",
        "announcements",
        P.ORG_ADMIN,
        70,
        "b",
    ),
    NavigationEntry(
        _ORG, pgettext_lazy("navigation", "Audit"), "audit", "audit", P.AUDIT_READ, 80, "a"
    ),
    NavigationEntry(
        _PLATFORM,
        pgettext_lazy("navigation", "Organizations"),
        "platform-organizations",
        "organizations",
        P.PLATFORM_ADMIN,
        50,
        "o",
    ),
    NavigationEntry(
        _PLATFORM,
        pgettext_lazy("navigation", "People"),
        "platform-people",
        "people",
        P.PLATFORM_ADMIN,
        60,
        "m",
    ),
    NavigationEntry(
        _PLATFORM,
        pgettext_lazy("navigation", "Applications"),
        "applications",
        "applications",
        P.APPLICATIONS_READ,
        70,
        "i",
    ),
    NavigationEntry(
        _PLATFORM,
        pgettext_lazy("navigation", "Audit"),
        "audit-installation",
        "audit",
        P.AUDIT_PLATFORM,
        80,
        "a",
    ),
)

ACTIONS = (
    Action(
        pgettext_lazy("button", "Invite people"),
        pgettext_lazy("synonyms", "invite, add user, add person, add member, onboard, new member"),
        "invitations",
        dialog("invite"),
        permission=P.MEMBERS_WRITE,
    ),
    Action(
        pgettext_lazy("button", "Add person"),
        pgettext_lazy("synonyms", "add user, add member, invite, new user, create account"),
        "members",
        dialog("add-person"),
        permission=P.MEMBERS_WRITE,
    ),
    Action(
        pgettext_lazy("button", "New team"),
        pgettext_lazy("synonyms", "create team, group, project"),
        "teams",
        dialog("new-team"),
        permission=P.TEAMS_WRITE,
    ),
    Action(
        pgettext_lazy("button", "New token"),
        pgettext_lazy("synonyms", "create token, API key, access token, CLI, CI"),
        "tokens",
        dialog("new-token"),
        permission=P.TOKENS_WRITE,
    ),
    Action(
        _("New service account"),
        pgettext_lazy("synonyms", "robot, bot, CI, machine user"),
        "service-accounts",
        dialog("new-account"),
        permission=P.MEMBERS_WRITE,
    ),
    Action(
        pgettext_lazy("button", "Add secret"),
        pgettext_lazy("synonyms", "password, credential, API key, environment variable"),
        "secrets",
        dialog("add-secret"),
        permission=P.SECRETS_WRITE,
    ),
    Action(
        pgettext_lazy("button", "Check access"),
        pgettext_lazy("synonyms", "permissions, who may, why not, forbidden, roles"),
        "access",
        permission=P.MEMBERS_READ,
    ),
    Action(
        _("Connect a directory"),
        pgettext_lazy(
            "synonyms", "LDAP, Active Directory, SSO, SAML, OIDC, single sign-on, Okta, SCIM"
        ),
        "directories",
        permission=P.PROVIDERS_WRITE,
    ),
    Action(
        pgettext_lazy("button", "New announcement"),
        pgettext_lazy("synonyms", "announce, message, maintenance, banner"),
        "announcements",
        dialog("announce"),
        permission=P.ORG_ADMIN,
    ),
    Action(
        pgettext_lazy("button", "New organization"),
        pgettext_lazy("synonyms", "create organization, tenant, company"),
        "platform-organizations",
        dialog("new-organization"),
        permission=P.PLATFORM_ADMIN,
        area=Area.PLATFORM,
    ),
    Action(
        pgettext_lazy("button", "New application"),
        pgettext_lazy("synonyms", "OAuth, OIDC client, sign in with Muster"),
        "applications",
        dialog("new-application"),
        permission=P.APPLICATIONS_WRITE,
        area=Area.PLATFORM,
    ),
    Action(
        pgettext_lazy("button", "Account security"),
        pgettext_lazy("synonyms", "password, passkey, second factor, two-factor, 2FA, TOTP"),
        "mfa_index",
        area=Area.EVERYWHERE,
    ),
    Action(
        pgettext_lazy("button", "Signed-in devices"),
        pgettext_lazy("synonyms", "sessions, sign out everywhere"),
        "account_sessions",
        area=Area.EVERYWHERE,
    ),
    Action(
        pgettext_lazy("button", "Dark theme"),
        pgettext_lazy("synonyms", "dark mode, night, appearance, colours"),
        "",
        area=Area.EVERYWHERE,
        theme="dark",
    ),
    Action(
        pgettext_lazy("button", "Light theme"),
        pgettext_lazy("synonyms", "light mode, day, appearance, colours"),
        "",
        area=Area.EVERYWHERE,
        theme="light",
    ),
    Action(
        _("Theme of the system"),
        pgettext_lazy("synonyms", "automatic theme, appearance, colours"),
        "",
        area=Area.EVERYWHERE,
        theme="",
    ),
    Action(
        pgettext_lazy("button", "API reference"),
        pgettext_lazy("synonyms", "REST, OpenAPI, Swagger, documentation"),
        "docs",
        area=Area.EVERYWHERE,
    ),
)
