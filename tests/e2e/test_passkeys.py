"""Test passkeys in a real Chromium with a virtual authenticator, and an ended session's open page."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.look.conftest import accept_dialogs
from tests.rig.portal import EMAIL, PASSWORD, Portal
from tests.rig.processes import Folder

pytestmark = [pytest.mark.browser, pytest.mark.integration]
KEY = {
    "protocol": "ctap2",
    "ctap2Version": "ctap2_1",
    "transport": "internal",
    "hasResidentKey": True,
    "hasUserVerification": True,
    "isUserVerified": True,
    "automaticPresenceSimulation": True,
}


@pytest.fixture(scope="module")
def portal() -> Iterator[Portal]:
    folder = Folder()
    made = Portal(folder, is_furnished=True)
    made.settings["MUSTER_BASE_URL"] = (
        f"http://localhost:{made.port}"  # browsers do not support passkeys for IP addresses
    )
    made.start()
    yield made
    made.stop()
    folder.close()


def with_key(page: Page) -> tuple[Any, str]:
    """Add a virtual authenticator to that page."""
    session = page.context.new_cdp_session(page)
    session.send("WebAuthn.enable")
    return session, session.send("WebAuthn.addVirtualAuthenticator", {"options": KEY})[
        "authenticatorId"
    ]


def at(portal: Portal, path: str = "/") -> str:
    return f"http://localhost:{portal.port}{path}"


def with_password(page: Page, portal: Portal) -> None:
    page.goto(at(portal, "/accounts/login/"))
    page.fill("[name=login]", EMAIL)
    page.fill("[name=password]", PASSWORD)
    page.get_by_role("button", name="Sign in", exact=True).click()


def test_passkey_works_as_second_factor_and_alone(portal: Portal, page: Page, browser: Browser):
    session, key = with_key(page)
    with_password(page, portal)
    page.wait_for_url(at(portal, "/home/"))
    page.goto(at(portal, "/accounts/2fa/"))
    page.get_by_role("link", name="Add passkey").first.click()
    page.fill("[name=password]", PASSWORD)  # re-authentication before sign-in methods change
    page.get_by_role("button", name="Confirm").click()
    page.get_by_label("Passwordless").check()
    page.get_by_role("button", name="Add", exact=True).click()
    page.wait_for_url(re.compile(r"/recovery-codes/"))
    assert len(re.findall(r"\b\d{8}\b", page.content())) == 10
    [credential] = session.send("WebAuthn.getCredentials", {"authenticatorId": key})["credentials"]

    other = browser.new_context().new_page()  # the same user in another browser, with the passkey
    second, twin = with_key(other)
    second.send("WebAuthn.addCredential", {"authenticatorId": twin, "credential": credential})
    with_password(other, portal)
    other.wait_for_url(re.compile("/accounts/2fa/authenticate/"))
    other.goto(at(portal, "/home/teams"))
    other.wait_for_url(
        re.compile("/accounts/2fa/authenticate/")
    )  # the password alone does not sign in
    other.get_by_role("button", name="Use a passkey or security key").click()
    other.wait_for_url(at(portal, "/home/"))
    other.context.close()

    alone = browser.new_context().new_page()
    third, again = with_key(alone)
    third.send(
        "WebAuthn.addCredential",
        {
            "authenticatorId": again,
            "credential": credential | {"signCount": credential["signCount"] + 5},
        },
    )
    alone.goto(at(portal, "/accounts/login/"))
    alone.get_by_role("button", name="Sign in with a passkey").click()
    alone.wait_for_url(at(portal, "/home/"))

    alone.goto(at(portal, "/accounts/sessions/"))
    expect(alone.locator("tbody tr")).to_have_count(3)
    sockets_closed(page, portal, alone)


def sockets_closed(page: Page, portal: Portal, elsewhere: Page) -> None:
    """After a sign-out elsewhere, the websocket closes within 5 s and the next page is the sign-in."""
    closed: list[float] = []
    page.on(
        "websocket", lambda socket: socket.on("close", lambda _: closed.append(time.monotonic()))
    )
    page.goto(at(portal, "/home/jobs"))
    page.wait_for_timeout(1500)
    assert not closed
    began = time.monotonic()
    accept_dialogs(elsewhere)
    elsewhere.get_by_role("button", name="Sign out all other sessions").click()
    expect(elsewhere.locator("tbody tr")).to_have_count(1)
    for _ in range(60):
        if closed:
            break
        page.wait_for_timeout(100)
    assert closed and closed[0] - began < 5
    page.goto(at(portal, "/home/teams"))
    assert "/accounts/login/" in page.url
    elsewhere.context.close()


def test_passkey_refused_by_the_browser_can_be_tried_again(portal: Portal, browser: Browser):
    page = browser.new_context().new_page()
    session, key = with_key(page)
    session.send("WebAuthn.setUserVerified", {"authenticatorId": key, "isUserVerified": False})
    page.goto(at(portal, "/accounts/login/"))
    press = page.get_by_role("button", name="Sign in with a passkey")
    press.click()
    expect(page.get_by_role("alert")).to_contain_text("No passkey was used", timeout=90_000)
    assert page.url == at(portal, "/accounts/login/")
    with page.expect_response("**/webauthn/login/"):
        press.click()
    page.context.close()


def test_passkey_without_a_secure_address_names_the_required_one(portal: Portal, browser: Browser):
    page = browser.new_context().new_page()
    page.add_init_script(
        "delete globalThis.PublicKeyCredential; Object.defineProperty(navigator, 'credentials', "
        "{value: undefined});"
    )
    page.goto(at(portal, "/accounts/login/"))
    page.get_by_role("button", name="Sign in with a passkey").click()
    expect(page.get_by_role("alert")).to_contain_text("HTTPS")
    page.context.close()
