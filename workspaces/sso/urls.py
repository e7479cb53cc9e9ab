"""Below /accounts/. The provider's slug is part of addresses that the other side stores."""

from __future__ import annotations

from django.urls import path

from workspaces.sso import linked, sign_in, views

urlpatterns = [
    path("login/", sign_in.sign_in, name="account_login"),
    path("sso/<slug:slug>/", views.begin, name="account_sso"),
    path("sso/<slug:slug>/callback/", views.callback, name="account_sso_callback"),
    path("linked/", linked.linked, name="account_linked"),
    path("linked/<slug:slug>/", linked.link_directory, name="account_link_directory"),
    path("linked/<uuid:identity>/unlink/", linked.unlink, name="account_unlink"),
]
