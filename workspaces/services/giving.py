"""Nobody hands out more than they hold. Asked wherever a role is given to a person, by whatever way."""

from __future__ import annotations

from uuid import UUID

from portal.core.errors import InvalidInput, NotPermitted
from workspaces.actors import Actor, authorize
from workspaces.models import Membership, Team
from workspaces.permissions import HANDED_ON, ORG_GRANTS, TEAM_GRANTS, OrgRole, Permission, org_role_title, team_role_title


def org_roles_for(actor: Actor) -> list[dict[str, str]]:
    """The roles that the actor may give in the organization, as a form offers them."""
    return [{"slug": role, "title": org_role_title(role)} for role in ORG_GRANTS
            if ORG_GRANTS[role] <= actor.granted()]


def team_roles_for(actor: Actor, team: Team) -> list[dict[str, str]]:
    """The same for a team: those that they may give to others."""
    hands_on = Permission.MEMBERS_WRITE in actor.granted()
    return [{"slug": role, "title": team_role_title(role)} for role in TEAM_GRANTS
            if TEAM_GRANTS[role] <= actor.granted(team.id) or (hands_on and role in HANDED_ON)]


def check_org_role(actor: Actor, role: str) -> str:
    """The role, if the actor may give it to somebody here. Raises InvalidInput for one that there is not, NotPermitted."""
    if role not in ORG_GRANTS:
        raise InvalidInput.at("role", f"must be one of {', '.join(ORG_GRANTS)}")
    if role == OrgRole.OWNER:
        authorize(actor, Permission.ORG_ADMIN)
    _check_held(actor, None, org_role_title(role), ORG_GRANTS[role])
    return role


def check_org_role_of(actor: Actor, membership: Membership) -> None:
    """Who could not give a role does not change or remove who has it. Raises NotPermitted."""
    if membership.role == OrgRole.OWNER:
        authorize(actor, Permission.ORG_ADMIN)
    _check_held(actor, None, org_role_title(membership.role), ORG_GRANTS.get(membership.role, frozenset()))


def check_team_role(actor: Actor, team: Team, role: str, user_id: UUID) -> str:
    """The same in a team. Who brings people into the organization also brings *others* into its teams to work or look."""
    if role not in TEAM_GRANTS:
        raise InvalidInput.at("role", f"must be one of {', '.join(TEAM_GRANTS)}")
    is_handed_on = role in HANDED_ON and user_id != actor.user_id and Permission.MEMBERS_WRITE in actor.granted()
    if not is_handed_on:
        _check_held(actor, team.id, team_role_title(role), TEAM_GRANTS[role])
    return role


def may_lead(actor: Actor) -> bool:
    """Whether leading a team they make gives the actor nothing that they lack."""
    return TEAM_GRANTS["lead"] <= actor.granted()


def _check_held(actor: Actor, team_id: UUID | None, title: str, grants: frozenset[Permission]) -> None:
    """By the person's roles: what a token narrows are the acts, not the roles they are about."""
    lacking = sorted(grants - actor.granted(team_id))
    if lacking:
        raise NotPermitted(f"You cannot give or take the role {title}: it holds {', '.join(lacking)}, which you do not hold"
                           f" {'in this team' if team_id else 'in this organization'} yourself.",
                           data={"permissions": [str(p) for p in lacking]})
