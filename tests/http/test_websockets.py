"""Websockets accept the session cookie only from pages of the portal's own origin."""

from __future__ import annotations

import pytest
from django.conf import settings

from monitoring.live import asgi_app
from monitoring.live.identity import _credential_of
from workspaces.identity.connections import BySession, ByToken

COOKIE = f"{settings.SESSION_COOKIE_NAME}=thekey"
OURS = ["http://testserver", "https://testserver", *settings.CSRF_TRUSTED_ORIGINS]
FOREIGN = [
    "",
    "null",
    "https://evil.example",
    "http://evil.example",
    "http://testserver.evil.example",
    "http://eviltestserver",
    "http://testserver:81",
    "testserver",
    "//testserver",
    "http://testserver@evil.example",
    "http://evil.example#testserver",
    "file://testserver",
    "http://user@testserver",
    "chrome-extension://testserver",
    "http://",
]


def way(origin: str | None, **headers: str) -> object:
    given = {"host": "testserver", "cookie": COOKIE, **headers}
    return _credential_of(given if origin is None else {**given, "origin": origin}, "203.0.113.9")


def test_websocket_from_own_page_uses_the_session():
    assert [origin for origin in OURS if way(origin) != BySession("thekey")] == []


def test_websocket_from_other_site_cannot_use_the_session():
    assert [origin for origin in (None, *FOREIGN) if way(origin) != BySession("")] == []


def test_websocket_from_unknown_host_name_cannot_use_the_session():
    """DNS rebinding: both Origin and Host are evil.example."""
    assert way("http://evil.example", host="evil.example") == BySession("")


def test_websocket_with_token_is_accepted_from_any_origin():
    found = {way(origin, authorization="Bearer mst_x") for origin in FOREIGN}
    assert found == {ByToken("mst_x", "203.0.113.9")}


def test_websocket_from_http_page_cannot_use_secure_cookies(monkeypatch):
    monkeypatch.setattr(settings, "SESSION_COOKIE_SECURE", True)
    assert way("http://testserver") == BySession("")
    assert way("https://testserver") == BySession("thekey")


@pytest.mark.parametrize("path", ["/ws/", "/ws/live/", "/", "/api/v1/me"])
async def test_websocket_to_an_unknown_path_is_answered_with_404(path):
    sent = []

    async def send(message):
        sent.append(message)

    await asgi_app()(
        {"type": "websocket", "path": path, "client": ("203.0.113.9", 4711), "headers": []},
        None,
        send,
    )
    assert (sent[0]["type"], sent[0]["status"]) == ("websocket.http.response.start", 404)
