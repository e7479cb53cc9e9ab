"""URLs of the OpenID provider: ours override allauth's at the same paths."""

from __future__ import annotations

from django.urls import include, path

from workspaces.identity.oidc_provider import agreements, device_login, views

urlpatterns = [
    path("accounts/applications/", agreements.agreements, name="account_agreements"),
    path("identity/o/authorize", views.Authorization.as_view(), name="account_issuer_authorize"),
    path("identity/o/device", device_login.device, name="account_issuer_device"),
    path(
        "identity/o/api/device/code",
        device_login.DeviceCode.as_view(),
        name="account_issuer_device_code",
    ),
    path("identity/o/api/token", device_login.Token.as_view(), name="account_issuer_token"),
    path("", include("allauth.idp.urls")),
]
