"""URLs below /accounts/; identity providers store those with a provider's slug."""

from __future__ import annotations

from allauth.account.views import password_set
from django.contrib.auth.decorators import login_required
from django.urls import path

from workspaces.identity import linked_accounts, sign_in_page, views
from workspaces.identity.reauthentication import reauthentication_required
from workspaces.identity.saml import views as saml

urlpatterns = [
    path("email/", linked_accounts.no_own_address, name="account_no_own_address"),
    path(
        "password/set/",
        reauthentication_required(login_required(password_set)),
        name="account_set_password",
    ),
    path("login/", sign_in_page.sign_in, name="account_login"),
    path("sso/<slug:slug>/", views.begin, name="account_sso"),
    path("sso/<slug:slug>/callback/", views.callback, name="account_sso_callback"),
    path("sso/<slug:slug>/acs/", saml.acs, name="account_saml_acs"),
    path("sso/<slug:slug>/finish/", saml.finish, name="account_saml_finish"),
    path("sso/<slug:slug>/metadata/", saml.metadata, name="account_saml_metadata"),
    path("linked/", linked_accounts.linked, name="account_linked"),
    path("linked/<slug:slug>/", linked_accounts.link_directory, name="account_link_directory"),
    path("linked/<uuid:identity>/unlink/", linked_accounts.unlink, name="account_unlink"),
]
