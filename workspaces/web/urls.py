"""URLs of the pages of organizations."""

from __future__ import annotations

from django.urls import path

from workspaces.web import (
    announcements,
    applications,
    approvals,
    audit,
    directories,
    impersonation,
    invitations,
    people,
    platform,
    provider_instructions,
    roles,
    search,
    secrets,
    service_accounts,
    tokens,
    views,
)

platform_pages = [
    path("find", search.find_in_platform, name="platform-find"),
    path("organizations", platform.organizations, name="platform-organizations"),
    path("people", platform.people, name="platform-people"),
    path("people/<uuid:person>", platform.person, name="platform-person"),
    path("people/<uuid:person>/act", impersonation.act_as, name="platform-act"),
    path("applications", applications.applications, name="applications"),
    path("applications/<str:client>", applications.application, name="application"),
    path("audit", audit.installation, name="audit-installation"),
    path("audit/export", audit.export_installation, name="audit-installation-export"),
]
urlpatterns = [
    path("", views.start, name="start"),
    path("<slug:org>/approvals", approvals.approvals, name="approvals"),
    path(
        "<slug:org>/approvals/<slug:approval_kind>/<uuid:ask>", approvals.approval, name="approval"
    ),
    path("<slug:org>/find", search.find, name="find"),
    path("<slug:org>/teams", views.teams, name="teams"),
    path(
        "<slug:org>/teams/<slug:team>/members/<str:email>",
        views.change_team_member,
        name="team-member",
    ),
    path("<slug:org>/people", views.members, name="members"),
    path("<slug:org>/members", views.moved, name="members-moved"),
    path("<slug:org>/members/<path:rest>", views.moved, name="members-moved-below"),
    path("<slug:org>/invitations", invitations.invitations, name="invitations"),
    path("<slug:org>/rules", views.org_rules, name="org-rules"),
    path("<slug:org>/people/import", people.import_people, name="people-import"),
    path("<slug:org>/roles", roles.roles, name="roles"),
    path("<slug:org>/roles/<slug:role>", roles.role, name="role"),
    path("<slug:org>/access", roles.access, name="access"),
    path("<slug:org>/service-accounts", service_accounts.service_accounts, name="service-accounts"),
    path(
        "<slug:org>/service-accounts/<slug:account>",
        service_accounts.service_account,
        name="service-account",
    ),
    path("<slug:org>/tokens", tokens.tokens, name="tokens"),
    path("<slug:org>/tokens/<uuid:token>/revoke", tokens.revoke_token, name="token-revoke"),
    path("<slug:org>/tokens/<uuid:token>/rotate", tokens.rotate_token, name="token-rotate"),
    path("<slug:org>/audit", audit.trail, name="audit"),
    path("<slug:org>/audit/export", audit.export, name="audit-export"),
    path("<slug:org>/announcements", announcements.announcements, name="announcements"),
    path("<slug:org>/directories", directories.directories, name="directories"),
    path(
        "<slug:org>/directories/-/connect", directories.connect_directory, name="directory-connect"
    ),
    path(
        "<slug:org>/directories/-/tests/<uuid:test>",
        directories.directory_test,
        name="directory-test",
    ),
    path("<slug:org>/directories/<slug:slug>", directories.directory, name="directory"),
    path(
        "<slug:org>/directories/<slug:slug>/other-side",
        provider_instructions.other_side,
        name="directory-other-side",
    ),
    path(
        "<slug:org>/directories/<slug:slug>/edit", directories.edit_directory, name="directory-edit"
    ),
    path(
        "<slug:org>/directories/<slug:slug>/rules", directories.change_rules, name="directory-rules"
    ),
    path(
        "<slug:org>/directories/<slug:slug>/act", directories.act_on_directory, name="directory-act"
    ),
    path("<slug:org>/secrets", secrets.secrets, name="secrets"),
]
