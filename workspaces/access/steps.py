"""Build the chain of grants behind an access decision.

Pure: the steps are computed from a case, and they alone decide.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any
from uuid import UUID

from workspaces.access.permissions import READS, AppPermission
from workspaces.access.roles import CustomRole, RoleFacts, role_facts

if TYPE_CHECKING:
    from workspaces.access.actors import TokenFacts


class Effect(StrEnum):
    """The effect of a step. Access is allowed if a step grants it and none blocks it."""

    GRANTS = "grants"
    SILENT = "silent"  # neither grants nor blocks
    BLOCKS = "blocks"


@dataclass(frozen=True)
class AccessStep:
    """One fact of the chain. `is_decisive`: without it the decision would be reversed."""

    kind: str
    effect: Effect
    facts: Mapping[str, Any] = field(default_factory=dict)
    is_decisive: bool = False


@dataclass(frozen=True)
class AccessQuestion:
    """A question about access, and all facts that bear on it.

    `org_id` is None outside any organization. `team_role` is the role in the team asked about, ""
    for non-members; roles of a suspended membership do not count. `org_via` and `team_via` name the
    directory group that gave a role, if one did. `rule` says why this permission is required.
    """

    email: str
    permission: AppPermission
    org_id: UUID | None = None
    team_id: UUID | None = None
    team: str = ""
    is_active: bool = True
    is_suspended: bool = False
    is_operator: bool = False
    org_role: str = ""
    team_role: str = ""
    own_roles: Mapping[str, CustomRole] = field(default_factory=dict)
    token: TokenFacts | None = None
    token_has_ended: bool = False
    org_via: str = ""
    team_via: str = ""
    rule: str = ""


@dataclass(frozen=True)
class Explanation:
    """A decision and its chain of steps."""

    case: AccessQuestion
    allowed: bool
    steps: tuple[AccessStep, ...]


def explained(case: AccessQuestion) -> Explanation:
    """Return the chain for a case, with its decisive steps marked."""
    steps = (
        *_rule(case),
        *_account(case),
        *_token(case),
        *_operator(case),
        *_organization(case),
        *_team(case),
    )
    allowed = _decide(steps)
    marked = tuple(
        replace(step, is_decisive=_decide((*steps[:at], *steps[at + 1 :])) != allowed)
        for at, step in enumerate(steps)
    )
    return Explanation(case, allowed, marked)


def _decide(steps: tuple[AccessStep, ...]) -> bool:
    effects = {step.effect for step in steps}
    return Effect.GRANTS in effects and Effect.BLOCKS not in effects


def _rule(case: AccessQuestion) -> list[AccessStep]:
    return [AccessStep("rule", Effect.SILENT, {"text": case.rule})] if case.rule else []


def _account(case: AccessQuestion) -> list[AccessStep]:
    return [] if case.is_active else [AccessStep("account-off", Effect.BLOCKS)]


def _token(case: AccessQuestion) -> list[AccessStep]:
    token, permission = case.token, case.permission
    if token is None:
        return []
    found = []
    if case.token_has_ended:
        found.append(AccessStep("token-ended", Effect.BLOCKS))
    if case.org_id is not None and token.org_id != case.org_id:
        found.append(AccessStep("token-elsewhere", Effect.BLOCKS))
    if not token.allows(permission):
        found.append(AccessStep("token-scope", Effect.BLOCKS, {"scopes": sorted(token.scopes)}))
    if (
        token.team_id
        and case.team_id != token.team_id
        and not (case.team_id is None and permission in READS)
    ):
        found.append(AccessStep("token-team", Effect.BLOCKS))
    return found or [AccessStep("token", Effect.SILENT)]


def _operator(case: AccessQuestion) -> list[AccessStep]:
    return [AccessStep("operator", Effect.GRANTS)] if case.is_operator else []


def _organization(case: AccessQuestion) -> list[AccessStep]:
    if case.is_suspended:
        effect = Effect.SILENT if case.is_operator else Effect.BLOCKS
        return [
            AccessStep(
                "suspended",
                effect,
                {"title": role_facts("org", case.org_role, case.own_roles).title},
            )
        ]
    if case.org_role:
        return [
            _role("org-role", case, role_facts("org", case.org_role, case.own_roles), case.org_via)
        ]
    if case.is_operator:
        return []
    return [
        AccessStep("stranger", Effect.BLOCKS)
        if case.org_id
        else AccessStep("no-operator", Effect.SILENT)
    ]


def _team(case: AccessQuestion) -> list[AccessStep]:
    if case.team_id is None or case.is_suspended:
        return []
    if not case.team_role:
        return [AccessStep("not-in-team", Effect.SILENT, {"team": case.team})]
    return [
        _role("team-role", case, role_facts("team", case.team_role, case.own_roles), case.team_via)
    ]


def _role(kind: str, case: AccessQuestion, role: RoleFacts, via: str) -> AccessStep:
    effect = Effect.GRANTS if case.permission in role.permissions else Effect.SILENT
    facts = {
        "role": role.slug,
        "title": role.title,
        "is_own": role.is_own,
        "is_gone": role.is_gone,
        "via": via,
    }
    return AccessStep(kind, effect, facts | ({"team": case.team} if kind == "team-role" else {}))
