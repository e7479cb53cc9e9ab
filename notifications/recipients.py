"""Who may see or decide something: people by permission, as `authorize` would say."""

from __future__ import annotations

from collections.abc import Iterable
from uuid import UUID

from django.db.models import Q, QuerySet

from portal.core.errors import PortalError
from workspaces.access.actors import Actor, actor_of
from workspaces.access.custom_roles import custom_roles_for
from workspaces.access.permissions import Permission
from workspaces.access.roles import granted_by
from workspaces.models import Membership, Organization, TeamMembership, User

MOST = 200  # people told about one event


def people_who_may(permission: Permission, org_id: UUID, team_id: UUID | None = None) -> list[User]:
    """Return the members with a permission in the organization, or in that team.

    Operators who are no members are left out. Run in a platform scope.
    """
    members = Membership.objects.filter(org_id=org_id, suspended_at=None)
    roles = dict(members.values_list("user_id", "role"))
    teams = (
        dict(TeamMembership.objects.filter(team_id=team_id).values_list("user_id", "role"))
        if team_id
        else {}
    )
    own = custom_roles_for(org_id, (*roles.values(), *teams.values()))
    found = {
        user
        for user, role in roles.items()
        if permission in granted_by("org", role, own)
        or (user in teams and permission in granted_by("team", teams[user], own))
    }
    return list(_active().filter(id__in=found).order_by("id")[:MOST])


def operators() -> list[User]:
    """Return the operators of the installation."""
    return list(_active().filter(is_operator=True).order_by("id")[:MOST])


def active(users: Iterable[User]) -> list[User]:
    """Return the people among accounts, without suspended ones and service accounts."""
    return [user for user in users if user.is_active and not user.is_service]


def may_see(user: User, org_id: UUID | None, permission: str, team_id: UUID | None) -> bool:
    """Return whether a person may see the object of a notification. Run in a platform scope."""
    if not user.is_active:
        return False
    if org_id is None:
        return user.is_operator
    org = Organization.objects.filter(id=org_id).first()
    actor = entered(actor_of(user), org) if org else None
    return actor is not None and (not permission or actor.may(Permission(permission), team_id))


def entered(actor: Actor, org: Organization) -> Actor | None:
    """Return the actor inside an organization, or None without access."""
    try:
        return actor.enter(org)
    except PortalError:
        return None


def visible(actor: Actor) -> Q:
    """Return what the actor may see of notifications, as a condition. Run in a platform scope.

    The rows must already be those of one person.
    """
    only = actor.token.org_id if actor.token else actor.only_org
    if actor.is_operator and not only:
        return Q()
    memberships = Membership.objects.filter(user_id=actor.user_id, suspended_at=None)
    orgs = Organization.objects.filter(id__in=memberships.values("org_id"))
    if only:
        orgs = Organization.objects.filter(id=only)
    found = Q(pk__in=[])
    for org in orgs:
        if (inside := entered(actor, org)) is not None:
            found |= _inside(inside)
    return found


def _inside(actor: Actor) -> Q:
    """Return the condition for one organization: rows whose permission the actor has."""
    may = Q(permission="")
    for permission in _NEEDED:
        teams = actor.teams_where(permission)
        if teams is None:
            may |= Q(permission=permission)
        elif teams:
            may |= Q(permission=permission, team_id__in=teams)
    return Q(org_id=actor.org_id) & may


_NEEDED = (
    Permission.JOBS_READ,
    Permission.NODES_READ,
    Permission.QUOTAS_READ,
    Permission.QUOTAS_WRITE,
    Permission.BILLING_READ,
    Permission.TEAMS_READ,
    Permission.JOBS_ADMIN,
)


def _active() -> QuerySet[User]:
    return User.objects.filter(is_active=True, is_service=False)
