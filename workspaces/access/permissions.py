"""Permissions, and the built-in roles that grant them.

Together with custom roles (`workspaces.access.roles`) these tables are the whole policy;
`authorize` is the only function that evaluates it. Names are stored and never change; titles are
for display.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache

from django.utils.translation import gettext_noop as _

from portal.core.declarations import declared
from portal.core.messages import Message


class AppPermission(StrEnum):
    """A permission. An app declares its own as a subclass, in PERMISSIONS of `permissions.py`."""


class Permission(AppPermission):
    """The permissions of the apps that the built-in roles below name."""

    AGENT_WRITE = "agent:write"
    # Applications that use Muster for sign-in: operators only
    APPLICATIONS_READ = "applications:read"
    APPLICATIONS_WRITE = "applications:write"
    AUDIT_PLATFORM = "audit:platform"  # events of no organization: operators only
    AUDIT_READ = "audit:read"
    BILLING_READ = "billing:read"  # usage and cost, but not the contents of jobs
    # How clusters are connected: operators only
    CLUSTERS_READ = "clusters:read"
    CLUSTERS_WRITE = "clusters:write"
    DATASETS_ADMIN = "datasets:admin"  # delete those of others, legal hold
    DATASETS_READ = "datasets:read"  # also checkpoints
    DATASETS_WRITE = "datasets:write"
    EXPERIMENTS_READ = "experiments:read"
    EXPERIMENTS_WRITE = "experiments:write"  # also runs of others in the team
    JOBS_ADMIN = "jobs:admin"  # act on jobs of others, raise priority
    JOBS_CANCEL = "jobs:cancel"  # their own
    JOBS_EXEC = "jobs:exec"
    # In addition to jobs:exec: run commands in jobs of others, with all rights of the job
    JOBS_EXEC_OTHERS = "jobs:exec-others"
    JOBS_READ = "jobs:read"
    JOBS_SUBMIT = "jobs:submit"
    JOBS_WRITE_METRICS = "jobs:write-metrics"
    MEMBERS_READ = "members:read"
    MEMBERS_WRITE = "members:write"
    MODELS_APPROVE = "models:approve"  # versions of registered models
    MODELS_READ = "models:read"
    MODELS_WRITE = "models:write"
    NODES_READ = "nodes:read"
    ORG_ADMIN = "org:admin"
    # Organizations, users and announcements of the installation: operators only
    PLATFORM_ADMIN = "platform:admin"
    # Impersonate a user to help them: operators only
    PLATFORM_IMPERSONATE = "platform:impersonate"
    PROVIDERS_READ = "providers:read"  # directories and single sign-on
    # Owners only: whoever redirects a directory can sign in as anybody it names
    PROVIDERS_WRITE = "providers:write"
    QUOTAS_READ = "quotas:read"
    QUOTAS_WRITE = "quotas:write"
    ROLES_WRITE = "roles:write"  # custom roles
    SECRETS_READ = "secrets:read"  # names only; values are read by jobs alone
    SECRETS_WRITE = "secrets:write"
    TEAMS_READ = "teams:read"
    TEAMS_WRITE = "teams:write"
    TOKENS_READ = "tokens:read"
    TOKENS_WRITE = "tokens:write"


class OrgRole(StrEnum):
    OWNER = "owner"
    ADMIN = "admin"
    USER_ADMIN = "user-admin"
    MEMBER = "member"
    VIEWER = "viewer"
    BILLING_VIEWER = "billing-viewer"


class TeamRole(StrEnum):
    LEAD = "lead"
    MEMBER = "member"
    VIEWER = "viewer"


@dataclass(frozen=True)
class DeclaredPermission:
    """A permission of another app: its text, worded to follow "may", and who has it by default.

    Owners and administrators have it too. Operators cannot use it while impersonating if it
    outlasts the hour (`is_denied_while_impersonating`).
    """

    permission: AppPermission
    text: str
    org_roles: tuple[OrgRole, ...] = ()
    team_roles: tuple[TeamRole, ...] = ()
    is_denied_while_impersonating: bool = False


P = Permission
_SEE = frozenset(
    {P.MEMBERS_READ, P.NODES_READ, P.QUOTAS_READ, P.TEAMS_READ, P.TOKENS_READ, P.TOKENS_WRITE}
)
_READ_WORK = frozenset({P.DATASETS_READ, P.EXPERIMENTS_READ, P.JOBS_READ, P.MODELS_READ})
_WORK = _READ_WORK | frozenset(
    {
        P.DATASETS_WRITE,
        P.EXPERIMENTS_WRITE,
        P.JOBS_CANCEL,
        P.JOBS_EXEC,
        P.JOBS_SUBMIT,
        P.JOBS_WRITE_METRICS,
        P.MODELS_WRITE,
        P.SECRETS_READ,
        P.SECRETS_WRITE,
    }
)
# Hardware, agents and applications that use Muster for sign-in belong to no organization, so no
# role grants these.
OPERATORS_ONLY = frozenset(
    {
        P.AGENT_WRITE,
        P.APPLICATIONS_READ,
        P.APPLICATIONS_WRITE,
        P.AUDIT_PLATFORM,
        P.CLUSTERS_READ,
        P.CLUSTERS_WRITE,
        P.PLATFORM_ADMIN,
        P.PLATFORM_IMPERSONATE,
    }
)
# Appointing owners and configuring identity providers define an owner; no other role grants these.
OWNERS_ONLY = frozenset({P.ORG_ADMIN, P.PROVIDERS_WRITE})
_ALL = frozenset[AppPermission](Permission) - OPERATORS_ONLY
_ORG_GRANTS: dict[OrgRole, frozenset[AppPermission]] = {
    OrgRole.OWNER: _ALL,
    OrgRole.ADMIN: _ALL - OWNERS_ONLY,
    OrgRole.USER_ADMIN: _SEE | {P.MEMBERS_WRITE, P.ROLES_WRITE, P.TEAMS_WRITE},
    OrgRole.MEMBER: _SEE,
    OrgRole.VIEWER: _SEE | _READ_WORK,
    OrgRole.BILLING_VIEWER: frozenset(
        {P.BILLING_READ, P.QUOTAS_READ, P.TEAMS_READ, P.TOKENS_READ, P.TOKENS_WRITE}
    ),
}
_TEAM_GRANTS: dict[TeamRole, frozenset[AppPermission]] = {
    TeamRole.LEAD: _SEE
    | _WORK
    | {P.DATASETS_ADMIN, P.JOBS_ADMIN, P.MEMBERS_WRITE, P.MODELS_APPROVE},
    TeamRole.MEMBER: _SEE | _WORK,
    TeamRole.VIEWER: _SEE | _READ_WORK,
}
# Denied while impersonating: these outlast the hour (a job runs with a token of its owner), reach
# what only the user may access, or change how accounts are identified.
_DENIED_WHILE_IMPERSONATING = frozenset(
    {
        P.JOBS_EXEC,
        P.JOBS_EXEC_OTHERS,
        P.JOBS_SUBMIT,
        P.MODELS_APPROVE,
        P.ORG_ADMIN,
        P.PROVIDERS_WRITE,
        P.SECRETS_WRITE,
        P.TOKENS_WRITE,
    }
)
# Permissions in the organization that remain for a token restricted to a team.
READS = frozenset({P.MEMBERS_READ, P.NODES_READ, P.QUOTAS_READ, P.TEAMS_READ})
# Team roles that user administrators may give to others, never to themselves, without having them:
# they bring people in to work, but neither work nor see jobs themselves.
DELEGABLE_TEAM_ROLES = frozenset({TeamRole.MEMBER, TeamRole.VIEWER})

ORG_TITLES: dict[str, str] = {
    OrgRole.OWNER: Message("Owner", context="role"),
    OrgRole.ADMIN: Message("Admin", context="role"),
    OrgRole.USER_ADMIN: Message("User admin", context="role"),
    OrgRole.MEMBER: Message("Member", context="role"),
    OrgRole.VIEWER: Message("Read-only", context="role"),
    OrgRole.BILLING_VIEWER: Message("Billing viewer", context="role"),
}
TEAM_TITLES: dict[str, str] = {
    TeamRole.LEAD: Message("Team admin", context="role"),
    TeamRole.MEMBER: Message("Member", context="role"),
    TeamRole.VIEWER: Message("Read-only", context="role"),
}
_TEXTS: dict[Permission, str] = {
    P.AGENT_WRITE: _("send node metrics"),
    P.APPLICATIONS_READ: _("see applications that use Muster for sign-in"),
    P.APPLICATIONS_WRITE: _("manage applications that use Muster for sign-in"),
    P.AUDIT_PLATFORM: _("read the audit log of the installation"),
    P.AUDIT_READ: _("read the audit log"),
    P.BILLING_READ: _("see usage and cost"),
    P.CLUSTERS_READ: _("see how clusters are connected"),
    P.CLUSTERS_WRITE: _("connect and change clusters"),
    P.DATASETS_ADMIN: _("delete other people's datasets and set legal holds"),
    P.DATASETS_READ: _("see and download datasets and checkpoints"),
    P.DATASETS_WRITE: _("create and change datasets and checkpoints"),
    P.EXPERIMENTS_READ: _("see experiments and runs"),
    P.EXPERIMENTS_WRITE: _("log to experiments and change runs"),
    P.JOBS_ADMIN: _("change other people's jobs and raise priority"),
    P.JOBS_CANCEL: _("change and cancel their own jobs"),
    P.JOBS_EXEC: _("open a shell in their own running jobs"),
    P.JOBS_EXEC_OTHERS: _("open a shell in other people's running jobs"),
    P.JOBS_READ: _("see jobs, their logs and metrics"),
    P.JOBS_SUBMIT: Message("submit jobs", context="what somebody may do"),
    P.JOBS_WRITE_METRICS: _("send metrics to jobs"),
    P.MEMBERS_READ: Message("see members", context="what somebody may do"),
    P.MEMBERS_WRITE: _("add and remove members and change their roles"),
    P.MODELS_APPROVE: _("approve versions of models"),
    P.MODELS_READ: _("see and download models"),
    P.MODELS_WRITE: _("register and change models"),
    P.NODES_READ: _("see nodes and pools"),
    P.ORG_ADMIN: _("appoint and change owners"),
    P.PLATFORM_ADMIN: _("create organizations, suspend users and publish announcements"),
    P.PLATFORM_IMPERSONATE: Message("impersonate users", context="what somebody may do"),
    P.PROVIDERS_READ: _("see identity providers and their rules"),
    P.PROVIDERS_WRITE: _("manage identity providers and their rules"),
    P.QUOTAS_READ: Message("see quotas", context="what somebody may do"),
    P.QUOTAS_WRITE: Message("set quotas", context="what somebody may do"),
    P.ROLES_WRITE: _("manage custom roles"),
    P.SECRETS_READ: _("see the names of secrets"),
    P.SECRETS_WRITE: _("set and delete secrets"),
    P.TEAMS_READ: Message("see teams", context="what somebody may do"),
    P.TEAMS_WRITE: _("create and rename teams"),
    P.TOKENS_READ: _("see their own access tokens"),
    P.TOKENS_WRITE: _("create and revoke their own access tokens"),
}


def _declared() -> Sequence[DeclaredPermission]:
    return declared("permissions", "PERMISSIONS")


@cache
def all_permissions() -> tuple[AppPermission, ...]:
    """Return the permissions of all apps, sorted."""
    return tuple(sorted((*Permission, *(one.permission for one in _declared())), key=str))


@cache
def operator_grants() -> frozenset[AppPermission]:
    return frozenset(all_permissions())


@cache
def org_grants() -> Mapping[str, frozenset[AppPermission]]:
    """Return the grants of organization roles, valid in the whole organization."""
    everything = (OrgRole.OWNER, OrgRole.ADMIN)
    return {
        role: granted
        | {one.permission for one in _declared() if role in (*everything, *one.org_roles)}
        for role, granted in _ORG_GRANTS.items()
    }


@cache
def team_grants() -> Mapping[str, frozenset[AppPermission]]:
    """Return the grants of team roles, valid in that team in addition."""
    return {
        role: granted | {one.permission for one in _declared() if role in one.team_roles}
        for role, granted in _TEAM_GRANTS.items()
    }


@cache
def denied_while_impersonating() -> frozenset[AppPermission]:
    """Return what an operator who impersonates a person must not do."""
    declared_too = {one.permission for one in _declared() if one.is_denied_while_impersonating}
    return _DENIED_WHILE_IMPERSONATING | declared_too


@cache
def texts() -> Mapping[AppPermission, str]:
    """Return the description of each permission, worded to follow "may"."""
    return _TEXTS | {one.permission: one.text for one in _declared()}
