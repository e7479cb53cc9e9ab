"""All addresses. Fixed ones first: an organization's slug is whatever is left, so its name may not be one of them."""

from __future__ import annotations

from django.urls import URLPattern, URLResolver, include, path

urlpatterns: list[URLPattern | URLResolver] = [
    path("accounts/", include("allauth.account.urls")),
]
handler404 = "portal.web.errors.not_found"
handler500 = "portal.web.errors.server_error"
