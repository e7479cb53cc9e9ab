"""Find the smallest changes that would allow a denied action. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from workspaces.access.permissions import AppPermission, OrgRole, operator_grants
from workspaces.access.roles import CustomRole, grantable, granted_by, roles_of
from workspaces.access.steps import AccessQuestion, explained

MAX_PROPOSALS = 3
_CUSTOM = "custom"  # stands for the name of a role that does not exist yet


@dataclass(frozen=True)
class AccessChange:
    """One change to memberships, token or account.

    `org-role` and `team-role` set a role; `custom-role` gives one that does not exist yet, with all
    of the present role in the organization and the permission asked about; `token` requires one with
    sufficient scope; `account-on` enables the account; `resume` ends a suspension; `operator` makes
    the user one.
    """

    kind: str
    role: str = ""


Proposal = tuple[AccessChange, ...]


def apply(case: AccessQuestion, proposal: Proposal) -> AccessQuestion:
    """Return the case after the changes."""
    for change in proposal:
        case = _applied(case, change)
    return case


def smallest_grants(case: AccessQuestion) -> list[Proposal]:
    """Return up to three sets of changes, each of which would allow it.

    Role changes are minimal and never remove a permission that is held. A role that may do nearly
    everything is none where a custom role can grant the permission. Empty if it is already allowed.
    """
    if explained(case).allowed:
        return []
    first = tuple(_removals(case))
    cleared = apply(case, first)
    if explained(cleared).allowed:
        return [first]
    found = [
        (_minimal(case, first + proposal), gained(cleared, apply(cleared, proposal)))
        for proposal in _role_changes(cleared)
    ]
    minimal = [
        (p, gain)
        for p, gain in found
        if not any(other < gain or (other == gain and len(less) < len(p)) for less, other in found)
    ]
    ways = [p for p, _ in sorted(minimal, key=lambda one: (len(one[1]), len(one[0])))]
    narrow = [way for way in ways if not _is_broad(way)]
    if not narrow and case.permission in grantable().values() and case.org_id is not None:
        narrow = [_minimal(case, (*first, AccessChange("custom-role", _CUSTOM)))]
    return (narrow or ways)[:MAX_PROPOSALS]


def _is_broad(proposal: Proposal) -> bool:
    return any(
        change.kind == "operator"
        or (change.kind == "org-role" and change.role in (OrgRole.OWNER, OrgRole.ADMIN))
        for change in proposal
    )


def gained(before: AccessQuestion, after: AccessQuestion) -> frozenset[tuple[bool, AppPermission]]:
    """Return what is added, as (in the team, permission)."""
    return _reach(after) - _reach(before)


def _minimal(case: AccessQuestion, proposal: Proposal) -> Proposal:
    """Drop changes that the others make unnecessary: an operator needs no membership."""
    for change in proposal:
        less = tuple(one for one in proposal if one != change)
        if explained(apply(case, less)).allowed:
            return _minimal(case, less)
    return proposal


def _reach(case: AccessQuestion) -> frozenset[tuple[bool, AppPermission]]:
    org_role, team_role = ("", "") if case.is_suspended else (case.org_role, case.team_role)
    everywhere = (
        operator_grants() if case.is_operator else granted_by("org", org_role, case.own_roles)
    )
    in_team = everywhere | granted_by("team", team_role, case.own_roles)
    return frozenset(
        {(False, p) for p in everywhere} | ({(True, p) for p in in_team} if case.team_id else set())
    )


def _removals(case: AccessQuestion) -> Iterator[AccessChange]:
    """Yield the removal of blocks that no role can override."""
    blocks = {step.kind for step in explained(case).steps if step.effect == "blocks"}
    if "account-off" in blocks:
        yield AccessChange("account-on")
    if "suspended" in blocks:
        yield AccessChange("resume")
    if any(kind.startswith("token-") for kind in blocks):
        yield AccessChange("token")


def _role_changes(case: AccessQuestion) -> Iterator[Proposal]:
    """Yield single role changes that grant it without loss.

    Non-members must join the organization first.
    """
    yield (AccessChange("operator"),)
    if case.org_id is None:
        return
    own, wanted = case.own_roles, case.permission
    held = granted_by("org", case.org_role, own)
    for role in roles_of("org", own):
        if wanted in role.permissions and held <= role.permissions:
            yield (AccessChange("org-role", role.slug),)
    if case.team_id is not None:
        join = () if case.org_role else (AccessChange("org-role", "member"),)
        in_team = granted_by("team", case.team_role, own)
        for role in roles_of("team", own):
            if wanted in role.permissions and in_team <= role.permissions:
                yield (*join, AccessChange("team-role", role.slug))


def _applied(case: AccessQuestion, change: AccessChange) -> AccessQuestion:
    match change.kind:
        case "org-role":
            return replace(case, org_role=change.role)
        case "team-role":
            return replace(case, team_role=change.role)
        case "custom-role":
            held = granted_by("org", case.org_role, case.own_roles)
            made = CustomRole(change.role, "org", change.role, held | {case.permission})
            return replace(
                case, org_role=change.role, own_roles={**case.own_roles, change.role: made}
            )
        case "account-on":
            return replace(case, is_active=True)
        case "resume":
            return replace(case, is_suspended=False)
        case "operator":
            return replace(case, is_operator=True)
    token = case.token
    assert token is not None
    is_outside = any(step.kind == "token-team" for step in explained(case).steps)
    fit = replace(
        token,
        org_id=case.org_id or token.org_id,
        scopes=token.scopes | {str(case.permission)},
        team_id=case.team_id if is_outside else token.team_id,
    )
    return replace(case, token=fit, token_has_ended=False)
