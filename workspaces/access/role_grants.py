"""Nobody hands out more than they hold. Asked wherever a role is given to a person, by whatever way."""

from __future__ import annotations

from uuid import UUID

from portal.core.errors import InvalidInput, NotPermitted
from workspaces.access.actors import Actor, authorize
from workspaces.access.custom_roles import read_own_roles
from workspaces.access.permissions import HANDED_ON, TEAM_GRANTS, OrgRole, Permission, TeamRole
from workspaces.access.roles import RoleFacts, role_facts, roles_of
from workspaces.models import Membership, Organization, Team


def org_roles_for(actor: Actor, org: Organization) -> list[RoleFacts]:
    """The roles that the actor may give in the organization, as a form offers them."""
    return [
        role
        for role in roles_of("org", read_own_roles(org.id))
        if role.permissions <= actor.granted()
    ]


def team_roles_for(actor: Actor, team: Team) -> list[RoleFacts]:
    """The same for a team: those that they may give to others."""
    hands_on = Permission.MEMBERS_WRITE in actor.granted()
    return [
        role
        for role in roles_of("team", read_own_roles(team.org_id))
        if role.permissions <= actor.granted(team.id) or (hands_on and role.slug in HANDED_ON)
    ]


def check_org_role(actor: Actor, org: Organization, slug: str) -> str:
    """The role, if the actor may give it to somebody here. Raises InvalidInput for one that there is not, NotPermitted."""
    role = _existing(org.id, "org", slug)
    if role.slug == OrgRole.OWNER:
        authorize(actor, Permission.ORG_ADMIN)
    _check_held(actor, role)
    return role.slug


def check_org_role_of(actor: Actor, membership: Membership) -> None:
    """Who could not give a role does not change or remove who has it. Raises NotPermitted."""
    if membership.role == OrgRole.OWNER:
        authorize(actor, Permission.ORG_ADMIN)
    _check_held(actor, role_facts("org", membership.role, read_own_roles(membership.org_id)))


def check_team_role(actor: Actor, team: Team, slug: str, user_id: UUID) -> str:
    """The same in a team. Who brings people into the organization also brings *others* into its teams to work or look."""
    role = _existing(team.org_id, "team", slug)
    is_handed_on = (
        slug in HANDED_ON
        and user_id != actor.user_id
        and Permission.MEMBERS_WRITE in actor.granted()
    )
    if not is_handed_on:
        _check_held(actor, role, team)
    return role.slug


def may_lead(actor: Actor) -> bool:
    """Whether leading a team they make gives the actor nothing that they lack."""
    return TEAM_GRANTS[TeamRole.LEAD] <= actor.granted()


def _existing(org_id: UUID, kind: str, slug: str) -> RoleFacts:
    own = read_own_roles(org_id)
    role = role_facts(kind, slug, own)
    if role.is_gone:
        raise InvalidInput.at(
            "role", f"must be one of {', '.join(one.slug for one in roles_of(kind, own))}"
        )
    return role


def _check_held(actor: Actor, role: RoleFacts, team: Team | None = None) -> None:
    """By the person's roles: what a token narrows are the acts, not the roles they are about."""
    lacking = sorted(role.permissions - actor.granted(team.id if team else None))
    if lacking:
        actor.check_acts_for_oneself()  # who acts as a person lacks what that person holds: another reason
        where = f"in team {team.slug}" if team else "in this organization"
        raise NotPermitted(
            f"You cannot give or take the role {role.title}: it holds {', '.join(lacking)}, which you do not hold {where}"
            " yourself.",
            data={"permissions": [str(p) for p in lacking]},
        )
