"""Explain the access of any user in the current organization."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from uuid import UUID

from django.utils.translation import pgettext

from portal.core.declarations import declared
from portal.core.errors import InvalidInput
from workspaces.access.actors import Actor, authorize
from workspaces.access.custom_roles import cached_custom_roles
from workspaces.access.permissions import (
    AppPermission,
    Permission,
    all_permissions,
    team_grants,
)
from workspaces.access.steps import AccessQuestion, Explanation, explained
from workspaces.models import Membership, Organization, Team, TeamMembership, User

Needs = tuple[tuple[AppPermission, ...], str]


@dataclass(frozen=True)
class AccessObject:
    """The object a question is about.

    `needs` returns all permissions that an action on it requires of a user, and the reason if they
    differ from the one asked about ("#17 is Ben's").
    """

    team: Team
    title: str
    address: str
    needs: Callable[[AppPermission, UUID | None], Needs]


Finder = Callable[[Actor, Organization, str], AccessObject]


def finders() -> dict[str, Finder]:
    """Return the functions, by kind, that find an object by its display name.

    They are in `providers.py` of the apps above, and raise NotFound if the asking actor cannot see
    the object.
    """
    return dict(declared("providers", "ACCESS_OBJECTS"))


def about_named(actor: Actor, org: Organization, text: str) -> AccessObject:
    """Return an object by kind and name, such as "job:17".

    Raises InvalidInput for unknown kinds, NotFound.
    """
    kind, _, name = text.partition(":")
    known = finders()
    if kind not in known:
        raise InvalidInput.at(
            "about",
            f"must be one of {', '.join(sorted(known)) or 'nothing'}, with a name, such as job:17",
        )
    return known[kind](actor, org, name)


def explain(actor: Actor, permission: AppPermission, team: Team | None = None) -> Explanation:
    """Explain why the actor may or may not, taking its token into account."""
    return explained(actor.case(permission, team))


def explain_person(
    *,
    asker: Actor,
    org: Organization,
    email: str,
    permission: AppPermission,
    team: Team | None = None,
    about: AccessObject | None = None,
) -> Explanation:
    """Explain why a user may or may not, without any token.

    Users may ask about themselves; asking about others requires permission to see members. For
    non-members the answer says only that. Of several permissions, the one that is denied is
    explained. Raises NotPermitted.
    """
    email = email.strip().lower()
    if email != asker.email.lower():
        authorize(asker, Permission.MEMBERS_READ)
    user = User.objects.filter(email=email).first()
    team = about.team if about else team
    needed, rule = (
        about.needs(permission, user.id if user else None) if about else ((permission,), "")
    )
    found = [explained(_case(org, user, email, one, team, rule)) for one in needed]
    return next((one for one in found if not one.allowed), found[-1])


def explain_in_own_teams(
    *, asker: Actor, org: Organization, email: str, permission: AppPermission
) -> list[Explanation]:
    """Explain what a user may do in each of their teams, first where it is allowed.

    What no role of a team grants, and what people without a team may do, is explained for the whole
    organization. Raises NotPermitted.
    """
    of_teams = {p for granted in team_grants().values() for p in granted}
    own = cached_custom_roles(org.id).values()
    of_teams.update(p for role in own if role.kind == "team" for p in role.permissions)
    teams: list[Team | None] = []
    if permission in of_teams:
        seats = TeamMembership.objects.filter(user__email=email.strip().lower())
        teams = [seat.team for seat in seats.select_related("team").order_by("team__slug")]
    found = [
        explain_person(asker=asker, org=org, email=email, permission=permission, team=team)
        for team in teams or [None]
    ]
    return sorted(found, key=lambda one: not one.allowed)


def permission_named(text: str) -> AppPermission:
    """Return a permission by name. Raises InvalidInput, listing the valid ones."""
    known = {str(one): one for one in all_permissions()}
    if text not in known:
        raise InvalidInput.at(
            "permission", f"{text[:40]!r} is not a permission; choose from {', '.join(known)}"
        )
    return known[text]


def _case(
    org: Organization,
    user: User | None,
    email: str,
    permission: AppPermission,
    team: Team | None,
    rule: str,
) -> AccessQuestion:
    member = (
        Membership.objects.select_related("provider").filter(user=user).first() if user else None
    )
    seat = (
        TeamMembership.objects.select_related("provider").filter(user=user, team=team).first()
        if user and team
        else None
    )
    seat = seat if member else None
    return AccessQuestion(
        email=email,
        permission=permission,
        org_id=org.id,
        team_id=team.id if team else None,
        team=team.slug if team else "",
        is_active=user.is_active if user and member else True,
        is_operator=bool(user and user.is_operator and user.is_active),
        org_role=member.role if member else "",
        team_role=seat.role if seat else "",
        own_roles=cached_custom_roles(org.id),
        rule=rule,
        is_suspended=bool(member and member.suspended_at),
        org_via=_via(member),
        team_via=_via(seat),
    )


def _via(row: Membership | TeamMembership | None) -> str:
    """Return the directory group that gave the role, or "" if a person did."""
    if row is None or row.provider is None:
        return ""
    return pgettext("part of a sentence", "the group %(group)s of %(provider)s") % {
        "group": row.via,
        "provider": row.provider.name,
    }
