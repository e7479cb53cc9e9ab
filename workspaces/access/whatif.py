"""Preview a change of memberships or of a custom role in the current organization.

Nothing is stored.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from workspaces.access.custom_roles import read_custom_roles
from workspaces.access.differences import EVERYWHERE, MemberDifference, PersonRoles, differences
from workspaces.access.roles import custom_role
from workspaces.models import Membership, Organization, TeamMembership


def preview_memberships(
    org: Organization, changes: Mapping[str, PersonRoles]
) -> list[MemberDifference]:
    """Return the differences if these people had the given roles.

    `PersonRoles()` removes somebody from the organization; everybody else stays unchanged.
    """
    changes = {email.lower(): standing for email, standing in changes.items()}
    return differences(standings(changes), changes, read_custom_roles(org.id))


def preview_role(
    org: Organization, slug: str, permissions: Sequence[str]
) -> list[MemberDifference]:
    """Return the differences if a custom role granted `permissions` instead."""
    own = read_custom_roles(org.id)
    changed = replace(custom_role(slug, own[slug].kind, own[slug].name, permissions), unknown=())
    now = standings()
    return differences(now, now, own, {**own, slug: changed})


def standings(emails: Collection[str] | None = None) -> dict[str, PersonRoles]:
    """Return the roles of all members, or of these. Suspended memberships are left out."""
    members, seats = Membership.objects.filter(suspended_at=None), TeamMembership.objects.all()
    if emails is not None:
        members, seats = (
            members.filter(user__email__in=[*emails]),
            seats.filter(user__email__in=[*emails]),
        )
    teams: dict[str, dict[str, str]] = defaultdict(dict)
    for email, team, role in seats.values_list("user__email", "team__slug", "role"):
        teams[email][team] = role
    return {
        email: PersonRoles(role, teams.get(email, {}))
        for email, role in members.values_list("user__email", "role")
    }


def difference_row(one: MemberDifference) -> dict[str, Any]:
    """Return a difference as shown by the API and the pages."""
    return {
        "person": one.email,
        "before": _roles(one.before),
        "after": _roles(one.after),
        "gained": _grants_by_team(one.gained),
        "lost": _grants_by_team(one.lost),
    }


def _roles(standing: PersonRoles) -> dict[str, Any]:
    return {"role": standing.org_role or None, "teams": dict(standing.teams)}


def _grants_by_team(reach: Mapping[str, Collection[str]]) -> list[dict[str, Any]]:
    return [
        {
            "team": None if place == EVERYWHERE else place,
            "permissions": sorted(str(p) for p in permissions),
        }
        for place, permissions in reach.items()
    ]
