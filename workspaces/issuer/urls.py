"""Ours before allauth's, at allauth's own addresses."""

from __future__ import annotations

from django.urls import include, path

from workspaces.issuer import agreements, command_line, views

urlpatterns = [
    path("accounts/applications/", agreements.agreements, name="account_agreements"),
    path("identity/o/authorize", views.Authorization.as_view(), name="account_issuer_authorize"),
    path("identity/o/device", command_line.device, name="account_issuer_device"),
    path(
        "identity/o/api/device/code",
        command_line.DeviceCode.as_view(),
        name="account_issuer_device_code",
    ),
    path("identity/o/api/token", command_line.Token.as_view(), name="account_issuer_token"),
    path("", include("allauth.idp.urls")),
]
