"""URLs of the REST API of organizations."""

from __future__ import annotations

from django.urls import path

from portal.api.schema import Tag
from workspaces.api import (
    applications,
    approvals,
    audit,
    invitations,
    people,
    providers,
    quotas,
    roles,
    scim_tokens,
    secrets,
    service_accounts,
    sessions,
    team_rules,
    views,
)

_PROVIDER = "orgs/<slug:org>/providers/<slug:slug>"

TAGS = (
    Tag("Approvals", 165, ("approvals",)),
    Tag("People", 170, ("members", "people", "invitations")),
    Tag("Teams", 180, ("teams",)),
    Tag("Roles", 190, ("roles", "access")),
    Tag("Secrets", 200, ("secrets",)),
    Tag("Tokens", 210, ("tokens",)),
    Tag("Service accounts", 220, ("service-accounts",)),
    Tag("Directories", 230, ("providers", "provider-test", "provider-tests")),
    Tag("Applications", 240, ("applications",)),
    Tag("Audit", 260, ("audit",)),
    Tag("Account", 270, ("me",)),
    Tag("Organizations", 280, ("orgs",)),
)
urlpatterns = [
    path("me", views.MeView.as_view(), name="api-me"),
    path("me/sessions", sessions.SessionsView.as_view(), name="api-sessions"),
    path("me/sessions/<uuid:session>", sessions.SessionView.as_view(), name="api-session"),
    path("orgs", views.OrgsView.as_view(), name="api-orgs"),
    path("orgs/<slug:org>", views.OrgDetailView.as_view(), name="api-org"),
    path("orgs/<slug:org>/teams", views.TeamsView.as_view(), name="api-teams"),
    path("orgs/<slug:org>/teams/<slug:team>", views.TeamView.as_view(), name="api-team"),
    path(
        "orgs/<slug:org>/teams/<slug:team>/rules",
        team_rules.TeamRulesView.as_view(),
        name="api-team-rules",
    ),
    path(
        "orgs/<slug:org>/teams/<slug:team>/members",
        views.TeamMembersView.as_view(),
        name="api-team-members",
    ),
    path(
        "orgs/<slug:org>/teams/<slug:team>/members/<str:email>",
        views.TeamMemberView.as_view(),
        name="api-team-member",
    ),
    path("orgs/<slug:org>/members", views.MembersView.as_view(), name="api-members"),
    path("orgs/<slug:org>/members/<str:email>", views.MemberView.as_view(), name="api-member"),
    path("orgs/<slug:org>/roles", roles.RolesView.as_view(), name="api-roles"),
    path("orgs/<slug:org>/roles/<slug:role>", roles.RoleView.as_view(), name="api-role"),
    path("orgs/<slug:org>/access", roles.AccessView.as_view(), name="api-access"),
    path("orgs/<slug:org>/access/changes", roles.ChangesView.as_view(), name="api-access-changes"),
    path(
        "orgs/<slug:org>/invitations", invitations.InvitationsView.as_view(), name="api-invitations"
    ),
    path(
        "orgs/<slug:org>/invitations/<uuid:invitation>",
        invitations.InvitationView.as_view(),
        name="api-invitation",
    ),
    path(
        "orgs/<slug:org>/invitations/<uuid:invitation>/renew",
        invitations.InvitationRenewalView.as_view(),
        name="api-invitation-renew",
    ),
    path(
        "orgs/<slug:org>/people/import", people.PeopleImportView.as_view(), name="api-people-import"
    ),
    path("orgs/<slug:org>/tokens", views.TokensView.as_view(), name="api-tokens"),
    path("orgs/<slug:org>/tokens/<uuid:token>", views.TokenView.as_view(), name="api-token"),
    path(
        "orgs/<slug:org>/tokens/<uuid:token>/rotate",
        service_accounts.TokenRotationView.as_view(),
        name="api-token-rotate",
    ),
    path(
        "orgs/<slug:org>/service-accounts",
        service_accounts.ServiceAccountsView.as_view(),
        name="api-service-accounts",
    ),
    path(
        "orgs/<slug:org>/service-accounts/<slug:account>",
        service_accounts.ServiceAccountView.as_view(),
        name="api-service-account",
    ),
    path(
        "orgs/<slug:org>/service-accounts/<slug:account>/tokens",
        service_accounts.ServiceTokensView.as_view(),
        name="api-service-tokens",
    ),
    path("orgs/<slug:org>/secrets", secrets.SecretsView.as_view(), name="api-secrets"),
    path(
        "orgs/<slug:org>/secrets/<slug:where>/<str:secret>",
        secrets.SecretView.as_view(),
        name="api-secret",
    ),
    path(
        "orgs/<slug:org>/secrets/<slug:where>/<str:secret>/versions/<int:number>",
        secrets.SecretVersionView.as_view(),
        name="api-secret-version",
    ),
    path("orgs/<slug:org>/audit", audit.EventsView.as_view(), name="api-audit"),
    path("orgs/<slug:org>/audit/export", audit.ExportView.as_view(), name="api-audit-export"),
    path("orgs/<slug:org>/audit/chain", audit.ChainView.as_view(), name="api-audit-chain"),
    path("orgs/<slug:org>/audit/verify", audit.VerifyView.as_view(), name="api-audit-verify"),
    path("orgs/<slug:org>/audit/settings", audit.SettingsView.as_view(), name="api-audit-settings"),
    path("orgs/<slug:org>/audit/forwards", audit.ForwardsView.as_view(), name="api-audit-forwards"),
    path(
        "orgs/<slug:org>/audit/forwards/<uuid:forward>",
        audit.ForwardView.as_view(),
        name="api-audit-forward",
    ),
    path(
        "audit/settings", audit.PlatformSettingsView.as_view(), name="api-platform-audit-settings"
    ),
    path(
        "audit/forwards", audit.PlatformForwardsView.as_view(), name="api-platform-audit-forwards"
    ),
    path(
        "audit/forwards/<uuid:forward>",
        audit.PlatformForwardView.as_view(),
        name="api-platform-audit-forward",
    ),
    path("audit", audit.PlatformEventsView.as_view(), name="api-platform-audit"),
    path("audit/export", audit.PlatformExportView.as_view(), name="api-platform-audit-export"),
    path("audit/chain", audit.PlatformChainView.as_view(), name="api-platform-audit-chain"),
    path("audit/verify", audit.PlatformVerifyView.as_view(), name="api-platform-audit-verify"),
    path("orgs/<slug:org>/providers", providers.ProvidersView.as_view(), name="api-providers"),
    path(
        "orgs/<slug:org>/provider-test",
        providers.ProviderTryView.as_view(),
        name="api-provider-try",
    ),
    path(
        "orgs/<slug:org>/provider-tests/<uuid:test>",
        providers.ProviderTestAnswerView.as_view(),
        name="api-provider-test-answer",
    ),
    path(_PROVIDER, providers.ProviderView.as_view(), name="api-provider"),
    path(f"{_PROVIDER}/test", providers.ProviderTestView.as_view(), name="api-provider-test"),
    path(
        f"{_PROVIDER}/scim-token",
        scim_tokens.ScimTokenView.as_view(),
        name="api-provider-scim-token",
    ),
    path(f"{_PROVIDER}/rules", providers.ProviderRulesView.as_view(), name="api-provider-rules"),
    path(f"{_PROVIDER}/groups", providers.ProviderGroupsView.as_view(), name="api-provider-groups"),
    path(f"{_PROVIDER}/runs", providers.ProviderRunsView.as_view(), name="api-provider-runs"),
    path(
        f"{_PROVIDER}/runs/<uuid:run>", providers.ProviderRunView.as_view(), name="api-provider-run"
    ),
    path("orgs/<slug:org>/quotas", quotas.QuotasView.as_view(), name="api-quotas"),
    path("orgs/<slug:org>/approvals", approvals.ApprovalsView.as_view(), name="api-approvals"),
    path(
        "orgs/<slug:org>/approvals/<slug:approval_kind>/<uuid:ask>",
        approvals.ApprovalView.as_view(),
        name="api-approval",
    ),
    path(
        "orgs/<slug:org>/quotas/requests",
        quotas.QuotaRequestsView.as_view(),
        name="api-quota-requests",
    ),
    path(
        "orgs/<slug:org>/quotas/requests/<uuid:ask>",
        quotas.QuotaRequestView.as_view(),
        name="api-quota-request",
    ),
    path(
        "orgs/<slug:org>/applications",
        applications.ApplicationsView.as_view(),
        name="api-applications",
    ),
    path(
        "orgs/<slug:org>/applications/<str:client>",
        applications.ApplicationView.as_view(),
        name="api-application",
    ),
    path(
        "orgs/<slug:org>/applications/<str:client>/secret",
        applications.ApplicationSecretView.as_view(),
        name="api-application-secret",
    ),
]
