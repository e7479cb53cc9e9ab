"""Test setting up SAML, applications and device login in a real Chromium."""

from __future__ import annotations

from urllib.parse import urlencode

import httpx
import pytest

from tests.look import wizard
from tests.look.conftest import accept_dialogs
from tests.look.test_directory_page import looked
from tests.rig import saml_idp

pytestmark = [pytest.mark.browser, pytest.mark.integration]
BACK = "https://grafana.example.com/login/generic_oauth"


def test_saml_provider_is_connected_and_offered_at_sign_in(site, page, browser):
    accept_dialogs(page)
    page.goto(f"{site.url}/home/directories/-/connect?kind=saml")
    looked(page, "saml-form-empty")
    page.fill("[name=slug]", "keycloak")
    page.fill("[name=title]", "Keycloak")
    page.fill("[name=metadata]", saml_idp.metadata())
    wizard.test(page)
    page.wait_for_selector(".note.good >> text=uses the sign-in page https://idp.example/sso")
    looked(page, "saml-form-tested")
    wizard.finish(page)
    page.wait_for_selector("h1 >> text=Keycloak")
    looked(page, "saml-provider")
    page.click("text=Provider setup")
    page.wait_for_selector("text=Assertion consumer")
    looked(page, "other-side")
    page.click("text=Create token")
    page.wait_for_selector("text=It is shown only once")
    looked(page, "other-side-token")
    page.click("button[name=do][value=end]")
    page.wait_for_selector("text=no longer works")
    theirs = browser.new_context().new_page()
    theirs.goto(f"{site.url}/accounts/login/?next=/home/")
    theirs.wait_for_selector("[name=login]")
    looked(theirs, "sign-in-address")
    theirs.goto(f"{site.url}/accounts/sso/keycloak/")
    looked(theirs, "sign-in-provider")


def test_application_is_registered_and_signed_in_to(site, page):
    accept_dialogs(page)
    page.goto(f"{site.url}/accounts/applications/")
    page.wait_for_selector("text=No connected apps")
    looked(page, "agreements-empty")
    page.goto(f"{site.url}/platform/applications")
    page.wait_for_selector("text=No applications yet")
    looked(page, "applications-empty")
    page.keyboard.press("c")
    page.fill("[name=client_id]", "grafana")
    page.fill("dialog [name=name]", "Grafana")
    page.fill("[name=addresses]", "http://grafana.example.com/")
    page.click("text=Add application")
    page.wait_for_selector("text=isn't a valid redirect URI")
    looked(page, "applications-fault")
    assert page.input_value("[name=client_id]") == "grafana", "what was typed is still there"
    page.fill("[name=addresses]", BACK)
    page.click("text=Add application")
    page.wait_for_selector("text=Client secret of Grafana")
    looked(page, "applications-made")
    body = {
        "client_id": "grafana",
        "redirect_uri": BACK,
        "response_type": "code",
        "scope": "openid profile email groups",
        "state": "s",
        "code_challenge": "c" * 43,
        "code_challenge_method": "S256",
    }
    page.goto(f"{site.url}/identity/o/authorize?{urlencode(body)}")
    page.wait_for_selector("h1 >> text=Sign in to Grafana?")
    looked(page, "consent")
    page.route("https://grafana.example.com/**", lambda route: route.fulfill(body="signed in"))
    page.click("button[value=grant]")
    page.wait_for_selector("text=signed in")
    page.goto(f"{site.url}/accounts/sessions/")
    page.locator("main").get_by_role("link", name="Connected apps").click()
    page.wait_for_selector("td >> text=Your organizations and teams")
    looked(page, "agreements")
    page.set_extra_http_headers({"Accept-Language": "ko"})
    page.reload()
    page.wait_for_selector("td >> text=소속 조직과 팀")
    looked(page, "agreements-ko")
    page.set_extra_http_headers({"Accept-Language": "en"})
    page.reload()
    page.click("td button")
    page.wait_for_selector("text=Access revoked.")
    page.wait_for_selector("text=No connected apps")


def test_device_login_is_approved(site, page):
    given = httpx.post(
        f"{site.url}/identity/o/api/device/code",
        data={"client_id": "muster-cli", "machine": "ada-laptop"},
        timeout=30,
    ).json()
    page.goto(f"{site.url}/identity/o/device")
    looked(page, "device-code")
    page.fill("[name=code]", "WRONG-CODE")
    page.click("text=Continue")
    page.wait_for_selector("[role=alert]")
    looked(page, "device-wrong")
    page.goto(given["verification_uri_complete"])
    page.wait_for_selector("text=ada-laptop")
    looked(page, "device-confirm")
    page.get_by_role("button", name="Approve").click()
    page.wait_for_selector("text=signed in to the CLI")
    looked(page, "device-done")


def test_provider_error_is_explained(site, signed_in):
    with signed_in() as context:
        page = context.new_page()
        page.goto(f"{site.url}/home/directories/-/connect?kind=saml")
        page.fill("[name=slug]", "broken")
        page.fill("[name=metadata]", "<nothing/>")
        wizard.test(page)
        page.wait_for_selector(".checklist >> text=must be complete XML")
        looked(page, "saml-form-fault")
        page.goto(f"{site.url}/identity/o/authorize?client_id=nobody")
        page.wait_for_selector("h1 >> text=Unknown app")
        looked(page, "consent-unknown")
