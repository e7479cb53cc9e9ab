from __future__ import annotations

from django.urls import path

from workspaces.api import invitations, roles, secrets, service_accounts, sessions, views

urlpatterns = [
    path("me", views.MeView.as_view(), name="api-me"),
    path("me/sessions", sessions.SessionsView.as_view(), name="api-sessions"),
    path("me/sessions/<uuid:session>", sessions.SessionView.as_view(), name="api-session"),
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
    path("orgs/<slug:org>/invitations", invitations.InvitationsView.as_view(), name="api-invitations"),
    path("orgs/<slug:org>/invitations/<uuid:invitation>", invitations.InvitationView.as_view(), name="api-invitation"),
    path("orgs/<slug:org>/invitations/<uuid:invitation>/renew", invitations.InvitationRenewalView.as_view(), name="api-invitation-renew"),
    path("orgs/<slug:org>/tokens", views.TokensView.as_view(), name="api-tokens"),
    path("orgs/<slug:org>/tokens/<uuid:token>", views.TokenView.as_view(), name="api-token"),
    path("orgs/<slug:org>/tokens/<uuid:token>/rotate", service_accounts.TokenRotationView.as_view(), name="api-token-rotate"),
    path("orgs/<slug:org>/service-accounts", service_accounts.ServiceAccountsView.as_view(), name="api-service-accounts"),
    path("orgs/<slug:org>/service-accounts/<slug:account>", service_accounts.ServiceAccountView.as_view(), name="api-service-account"),
    path("orgs/<slug:org>/service-accounts/<slug:account>/tokens", service_accounts.ServiceTokensView.as_view(), name="api-service-tokens"),
    path("orgs/<slug:org>/secrets", secrets.SecretsView.as_view(), name="api-secrets"),
    path("orgs/<slug:org>/secrets/<slug:where>/<str:secret>", secrets.SecretView.as_view(), name="api-secret"),
    path("orgs/<slug:org>/secrets/<slug:where>/<str:secret>/versions/<int:number>", secrets.SecretVersionView.as_view(),
         name="api-secret-version"),
    path("orgs/<slug:org>/quotas", views.QuotasView.as_view(), name="api-quotas"),
]
