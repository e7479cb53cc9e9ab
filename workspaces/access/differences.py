"""Compare the access of members before and after a change.

Pure, so that a change can be previewed before anything is stored.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from workspaces.access.permissions import AppPermission
from workspaces.access.roles import NOTHING, CustomRole, granted_by

EVERYWHERE = ""  # the key for grants of an organization role; other keys are team slugs
Reach = Mapping[str, frozenset[AppPermission]]


@dataclass(frozen=True)
class PersonRoles:
    """A member's roles: in the organization, and by slug in its teams.

    `org_role` "" means not a member; team roles then do not count.
    """

    org_role: str = ""
    teams: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class MemberDifference:
    """The changes for one member.

    A permission gained in the whole organization is not repeated for each team.
    """

    email: str
    before: PersonRoles
    after: PersonRoles
    gained: Reach
    lost: Reach


def differences(
    before: Mapping[str, PersonRoles],
    after: Mapping[str, PersonRoles],
    own: Mapping[str, CustomRole],
    own_after: Mapping[str, CustomRole] | None = None,
) -> list[MemberDifference]:
    """Return the members whose roles or permissions differ, by e-mail.

    `own_after`: the custom roles after the change, if those change too.
    """
    own_after = own if own_after is None else own_after
    found = []
    for email in sorted(before.keys() | after.keys()):
        old, new = before.get(email, PersonRoles()), after.get(email, PersonRoles())
        had, has = reach(old, own), reach(new, own_after)
        gained, lost = _added(had, has), _added(has, had)
        if gained or lost or _comparable(old) != _comparable(new):
            found.append(MemberDifference(email, old, new, gained, lost))
    return found


def reach(standing: PersonRoles, own: Mapping[str, CustomRole]) -> Reach:
    """Return what is granted in the organization and in each team with a role.

    Grants of a team include those of the organization.
    """
    everywhere = granted_by("org", standing.org_role, own)
    teams = standing.teams if standing.org_role else {}
    return {EVERYWHERE: everywhere} | {
        team: everywhere | granted_by("team", role, own) for team, role in teams.items()
    }


def _added(had: Reach, has: Reach) -> Reach:
    everywhere = has[EVERYWHERE] - had[EVERYWHERE]
    found = {EVERYWHERE: everywhere}
    for team in sorted((had.keys() | has.keys()) - {EVERYWHERE}):
        found[team] = has.get(team, has[EVERYWHERE]) - had.get(team, had[EVERYWHERE]) - everywhere
    return {place: permissions for place, permissions in found.items() if permissions != NOTHING}


def _comparable(standing: PersonRoles) -> tuple[str, dict[str, str]]:
    return standing.org_role, dict(standing.teams) if standing.org_role else {}
