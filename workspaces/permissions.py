"""What may be done, and which role may do it. The role tables are the whole policy; `authorize` is the one function that reads them."""

from __future__ import annotations

from enum import StrEnum


class Permission(StrEnum):
    AGENT_WRITE = "agent:write"
    AUDIT_READ = "audit:read"
    CLUSTERS_READ = "clusters:read"      # how clusters are connected: operators only, as hardware is nobody's
    CLUSTERS_WRITE = "clusters:write"
    JOBS_ADMIN = "jobs:admin"            # act on other people's jobs, raise priority
    JOBS_CANCEL = "jobs:cancel"          # one's own
    JOBS_EXEC = "jobs:exec"
    JOBS_READ = "jobs:read"
    JOBS_SUBMIT = "jobs:submit"
    JOBS_WRITE_METRICS = "jobs:write-metrics"
    MEMBERS_READ = "members:read"
    MEMBERS_WRITE = "members:write"
    NODES_READ = "nodes:read"
    ORG_ADMIN = "org:admin"
    PROVIDERS_READ = "providers:read"    # directories and single sign-on
    PROVIDERS_WRITE = "providers:write"  # an owner's: who points a directory elsewhere can sign in as anybody whom it names
    QUOTAS_READ = "quotas:read"
    QUOTAS_WRITE = "quotas:write"
    TEAMS_READ = "teams:read"
    TEAMS_WRITE = "teams:write"
    TOKENS_READ = "tokens:read"
    TOKENS_WRITE = "tokens:write"


class OrgRole(StrEnum):
    OWNER = "owner"
    ADMIN = "admin"
    MEMBER = "member"
    VIEWER = "viewer"


class TeamRole(StrEnum):
    LEAD = "lead"
    MEMBER = "member"
    VIEWER = "viewer"


P = Permission
_SEE = frozenset({P.MEMBERS_READ, P.NODES_READ, P.QUOTAS_READ, P.TEAMS_READ, P.TOKENS_READ, P.TOKENS_WRITE})
_WORK = frozenset({P.JOBS_CANCEL, P.JOBS_EXEC, P.JOBS_READ, P.JOBS_SUBMIT, P.JOBS_WRITE_METRICS})
_ALL = frozenset(Permission) - {P.AGENT_WRITE, P.CLUSTERS_READ, P.CLUSTERS_WRITE}

# What an organization's role grants everywhere in it.
ORG_GRANTS: dict[str, frozenset[Permission]] = {
    OrgRole.OWNER: _ALL,
    OrgRole.ADMIN: _ALL - {P.ORG_ADMIN, P.PROVIDERS_WRITE},
    OrgRole.MEMBER: _SEE,
    OrgRole.VIEWER: _SEE | {P.JOBS_READ},
}
# What a team's role grants in that team, on top.
TEAM_GRANTS: dict[str, frozenset[Permission]] = {
    TeamRole.LEAD: _SEE | _WORK | {P.JOBS_ADMIN, P.MEMBERS_WRITE},
    TeamRole.MEMBER: _SEE | _WORK,
    TeamRole.VIEWER: _SEE | {P.JOBS_READ},
}
OPERATOR_GRANTS: frozenset[Permission] = frozenset(Permission)
# What a token bound to a team may still see of the organization around it.
READS = frozenset({P.MEMBERS_READ, P.NODES_READ, P.QUOTAS_READ, P.TEAMS_READ})
