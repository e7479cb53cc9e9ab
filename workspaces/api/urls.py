from __future__ import annotations

from django.urls import path

from workspaces.api import providers, roles, views

_PROVIDER = "orgs/<slug:org>/providers/<slug:slug>"

urlpatterns = [
    path("me", views.MeView.as_view(), name="api-me"),
    path("orgs", views.OrgsView.as_view(), name="api-orgs"),
    path("orgs/<slug:org>", views.OrgDetailView.as_view(), name="api-org"),
    path("orgs/<slug:org>/teams", views.TeamsView.as_view(), name="api-teams"),
    path("orgs/<slug:org>/teams/<slug:team>", views.TeamView.as_view(), name="api-team"),
    path("orgs/<slug:org>/teams/<slug:team>/members", views.TeamMembersView.as_view(), name="api-team-members"),
    path("orgs/<slug:org>/teams/<slug:team>/members/<str:email>", views.TeamMemberView.as_view(), name="api-team-member"),
    path("orgs/<slug:org>/members", views.MembersView.as_view(), name="api-members"),
    path("orgs/<slug:org>/members/<str:email>", views.MemberView.as_view(), name="api-member"),
    path("orgs/<slug:org>/roles", roles.RolesView.as_view(), name="api-roles"),
    path("orgs/<slug:org>/roles/<slug:role>", roles.RoleView.as_view(), name="api-role"),
    path("orgs/<slug:org>/access", roles.AccessView.as_view(), name="api-access"),
    path("orgs/<slug:org>/access/changes", roles.ChangesView.as_view(), name="api-access-changes"),
    path("orgs/<slug:org>/tokens", views.TokensView.as_view(), name="api-tokens"),
    path("orgs/<slug:org>/tokens/<uuid:token>", views.TokenView.as_view(), name="api-token"),
    path("orgs/<slug:org>/providers", providers.ProvidersView.as_view(), name="api-providers"),
    path("orgs/<slug:org>/provider-test", providers.ProviderTryView.as_view(), name="api-provider-try"),
    path(_PROVIDER, providers.ProviderView.as_view(), name="api-provider"),
    path(f"{_PROVIDER}/test", providers.ProviderTestView.as_view(), name="api-provider-test"),
    path(f"{_PROVIDER}/rules", providers.ProviderRulesView.as_view(), name="api-provider-rules"),
    path(f"{_PROVIDER}/groups", providers.ProviderGroupsView.as_view(), name="api-provider-groups"),
    path(f"{_PROVIDER}/runs", providers.ProviderRunsView.as_view(), name="api-provider-runs"),
    path("orgs/<slug:org>/quotas", views.QuotasView.as_view(), name="api-quotas"),
]
