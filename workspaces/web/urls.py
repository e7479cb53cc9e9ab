from __future__ import annotations

from django.urls import path

from workspaces.web import directories, roles, views

urlpatterns = [
    path("", views.start, name="start"),
    path("<slug:org>/teams", views.teams, name="teams"),
    path("<slug:org>/teams/<slug:team>", views.team, name="team"),
    path("<slug:org>/teams/<slug:team>/members/<str:email>", views.change_team_member, name="team-member"),
    path("<slug:org>/members", views.members, name="members"),
    path("<slug:org>/members/<str:email>", views.change_member, name="member"),
    path("<slug:org>/roles", roles.roles, name="roles"),
    path("<slug:org>/roles/<slug:role>", roles.role, name="role"),
    path("<slug:org>/access", roles.access, name="access"),
    path("<slug:org>/tokens", views.tokens, name="tokens"),
    path("<slug:org>/tokens/<uuid:token>/revoke", views.revoke_token, name="token-revoke"),
    path("<slug:org>/directories", directories.directories, name="directories"),
    path("<slug:org>/directories/<slug:slug>", directories.directory, name="directory"),
    path("<slug:org>/directories/<slug:slug>/edit", directories.edit_directory, name="directory-edit"),
    path("<slug:org>/directories/<slug:slug>/rules", directories.change_rules, name="directory-rules"),
    path("<slug:org>/directories/<slug:slug>/act", directories.act_on_directory, name="directory-act"),
    path("<slug:org>/quotas", views.quotas, name="quotas"),
]
