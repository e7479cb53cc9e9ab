"""Below /accounts/. The provider's slug is part of addresses that the other side stores."""

from __future__ import annotations

from django.urls import path

from workspaces.sso import linked, sign_in, views
from workspaces.sso.saml import views as saml

urlpatterns = [
    path("email/", linked.no_own_address, name="account_no_own_address"),
    path("login/", sign_in.sign_in, name="account_login"),
    path("sso/<slug:slug>/", views.begin, name="account_sso"),
    path("sso/<slug:slug>/callback/", views.callback, name="account_sso_callback"),
    path("sso/<slug:slug>/acs/", views.saml_acs, name="account_saml_acs"),
    path("sso/<slug:slug>/finish/", views.saml_finish, name="account_saml_finish"),
    path("sso/<slug:slug>/metadata/", saml.metadata, name="account_saml_metadata"),
    path("linked/", linked.linked, name="account_linked"),
    path("linked/<slug:slug>/", linked.link_directory, name="account_link_directory"),
    path("linked/<uuid:identity>/unlink/", linked.unlink, name="account_unlink"),
]
