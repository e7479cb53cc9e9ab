"""The URL configuration.

Fixed paths come first: anything else is the slug of an organization, so slugs may not be one of
them (`workspaces.organizations.services.RESERVED`).
"""

from __future__ import annotations

from allauth.mfa.totp.views import activate_totp
from allauth.mfa.webauthn.views import add_webauthn
from django.urls import URLPattern, URLResolver, include, path
from django.views.i18n import set_language
from drf_spectacular.views import SpectacularSwaggerSplitView

from monitoring import health
from portal.api.schema_view import SchemaView
from workspaces.identity.reauthentication import first_factor
from workspaces.web import announcements, impersonation, invitations, sessions

urlpatterns: list[URLPattern | URLResolver] = [
    path("healthz", health.healthz, name="healthz"),
    path("readyz", health.readyz, name="readyz"),
    path("metrics", health.metrics, name="metrics"),
    path("accounts/language/", set_language, name="account_language"),
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
    path("api/schema/", SchemaView.as_view(), name="schema"),
    path(
        "api/docs/",
        SpectacularSwaggerSplitView.as_view(
            template_name="api_docs.html", url_name="schema", http_method_names=["get", "head"]
        ),
        name="docs",
    ),
    path("hf/", include("datasets.hub.urls")),
    path("dav/", include("datasets.folders.dav.urls")),
    path("xet/", include("datasets.xet.urls")),
    path("mlflow/", include("experiments.mlflow.urls")),
    path("api/v1/", include("workspaces.api.urls")),
    path("api/v1/", include("datasets.api.urls")),
    path("api/v1/", include("registry.api.urls")),
    path("api/v1/", include("jobs.api.urls")),
    path("api/v1/", include("experiments.api.urls")),
    path("api/v1/", include("monitoring.api.urls")),
    path("api/v1/", include("billing.api.urls")),
    path("api/v1/", include("notifications.api.urls")),
    path("", include("workspaces.web.urls")),
    path("", include("notifications.web.urls")),
    path("", include("monitoring.web.urls")),
    path("", include("billing.web.urls")),
    path("", include("datasets.web.urls")),
    path("", include("registry.web.urls")),
    path("", include("jobs.web.urls")),
    path("", include("experiments.web.urls")),
]
handler404 = "portal.web.errors.not_found"
handler500 = "portal.web.errors.server_error"
