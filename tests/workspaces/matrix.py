"""Rows of this app in the tests that loop over all routes (tests/matrix.py)."""

from __future__ import annotations

from tests.matrix import (
    ADMINS,
    EVERYBODY,
    INSIDERS,
    LEADS,
    OPERATORS,
    OWNERS,
    PEOPLE,
    VIEWERS,
    WORKERS,
    Row,
)
from workspaces.access.permissions import Permission as P

LDAP = {"url": "ldap://127.0.0.1:1", "people_base": "dc=x"}
LISTS = {
    "api-approvals",
    "api-secrets",  # an empty list
}
ROWS = {
    ("api-me", "GET"): Row(EVERYBODY, None),
    ("api-orgs", "GET"): Row(EVERYBODY, None),
    ("api-orgs", "POST"): Row(
        OPERATORS, P.PLATFORM_ADMIN, {"slug": "fresh", "owner": "new@fresh.example"}
    ),
    ("api-org", "GET"): Row(EVERYBODY, P.TEAMS_READ),
    ("api-applications", "GET"): Row(OPERATORS, P.APPLICATIONS_READ),
    ("api-applications", "POST"): Row(
        OPERATORS,
        P.APPLICATIONS_WRITE,
        {"client_id": "harbor", "addresses": ["https://harbor.example/c/oidc/callback"]},
    ),
    ("api-application", "GET"): Row(OPERATORS, P.APPLICATIONS_READ),
    ("api-application", "PATCH"): Row(OPERATORS, P.APPLICATIONS_WRITE, {"name": "Grafana 2"}),
    ("api-application", "DELETE"): Row(OPERATORS, P.APPLICATIONS_WRITE),
    ("api-application-secret", "POST"): Row(OPERATORS, P.APPLICATIONS_WRITE),
    ("api-org", "PATCH"): Row(OWNERS, P.ORG_ADMIN, {"requires_second_factor": False}),
    ("api-teams", "GET"): Row(EVERYBODY, P.TEAMS_READ),
    ("api-teams", "POST"): Row(PEOPLE, P.TEAMS_WRITE, {"slug": "fresh"}),
    ("api-team", "GET"): Row(EVERYBODY, P.TEAMS_READ),
    ("api-team-rules", "GET"): Row(EVERYBODY, P.TEAMS_READ),
    ("api-team-rules", "PUT"): Row(ADMINS, P.QUOTAS_WRITE, {"max_gpus": 4}),
    ("api-team", "PATCH"): Row(PEOPLE, P.TEAMS_WRITE, {"name": "Sight"}),
    ("api-team-members", "GET"): Row(INSIDERS, P.MEMBERS_READ),
    ("api-team-members", "POST"): Row(
        LEADS | PEOPLE, P.MEMBERS_WRITE, {"email": "eve@atlas.example"}
    ),
    ("api-team-member", "PATCH"): Row(LEADS | PEOPLE, P.MEMBERS_WRITE, {"role": "viewer"}),
    ("api-team-member", "DELETE"): Row(LEADS | PEOPLE, P.MEMBERS_WRITE),
    ("api-members", "GET"): Row(INSIDERS, P.MEMBERS_READ),
    ("api-members", "POST"): Row(PEOPLE, P.MEMBERS_WRITE, {"email": "new@atlas.example"}),
    ("api-member", "PATCH"): Row(PEOPLE, P.MEMBERS_WRITE, {"role": "member"}),
    ("api-member", "DELETE"): Row(PEOPLE, P.MEMBERS_WRITE),
    ("api-roles", "GET"): Row(INSIDERS, P.MEMBERS_READ),
    ("api-roles", "POST"): Row(
        PEOPLE, P.ROLES_WRITE, {"slug": "helpdesk", "permissions": ["members:write"]}
    ),
    ("api-role", "GET"): Row(INSIDERS, P.MEMBERS_READ),
    ("api-role", "PATCH"): Row(PEOPLE, P.ROLES_WRITE, {"name": "Trainers"}),
    ("api-role", "DELETE"): Row(PEOPLE, P.ROLES_WRITE),
    ("api-access", "GET"): Row(
        EVERYBODY, None
    ),  # about oneself; for others see tests/workspaces/access
    ("api-access-changes", "POST"): Row(
        PEOPLE, P.MEMBERS_WRITE, {"changes": [{"email": "ben@atlas.example", "role": None}]}
    ),
    ("api-tokens", "GET"): Row(EVERYBODY, P.TOKENS_READ),
    ("api-tokens", "POST"): Row(
        EVERYBODY, P.TOKENS_WRITE, {"name": "mine", "scopes": ["tokens:write"]}
    ),
    ("api-providers", "GET"): Row(ADMINS, P.PROVIDERS_READ),
    ("api-providers", "POST"): Row(
        OWNERS, P.PROVIDERS_WRITE, {"kind": "ldap", "slug": "fresh", "options": LDAP}
    ),
    ("api-provider-try", "POST"): Row(OWNERS, P.PROVIDERS_WRITE, {"kind": "ldap", "options": LDAP}),
    ("api-provider", "GET"): Row(ADMINS, P.PROVIDERS_READ),
    ("api-provider", "PATCH"): Row(OWNERS, P.PROVIDERS_WRITE, {"is_enabled": False}),
    ("api-provider", "DELETE"): Row(OWNERS, P.PROVIDERS_WRITE),
    ("api-provider-test", "POST"): Row(OWNERS, P.PROVIDERS_WRITE),
    ("api-provider-scim-token", "POST"): Row(OWNERS, P.PROVIDERS_WRITE),
    ("api-provider-scim-token", "DELETE"): Row(OWNERS, P.PROVIDERS_WRITE),
    ("api-provider-rules", "GET"): Row(ADMINS, P.PROVIDERS_READ),
    ("api-provider-rules", "PUT"): Row(
        OWNERS, P.PROVIDERS_WRITE, {"rules": [{"group": "*", "role": "member"}]}
    ),
    ("api-provider-groups", "GET"): Row(OWNERS, P.PROVIDERS_WRITE),
    ("api-provider-runs", "GET"): Row(ADMINS, P.PROVIDERS_READ),
    ("api-provider-runs", "POST"): Row(OWNERS, P.PROVIDERS_WRITE, {"is_dry": True}),
    ("api-provider-run", "GET"): Row(ADMINS, P.PROVIDERS_READ),
    ("api-provider-test-answer", "GET"): Row(OWNERS, P.PROVIDERS_WRITE),
    ("api-token", "DELETE"): Row(PEOPLE | {"ben"}, P.TOKENS_WRITE),
    ("api-sessions", "GET"): Row(EVERYBODY, None),
    ("api-sessions", "DELETE"): Row(EVERYBODY, None),
    ("api-session", "DELETE"): Row(frozenset(), None),  # only one's own: those of others are 404
    ("api-invitations", "GET"): Row(PEOPLE, P.MEMBERS_WRITE),
    ("api-invitations", "POST"): Row(PEOPLE, P.MEMBERS_WRITE, {"email": "new@atlas.example"}),
    ("api-invitation", "DELETE"): Row(PEOPLE, P.MEMBERS_WRITE),
    ("api-invitation-renew", "POST"): Row(PEOPLE, P.MEMBERS_WRITE),
    ("api-people-import", "POST"): Row(
        PEOPLE, P.MEMBERS_WRITE, {"csv": "email\nnew@atlas.example"}
    ),
    ("api-token-rotate", "POST"): Row(
        frozenset({"ben"}), P.TOKENS_WRITE
    ),  # rotating a token returns all of its permissions
    ("api-service-accounts", "GET"): Row(INSIDERS, P.MEMBERS_READ),
    ("api-service-accounts", "POST"): Row(PEOPLE, P.MEMBERS_WRITE, {"name": "fresh"}),
    ("api-service-account", "GET"): Row(INSIDERS, P.MEMBERS_READ),
    ("api-service-account", "PATCH"): Row(PEOPLE, P.MEMBERS_WRITE, {"note": "builds"}),
    ("api-service-account", "DELETE"): Row(PEOPLE, P.MEMBERS_WRITE),
    ("api-service-tokens", "GET"): Row(PEOPLE, P.MEMBERS_WRITE),
    ("api-service-tokens", "POST"): Row(
        PEOPLE, P.MEMBERS_WRITE, {"name": "ci", "scopes": ["members:write"]}
    ),
    ("api-secrets", "GET"): Row(EVERYBODY, None),  # a list of what is visible, possibly empty
    ("api-secret", "PUT"): Row(WORKERS, P.SECRETS_WRITE, {"value": "x"}),
    ("api-secret", "DELETE"): Row(WORKERS, P.SECRETS_WRITE),
    ("api-secret-version", "DELETE"): Row(WORKERS, P.SECRETS_WRITE),
    ("api-quotas", "GET"): Row(EVERYBODY, P.QUOTAS_READ),
    ("api-quotas", "PUT"): Row(
        ADMINS,
        P.QUOTAS_WRITE,
        {"scope": "team", "subject": "vision", "resource": "gpu", "limit": 1},
    ),
    ("api-quotas", "PATCH"): Row(
        ADMINS,
        P.QUOTAS_WRITE,
        {"changes": [{"scope": "team", "subject": "vision", "resource": "gpu", "limit": 1}]},
    ),
    ("api-approvals", "GET"): Row(EVERYBODY, None),  # a list of what is visible
    ("api-approval", "GET"): Row(VIEWERS, None),
    ("api-approval", "POST"): Row(WORKERS, P.JOBS_SUBMIT, {"do": "withdraw"}),
    ("api-quota-requests", "GET"): Row(EVERYBODY, P.QUOTAS_READ),
    ("api-quota-requests", "POST"): Row(
        WORKERS,
        P.JOBS_SUBMIT,
        {"scope": "team", "subject": "vision", "resource": "jobs", "amount": 2000},
    ),
    ("api-quota-request", "POST"): Row(ADMINS, P.QUOTAS_WRITE, {"do": "decline"}),
    ("api-audit", "GET"): Row(ADMINS, P.AUDIT_READ),
    ("api-audit-export", "GET"): Row(ADMINS, P.AUDIT_READ),
    ("api-audit-chain", "GET"): Row(ADMINS, P.AUDIT_READ),
    ("api-audit-verify", "POST"): Row(ADMINS, P.AUDIT_READ),
    ("api-audit-settings", "GET"): Row(ADMINS, P.AUDIT_READ),
    ("api-audit-settings", "PUT"): Row(OWNERS, P.ORG_ADMIN, {"keep_days": 90}),
    ("api-audit-forwards", "POST"): Row(
        OWNERS, P.ORG_ADMIN, {"target": "syslog+tls://log.example:6514"}
    ),
    ("api-audit-forward", "POST"): Row(OWNERS, P.ORG_ADMIN),
    ("api-audit-forward", "DELETE"): Row(OWNERS, P.ORG_ADMIN),
    ("api-platform-audit-settings", "GET"): Row(OPERATORS, P.AUDIT_PLATFORM),
    ("api-platform-audit-settings", "PUT"): Row(OPERATORS, P.AUDIT_PLATFORM, {"keep_days": None}),
    ("api-platform-audit-forwards", "POST"): Row(
        OPERATORS, P.AUDIT_PLATFORM, {"target": "https://hook.example/"}
    ),
    ("api-platform-audit-forward", "POST"): Row(OPERATORS, P.AUDIT_PLATFORM),
    ("api-platform-audit-forward", "DELETE"): Row(OPERATORS, P.AUDIT_PLATFORM),
    ("api-platform-audit", "GET"): Row(OPERATORS, P.AUDIT_PLATFORM),
    ("api-platform-audit-export", "GET"): Row(OPERATORS, P.AUDIT_PLATFORM),
    ("api-platform-audit-chain", "GET"): Row(OPERATORS, P.AUDIT_PLATFORM),
    ("api-platform-audit-verify", "POST"): Row(OPERATORS, P.AUDIT_PLATFORM),
}
FORMS = {
    "teams": (PEOPLE, {"slug": "fresh", "name": "Fresh"}),
    "members": (PEOPLE, {"email": "new@atlas.example", "role": "member"}),
    "team-member": (LEADS | PEOPLE, {"role": "viewer"}),
    "roles": (PEOPLE, {"slug": "helpdesk", "kind": "org", "permissions": "members:write"}),
    "role": (PEOPLE, {"do": "save", "name": "Trainers", "permissions": "teams:read"}),
    "invitations": (PEOPLE, {"email": "new@atlas.example"}),
    "announcements": (OWNERS, {"text": "Maintenance tonight", "level": "warning"}),
    "people-import": (PEOPLE, {"do": "import", "text": "email,team\nnew@atlas.example,vision"}),
    "service-accounts": (PEOPLE, {"name": "fresh"}),
    "service-account": (PEOPLE, {"do": "remove"}),
    "secrets": (WORKERS, {"do": "set", "where": "vision", "name": "wandb", "value": "x"}),
    "audit": (ADMINS, {"do": "verify"}),
    "audit-installation": (OPERATORS, {"do": "verify"}),
    "approval": (WORKERS, {"do": "withdraw"}),
    "directory-connect": (OWNERS, {"kind": "ldap", "slug": "fresh", "anyway": "1", **LDAP}),
    "directory-edit": (OWNERS, {"title": "Other", "anyway": "1", **LDAP}),
    "directory-rules": (OWNERS, {"group": "*", "place": "atlas", "role": "viewer"}),
    "directory-other-side": (OWNERS, {"do": "end"}),
    "directory-act": (OWNERS, {"do": "disable"}),
    "platform-organizations": (
        OPERATORS,
        {"slug": "fresh", "name": "Fresh", "email": "new@fresh.example"},
    ),
    "platform-person": (OPERATORS, {"do": "suspend", "why": "left the company"}),
    "platform-act": (OPERATORS, {"why": "sees no jobs", "minutes": "5"}),
    "applications": (
        OPERATORS,
        {"client_id": "harbor", "addresses": "https://harbor.example/c/oidc/callback"},
    ),
    "application": (OPERATORS, {"verb": "remove"}),
}
SILENT = {
    ("api-access-changes", "POST"): "says what would change, and changes nothing",
    ("api-session", "DELETE"): "ends a session if there is one: tests/workspaces/test_sessions.py",
    ("api-sessions", "DELETE"): "the same",
}
SILENT_FORMS = {
    "announcement-dismiss": "puts a line away for one session, and is nobody else's business",
}
