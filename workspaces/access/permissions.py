"""What may be done, and which built-in role may do it. These tables are the whole policy, with an organization's own roles
(`workspaces.access.roles`); `authorize` is the one function that asks them. Stored names stay; the titles are what people read."""

from __future__ import annotations

from enum import StrEnum

from django.utils.translation import gettext_noop as _


class Permission(StrEnum):
    AGENT_WRITE = "agent:write"
    APPLICATIONS_READ = (
        "applications:read"  # what signs people in through the portal: operators only
    )
    APPLICATIONS_WRITE = "applications:write"
    AUDIT_PLATFORM = "audit:platform"  # what belongs to no organization: operators only
    AUDIT_READ = "audit:read"
    BILLING_READ = "billing:read"  # usage and cost; never what jobs hold
    CLUSTERS_READ = (
        "clusters:read"  # how clusters are connected: operators only, as hardware is nobody's
    )
    CLUSTERS_WRITE = "clusters:write"
    JOBS_ADMIN = "jobs:admin"  # act on other people's jobs, raise priority
    JOBS_CANCEL = "jobs:cancel"  # one's own
    JOBS_EXEC = "jobs:exec"
    JOBS_EXEC_OTHERS = "jobs:exec-others"  # besides jobs:exec: in other people's jobs, as whom it can do what the job can
    JOBS_READ = "jobs:read"
    JOBS_SUBMIT = "jobs:submit"
    JOBS_WRITE_METRICS = "jobs:write-metrics"
    MEMBERS_READ = "members:read"
    MEMBERS_WRITE = "members:write"
    NODES_READ = "nodes:read"
    ORG_ADMIN = "org:admin"
    PLATFORM_ADMIN = "platform:admin"  # organizations, people and announcements of the whole installation: operators only
    PLATFORM_IMPERSONATE = (
        "platform:impersonate"  # act as a person who has a problem: operators only
    )
    PROVIDERS_READ = "providers:read"  # directories and single sign-on
    PROVIDERS_WRITE = "providers:write"  # an owner's: who points a directory elsewhere can sign in as anybody whom it names
    QUOTAS_READ = "quotas:read"
    QUOTAS_WRITE = "quotas:write"
    ROLES_WRITE = "roles:write"  # roles of the organization's own making
    SECRETS_READ = "secrets:read"  # their names; values are read by jobs alone
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


P = Permission
_SEE = frozenset(
    {P.MEMBERS_READ, P.NODES_READ, P.QUOTAS_READ, P.TEAMS_READ, P.TOKENS_READ, P.TOKENS_WRITE}
)
_WORK = frozenset(
    {
        P.JOBS_CANCEL,
        P.JOBS_EXEC,
        P.JOBS_READ,
        P.JOBS_SUBMIT,
        P.JOBS_WRITE_METRICS,
        P.SECRETS_READ,
        P.SECRETS_WRITE,
    }
)
# Hardware, agents and what signs people in elsewhere are nobody's in an organization: no role of one holds these.
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
# Making owners, and saying who is known to be whom, is what being the owner means: no other role of an organization holds these.
OWNERS_ONLY = frozenset({P.ORG_ADMIN, P.PROVIDERS_WRITE})
_ALL = frozenset(Permission) - OPERATORS_ONLY

# What an organization's role grants everywhere in it.
ORG_GRANTS: dict[str, frozenset[Permission]] = {
    OrgRole.OWNER: _ALL,
    OrgRole.ADMIN: _ALL - OWNERS_ONLY,
    OrgRole.USER_ADMIN: _SEE | {P.MEMBERS_WRITE, P.ROLES_WRITE, P.TEAMS_WRITE},
    OrgRole.MEMBER: _SEE,
    OrgRole.VIEWER: _SEE | {P.JOBS_READ},
    OrgRole.BILLING_VIEWER: frozenset(
        {P.BILLING_READ, P.QUOTAS_READ, P.TEAMS_READ, P.TOKENS_READ, P.TOKENS_WRITE}
    ),
}
# What a team's role grants in that team, on top.
TEAM_GRANTS: dict[str, frozenset[Permission]] = {
    TeamRole.LEAD: _SEE | _WORK | {P.JOBS_ADMIN, P.MEMBERS_WRITE},
    TeamRole.MEMBER: _SEE | _WORK,
    TeamRole.VIEWER: _SEE | {P.JOBS_READ},
}
OPERATOR_GRANTS: frozenset[Permission] = frozenset(Permission)
# What nobody does in another's name: it would outlast the hour (a job carries a token of its owner's and runs as them), reach what
# they alone hold, or say who is known to be whom.
NOT_FOR_OTHERS = frozenset(
    {
        P.JOBS_EXEC,
        P.JOBS_EXEC_OTHERS,
        P.JOBS_SUBMIT,
        P.ORG_ADMIN,
        P.PROVIDERS_WRITE,
        P.SECRETS_WRITE,
        P.TOKENS_WRITE,
    }
)
# What a token bound to a team may still see of the organization around it.
READS = frozenset({P.MEMBERS_READ, P.NODES_READ, P.QUOTAS_READ, P.TEAMS_READ})
# Team roles that who brings people into the organization may give to others (never to themselves) without holding them: bringing
# somebody in to work is what they are for, and a user admin neither works nor sees jobs.
HANDED_ON = frozenset({TeamRole.MEMBER, TeamRole.VIEWER})

ORG_TITLES: dict[str, str] = {
    OrgRole.OWNER: _("Owner"),
    OrgRole.ADMIN: _("Admin"),
    OrgRole.USER_ADMIN: _("User admin"),
    OrgRole.MEMBER: _("Member"),
    OrgRole.VIEWER: _("Read-only"),
    OrgRole.BILLING_VIEWER: _("Billing viewer"),
}
TEAM_TITLES: dict[str, str] = {
    TeamRole.LEAD: _("Team admin"),
    TeamRole.MEMBER: _("Member"),
    TeamRole.VIEWER: _("Read-only"),
}
# What each permission lets one do, said so that it follows "may".
WORDS: dict[Permission, str] = {
    P.AGENT_WRITE: _("send samples of nodes"),
    P.APPLICATIONS_READ: _("see the applications that people sign in to through the portal"),
    P.APPLICATIONS_WRITE: _("write down applications that people sign in to through the portal"),
    P.AUDIT_PLATFORM: _("read the audit log of the installation"),
    P.AUDIT_READ: _("read the audit log"),
    P.BILLING_READ: _("see usage and cost"),
    P.CLUSTERS_READ: _("see how clusters are connected"),
    P.CLUSTERS_WRITE: _("connect and change clusters"),
    P.JOBS_ADMIN: _("act on other people's jobs and raise priority"),
    P.JOBS_CANCEL: _("change and cancel their own jobs"),
    P.JOBS_EXEC: _("open a shell in their own running jobs"),
    P.JOBS_EXEC_OTHERS: _("open a shell in other people's running jobs"),
    P.JOBS_READ: _("see jobs, their logs and curves"),
    P.JOBS_SUBMIT: _("submit jobs"),
    P.JOBS_WRITE_METRICS: _("send metrics to jobs"),
    P.MEMBERS_READ: _("see who is a member"),
    P.MEMBERS_WRITE: _("bring people in, change their roles and take them out"),
    P.NODES_READ: _("see nodes and pools"),
    P.ORG_ADMIN: _("make owners and change them"),
    P.PLATFORM_ADMIN: _("make organizations, suspend people and speak to everybody"),
    P.PLATFORM_IMPERSONATE: _("act as a person, to see what they see"),
    P.PROVIDERS_READ: _("see directories and what their groups give"),
    P.PROVIDERS_WRITE: _("connect directories and say what their groups give"),
    P.QUOTAS_READ: _("see quotas"),
    P.QUOTAS_WRITE: _("set quotas"),
    P.ROLES_WRITE: _("make and change the organization's own roles"),
    P.SECRETS_READ: _("see the names of secrets"),
    P.SECRETS_WRITE: _("set and delete secrets"),
    P.TEAMS_READ: _("see teams"),
    P.TEAMS_WRITE: _("make and rename teams"),
    P.TOKENS_READ: _("see their own access tokens"),
    P.TOKENS_WRITE: _("make and revoke their own access tokens"),
}
