"""A portal with an https URL uses host-only cookies and HSTS."""

from __future__ import annotations

import runpy

import pytest
from django.conf import settings

from portal.settings import muster
from tests.http.table import browser
from tests.rig.environment import ROOT
from tests.story import PASSWORD

PREFIX = "__Host-"
NAMES = (
    "SESSION_COOKIE_NAME",
    "CSRF_COOKIE_NAME",
    "LANGUAGE_COOKIE_NAME",
    "MUSTER_ORG_COOKIE_NAME",
    "MUSTER_MESSAGES_COOKIE_NAME",
)


@pytest.fixture
def at(monkeypatch, settings):
    """Return `at(url)`, which applies the settings of that MUSTER_BASE_URL."""

    def move(address: str) -> None:
        monkeypatch.setattr(muster, "MUSTER_BASE_URL", address)
        made = runpy.run_path(str(ROOT / "portal/settings/web.py"))
        for name, value in made.items():
            if name.isupper() and not name.startswith(("CACHES", "ALLOWED_HOSTS")):
                setattr(settings, name, value)

    return move


def cookies(story, is_secure: bool) -> dict:
    """Return all cookies of a tour: sign-in form, sign-in, home page, another language."""
    client = browser()
    client.get("/accounts/login/", secure=is_secure)
    client.post(
        "/accounts/login/", {"login": story.ada.email, "password": PASSWORD}, secure=is_secure
    )
    assert client.get("/atlas/", secure=is_secure).status_code == 200
    client.post("/accounts/language/", {"language": "ko"}, secure=is_secure)
    return dict(client.cookies)


@pytest.mark.parametrize("address", ["https://muster.example", "https://muster.example:8443"])
def test_https_cookies_have_host_prefix(story, at, address):
    at(address)
    given = cookies(story, True)
    assert {getattr(settings, name) for name in NAMES} <= set(given)
    for name, cookie in given.items():
        assert name.startswith(PREFIX), name
        assert (cookie["secure"], cookie["path"], cookie["domain"]) == (True, "/", ""), name


def test_http_cookies_have_no_host_prefix(story, at):
    at("http://127.0.0.1:8000")
    given = cookies(story, False)
    assert set(given) == {
        f"muster_{name}_8000" for name in ("session", "csrf", "language", "org", "messages")
    }
    assert not any(cookie["secure"] for cookie in given.values())


def test_hsts_is_sent_for_https_base_url_only(db, at):
    at("https://muster.example")
    for path in ("/accounts/login/", "/no/such/page", "/api/v1/me"):
        assert browser().get(path, secure=True)["Strict-Transport-Security"] == "max-age=31536000"
    at("http://muster.example")
    assert "Strict-Transport-Security" not in browser().get("/accounts/login/", secure=True)


def test_clear_site_data_is_sent_on_sign_out_only(story, at):
    at("https://muster.example")
    client = browser()
    client.force_login(story.ada)
    assert "Clear-Site-Data" not in client.get("/atlas/", secure=True)
    there = browser()
    there.cookies.load(
        {settings.SESSION_COOKIE_NAME: client.cookies[settings.SESSION_COOKIE_NAME].value}
    )
    answer = client.post("/accounts/logout/", secure=True)
    assert (answer.status_code, answer["Clear-Site-Data"]) == (302, '"cache"')
    assert (
        there.get("/atlas/", secure=True)["Clear-Site-Data"] == '"cache"'
    )  # the same session in a browser that has not signed out
    assert "Clear-Site-Data" not in browser().get("/accounts/login/", secure=True)
