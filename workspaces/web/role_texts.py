"""Texts of the roles: what a role means, and the question before somebody gets it."""

from __future__ import annotations

from collections.abc import Iterable

from django.utils.translation import gettext_noop as _

from portal.core.messages import Message
from portal.web.translation import translated
from workspaces.access.permissions import OrgRole, TeamRole, texts
from workspaces.access.roles import RoleFacts

NAMED = 4  # permissions of a custom role that its description names
_ORG: dict[str, tuple[str, str]] = {
    OrgRole.OWNER: (
        _("Make {name} an owner?"),
        _("Owners can do everything here, including choosing other owners and how people sign in."),
    ),
    OrgRole.ADMIN: (
        _("Make {name} an admin?"),
        _(
            "Admins can manage people, teams, roles, quotas and everybody's jobs. They can't "
            "choose owners or change how people sign in."
        ),
    ),
    OrgRole.USER_ADMIN: (
        _("Make {name} a user admin?"),
        _(
            "User admins can invite and remove people, create teams and manage custom roles. They "
            "can't see jobs."
        ),
    ),
    OrgRole.MEMBER: (
        _("Make {name} a member?"),
        _(
            "Members can see people, teams, nodes and quotas. Their team roles decide which jobs "
            "they can see and run."
        ),
    ),
    OrgRole.VIEWER: (
        _("Make {name} read-only?"),
        _("Read-only people can see every team's jobs. They can't run or change anything."),
    ),
    OrgRole.BILLING_VIEWER: (
        _("Make {name} a billing viewer?"),
        _("Billing viewers can see usage, cost, teams and quotas. They can't see jobs."),
    ),
}
_TEAM: dict[str, tuple[str, str]] = {
    TeamRole.LEAD: (
        _("Make {name} a team admin?"),
        _(
            "Team admins can manage the team's people and everybody's jobs in it, and run their own."
        ),
    ),
    TeamRole.MEMBER: (
        _("Make {name} a member of the team?"),
        _("Members can run jobs in the team and see its jobs, secrets and quotas."),
    ),
    TeamRole.VIEWER: (
        _("Make {name} read-only in the team?"),
        _("Read-only people can see the team's jobs. They can't run any."),
    ),
}
_TABLES = {"org": _ORG, "team": _TEAM}


def role_summary(role: RoleFacts) -> str:
    """Return in the active language what a role lets people do."""
    if role.slug in _TABLES[role.kind]:
        return translated(_TABLES[role.kind][role.slug][1])
    words = [translated(texts()[p]) for p in sorted(role.permissions)]
    if not words:
        return translated(Message("This role doesn't let people do anything yet."))
    if len(words) <= NAMED:
        return translated(Message("People with it can: {acts}.", acts=", ".join(words)))
    acts, n = ", ".join(words[:NAMED]), len(words) - NAMED
    return translated(Message("People with it can: {acts}, and {n} more.", acts=acts, n=n))


def role_question(role: RoleFacts) -> str:
    """Return the question before somebody gets a role; the page fills in `{name}`."""
    known = _TABLES[role.kind].get(role.slug)
    ask = (
        translated(known[0])
        if known
        else translated(Message("Give {name} the role {role}?", name="{name}", role=role.title))
    )
    return f"{ask} {role_summary(role)}"


def role_questions(roles: Iterable[RoleFacts]) -> dict[str, str]:
    """Return the questions by role, for the script of the page."""
    return {role.slug: role_question(role) for role in roles}
