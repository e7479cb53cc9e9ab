"""Reauthentication: every form that changes sign-in methods requires it.

Otherwise a stolen session could add a permanent way in.
"""

from __future__ import annotations

import time

import pytest
from allauth.account.internal.flows.login import AUTHENTICATION_METHODS_SESSION_KEY as RECORDS
from allauth.mfa.models import Authenticator
from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes
from django.test import Client

from tests.each import each
from tests.http.table import ACCOUNTS
from tests.story import PASSWORD, prove
from tests.workspaces.identity.conftest import go
from tests.workspaces.test_second_factor import with_app
from workspaces.models import Identity, User

ASKS = {
    "mfa_activate_totp",
    "mfa_deactivate_totp",
    "mfa_generate_recovery_codes",
    "mfa_add_webauthn",
    "mfa_remove_webauthn",
    "account_sso",
    "account_link_directory",
    "account_unlink",
    "account_set_password",
}
PROVES = {
    "account_change_password": "asks for the old password",
    "account_reset_password_from_key": "uses an e-mailed link",
}
CHANGES_NOTHING_OF_IT = {
    "account_language",
    "account_sessions",
    "account_acting_stop",
    "account_announcement_dismiss",
    "account_invitation",
    "account_unsubscribe",
    "account_agreements",
    "mfa_index",
    "mfa_view_recovery_codes",
    "mfa_download_recovery_codes",
    "mfa_list_webauthn",
    "mfa_edit_webauthn",  # only renames the key
    "account_linked",
    "account_no_own_address",
    "account_email",
    "account_signup",
    "account_inactive",
    "account_email_verification_sent",
    "account_confirm_email",
    "account_reset_password",
    "account_reset_password_done",
    "account_reset_password_from_key_done",
    # sign-in, sign-out and reauthentication itself
    "account_login",
    "account_logout",
    "account_confirm_login_code",
    "account_reauthenticate",
    "account_sso_callback",
    "account_saml_acs",
    "account_saml_finish",
    "account_saml_metadata",
    "mfa_authenticate",
    "mfa_reauthenticate",
    "mfa_reauthenticate_webauthn",
    "mfa_login_webauthn",
}


def test_every_account_form_is_classified():
    assert {name for name, _ in ACCOUNTS} == ASKS | set(PROVES) | CHANGES_NOTHING_OF_IT


@pytest.fixture
def ada(story, atlas_idp, house_idp):
    """Return Ada with a password, an app, recovery codes, a passkey and a linked provider."""
    with_app(story.ada)
    RecoveryCodes.activate(story.ada)
    Authenticator.objects.create(
        user=story.ada, type="webauthn", data={"name": "key", "credential": {}}
    )
    Identity.objects.create(provider=house_idp, user=story.ada, subject="ada")
    return story.ada


def ways(user) -> list:
    """Return everything that the user can sign in with."""
    return [
        *User.objects.filter(id=user.id).values("password", "email"),
        *Authenticator.objects.filter(user=user).order_by("pk").values(),
        *Identity.objects.filter(user=user).values("id", "subject"),
    ]


def forms(user) -> dict[str, tuple[str, dict[str, str]]]:
    key = Authenticator.objects.get(user=user, type="webauthn").pk
    return {
        "mfa_activate_totp": ("/accounts/2fa/totp/activate/", {"code": "000000"}),
        "mfa_deactivate_totp": ("/accounts/2fa/totp/deactivate/", {}),
        "mfa_generate_recovery_codes": ("/accounts/2fa/recovery-codes/generate/", {}),
        "mfa_add_webauthn": ("/accounts/2fa/webauthn/add/", {"name": "key"}),
        "mfa_remove_webauthn": (f"/accounts/2fa/webauthn/keys/{key}/remove/", {}),
        "account_sso": ("/accounts/sso/atlas-idp/", {"process": "connect"}),
        "account_link_directory": (
            "/accounts/linked/corp/",
            {"login": "ada", "password": "the directory's"},
        ),
        "account_unlink": (f"/accounts/linked/{Identity.objects.get().id}/unlink/", {}),
    }


@each("name", sorted(ASKS - {"account_set_password"}))
def test_sign_in_method_change_requires_reauthentication(story, ada, name):
    browser, (path, form) = story.client(ada), forms(ada)[name]
    if name in ("mfa_activate_totp", "mfa_add_webauthn"):
        Authenticator.objects.filter(user=ada).delete()
    before = ways(ada)
    answer = browser.post(path, form)
    assert (
        answer.status_code == 302 and "reauthenticate" in answer["Location"] and ways(ada) == before
    )
    assert "the directory's" not in str(dict(browser.session))
    prove(browser)
    assert "reauthenticate" not in browser.post(path, form).headers.get("Location", "")


def test_reauthentication_expires_after_five_minutes(story, ada, atlas_idp, issuer):
    browser = story.client(ada)
    assert go(browser, atlas_idp, issuer, process="connect")
    session = browser.session
    session[RECORDS] = [record | {"at": record["at"] - 301} for record in session[RECORDS]]
    session.save()
    assert (
        "reauthenticate"
        in browser.post("/accounts/sso/atlas-idp/", {"process": "connect"})["Location"]
    )


@each("name", sorted(PROVES))
def test_password_change_without_old_password_or_link_is_refused(story, ada, name):
    path = (
        "/accounts/password/change/"
        if name == "account_change_password"
        else "/accounts/password/reset/key/1-set-password/"
    )
    before = ways(ada)
    story.client(ada).post(
        path,
        {
            "oldpassword": "not the former",
            "password1": "another one entirely",
            "password2": "another one entirely",
        },
    )
    assert ways(ada) == before


def came_in(provider, issuer, minutes: int) -> Client:
    """Return the browser of a user without a password or factor, signed in `minutes` ago."""
    issuer.claims["groups"] = ["people"]
    browser = Client()
    go(browser, provider, issuer).back()
    session = browser.session
    session[RECORDS] = [record | {"at": time.time() - minutes * 60} for record in session[RECORDS]]
    session.save()
    return browser


@each("minutes", [1, 6])
def test_first_password_requires_recent_sign_in(story, house_idp, issuer, minutes):
    browser = came_in(house_idp, issuer, minutes)
    browser.post(
        "/accounts/password/set/",
        {"password1": "another one entirely", "password2": "another one entirely"},
    )
    eve = User.objects.get(email="eve@atlas.example")
    assert eve.has_usable_password() == (minutes < 5)
    page = browser.get("/accounts/linked/").content.decode()
    assert ("sign out and sign in again" in page) == (minutes > 5)


@each("minutes", [1, 6])
@each("path", ["/accounts/2fa/totp/activate/", "/accounts/2fa/webauthn/add/"])
def test_first_factor_without_password_requires_recent_sign_in(
    story, house_idp, issuer, path, minutes
):
    """A factor is a way in: an app confirms identity, and a passkey signs in."""
    browser = came_in(house_idp, issuer, minutes)
    shown, sent = browser.get(path), browser.post(path, {"code": "000000", "name": "key"})
    if minutes < 5:
        assert (shown.status_code, sent.status_code) == (200, 200)
    else:
        assert shown["Location"] == sent["Location"] == "/accounts/2fa/"
        assert "sign out and sign in again" in browser.get("/accounts/2fa/").content.decode()


def test_linked_accounts_page_after_reauthentication_offers_changes(story, ada, atlas_idp):
    browser = story.client(ada)
    assert "Confirm it's you to change these" in browser.get("/accounts/linked/").content.decode()
    answer = browser.post(
        "/accounts/reauthenticate/",
        {"password": PASSWORD, "next": "/accounts/linked/"},
        follow=True,
    )
    page = answer.content.decode()
    assert (
        answer.request["PATH_INFO"] == "/accounts/linked/"
        and "Link Atlas ID" in page
        and "Confirm it's you to change these" not in page
    )
