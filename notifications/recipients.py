"""Who may see a notification."""

from __future__ import annotations

from uuid import UUID

from django.db.models import Q

from notifications.kinds import KINDS
from portal.core.errors import PortalError
from workspaces.access.actors import Actor, actor_of
from workspaces.access.check import permission_named
from workspaces.models import Membership, Organization, User

_NEEDED = {permission for kind in KINDS for permission in kind.permissions}


def may_see(user: User, org_id: UUID | None, permission: str, team_id: UUID | None) -> bool:
    """Return whether a person may see the object of a notification. Run in a platform scope."""
    if not user.is_active:
        return False
    if org_id is None:
        return user.is_operator
    org = Organization.objects.filter(id=org_id).first()
    actor = entered(actor_of(user), org) if org else None
    return actor is not None and (
        not permission or actor.may(permission_named(permission), team_id)
    )


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
    for permission in sorted(_NEEDED):
        teams = actor.teams_where(permission)
        if teams is None:
            may |= Q(permission=permission)
        elif teams:
            may |= Q(permission=permission, team_id__in=teams)
    return Q(org_id=actor.org_id) & may
