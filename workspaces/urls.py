"""Paths of accounts, sign-in and provisioning, outside of organizations."""

from __future__ import annotations

from allauth.mfa.totp.views import activate_totp
from allauth.mfa.webauthn.views import add_webauthn
from django.urls import include, path

from workspaces.identity.reauthentication import first_factor
from workspaces.web import announcements, impersonation, invitations, sessions

urlpatterns = [
    path("accounts/sessions/", sessions.sessions, name="account_sessions"),
    path(
        "accounts/announcements/<uuid:announcement>/dismiss/",
        announcements.dismiss_announcement,
        name="account_announcement_dismiss",
    ),
    path("accounts/acting/stop/", impersonation.stop, name="account_acting_stop"),
    path("accounts/invitations/<str:text>/", invitations.invitation, name="account_invitation"),
    path("accounts/2fa/totp/activate/", first_factor(activate_totp), name="mfa_activate_totp"),
    path("accounts/2fa/webauthn/add/", first_factor(add_webauthn), name="mfa_add_webauthn"),
    path("accounts/2fa/", include("allauth.mfa.urls")),
    path("accounts/", include("workspaces.identity.urls")),
    path("accounts/", include("allauth.account.urls")),
    path("", include("workspaces.identity.oidc_provider.urls")),
    path("scim/v2/<slug:provider>/", include("workspaces.identity.scim.urls")),
]
