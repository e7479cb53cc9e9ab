"""Prevent privilege escalation: nobody grants more than they have.

Checked wherever a role is given to a user.
"""

from __future__ import annotations

from uuid import UUID

from portal.core.errors import InvalidInput, NotPermitted
from portal.core.messages import Message
from workspaces.access.actors import Actor, authorize
from workspaces.access.custom_roles import read_custom_roles
from workspaces.access.permissions import (
    DELEGABLE_TEAM_ROLES,
    OrgRole,
    Permission,
    TeamRole,
    team_grants,
)
from workspaces.access.roles import RoleFacts, role_facts, roles_of
from workspaces.models import Membership, Organization, Team


def org_roles_for(actor: Actor, org: Organization) -> list[RoleFacts]:
    """Return the organization roles the actor may give, for a form."""
    return [
        role
        for role in roles_of("org", read_custom_roles(org.id))
        if role.permissions <= actor.granted()
    ]


def team_roles_for(actor: Actor, team: Team) -> list[RoleFacts]:
    """Return the team roles the actor may give to others, for a form."""
    hands_on = Permission.MEMBERS_WRITE in actor.granted()
    return [
        role
        for role in roles_of("team", read_custom_roles(team.org_id))
        if role.permissions <= actor.granted(team.id)
        or (hands_on and role.slug in DELEGABLE_TEAM_ROLES)
    ]


def check_org_role(actor: Actor, org: Organization, slug: str) -> str:
    """Return the role if the actor may give it.

    Raises InvalidInput for unknown roles, NotPermitted.
    """
    role = _existing(org.id, "org", slug)
    if role.slug == OrgRole.OWNER:
        authorize(actor, Permission.ORG_ADMIN)
    _check_held(actor, role)
    return role.slug


def check_org_role_of(actor: Actor, membership: Membership) -> None:
    """Raise NotPermitted unless the actor could have given the role of this membership.

    Nobody changes or removes a member with more permissions than they have.
    """
    if membership.role == OrgRole.OWNER:
        authorize(actor, Permission.ORG_ADMIN)
    _check_held(actor, role_facts("org", membership.role, read_custom_roles(membership.org_id)))


def check_team_role(actor: Actor, team: Team, slug: str, user_id: UUID) -> str:
    """Return the team role if the actor may give it. Raises InvalidInput, NotPermitted.

    User administrators may also add *others* to teams as members or viewers.
    """
    role = _existing(team.org_id, "team", slug)
    is_handed_on = (
        slug in DELEGABLE_TEAM_ROLES
        and user_id != actor.user_id
        and Permission.MEMBERS_WRITE in actor.granted()
    )
    if not is_handed_on:
        _check_held(actor, role, team)
    return role.slug


def may_lead(actor: Actor) -> bool:
    """Return whether leading a team they create would grant the actor nothing new."""
    return team_grants()[TeamRole.LEAD] <= actor.granted()


def _existing(org_id: UUID, kind: str, slug: str) -> RoleFacts:
    own = read_custom_roles(org_id)
    role = role_facts(kind, slug, own)
    if role.is_gone:
        raise InvalidInput.at(
            "role",
            Message(
                "must be one of {names}",
                context="error of a field",
                names=", ".join(one.slug for one in roles_of(kind, own)),
            ),
        )
    return role


def _check_held(actor: Actor, role: RoleFacts, team: Team | None = None) -> None:
    """Check against the user's roles: a token limits the actions, not the roles they are about."""
    lacking = sorted(role.permissions - actor.granted(team.id if team else None))
    if lacking:
        # An impersonated user's missing permissions have another cause
        actor.check_acts_for_oneself()
        where = (
            Message("in team {name}", context="part of a sentence", name=team.slug)
            if team
            else Message("in this organization")
        )
        raise NotPermitted(
            Message(
                "You cannot grant or revoke the role {title}: it includes {lacking}, which you "
                "do not have {where} yourself.",
                title=role.title,
                lacking=", ".join(lacking),
                where=where,
            ),
            data={"permissions": [str(p) for p in lacking]},
        )
