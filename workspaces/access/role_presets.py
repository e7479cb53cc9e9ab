"""What custom roles are for, in words: each purpose stands for permissions, in forms, the API and the CLI."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

from portal.core.messages import Message
from workspaces.access.permissions import AppPermission, TeamRole, org_grants, team_grants
from workspaces.access.permissions import OrgRole as Org
from workspaces.access.permissions import Permission as P


@dataclass(frozen=True)
class RolePreset:
    """A purpose of a role of the organization ("org") or of teams ("team")."""

    name: str
    title: str
    about: str
    kind: str
    permissions: frozenset[AppPermission]


@cache
def role_presets() -> tuple[RolePreset, ...]:
    """Return the purposes, those of teams first."""
    member, lead = team_grants()[TeamRole.MEMBER], team_grants()[TeamRole.LEAD]
    sees = org_grants()[Org.MEMBER]
    return (
        RolePreset(
            "researcher",
            Message("Researcher", context="text, workspaces"),
            Message("Runs jobs and tracks experiments with the team's data, models and secrets."),
            "team",
            member - {P.SECRETS_WRITE},
        ),
        RolePreset(
            "team-lead",
            Message("Team lead", context="text, workspaces"),
            Message("Also manages the team's people, everybody's jobs, secrets and approvals."),
            "team",
            lead,
        ),
        RolePreset(
            "curator",
            Message("Data curator", context="text, workspaces"),
            Message("Prepares datasets and looks at results. Runs no jobs."),
            "team",
            sees | {P.DATASETS_READ, P.DATASETS_WRITE, P.EXPERIMENTS_READ, P.MODELS_READ},
        ),
        RolePreset(
            "reviewer",
            Message("Reviewer", context="text, workspaces"),
            Message("Sees the team's jobs, data and results. Changes nothing."),
            "team",
            team_grants()[TeamRole.VIEWER],
        ),
        RolePreset(
            "support",
            Message("Support", context="text, workspaces"),
            Message("Helps everybody: sees all jobs, and changes or cancels them."),
            "org",
            sees | {P.JOBS_READ, P.JOBS_ADMIN, P.JOBS_CANCEL},
        ),
        RolePreset(
            "billing",
            Message("Billing viewer", context="text, workspaces"),
            Message("Sees usage, cost, teams and quotas. No jobs."),
            "org",
            org_grants()[Org.BILLING_VIEWER],
        ),
        RolePreset(
            "auditor",
            Message("Auditor", context="text, workspaces"),
            Message("Reads the audit log, people, roles, quotas and cost. Changes nothing."),
            "org",
            sees | {P.AUDIT_READ, P.BILLING_READ, P.PROVIDERS_READ},
        ),
    )


def with_presets(words: Iterable[str]) -> list[str]:
    """Return permissions, with those of each purpose instead of its name."""
    known = {preset.name: sorted(map(str, preset.permissions)) for preset in role_presets()}
    return [permission for word in words for permission in known.get(word, (word,))]
