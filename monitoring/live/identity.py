"""Authenticate websockets: by bearer token, or by session cookie from a page of the portal."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from http.cookies import CookieError, SimpleCookie
from typing import Any

from django.conf import settings
from django.http.request import split_domain_port, validate_host

from portal.core.events import Caller, caller, clean_address
from workspaces.identity.connections import BySession, ByToken, Credential
from workspaces.tenancy.scope import request_scope

Scope = dict[str, Any]


class Identify:
    """Set `scope["way"]`, whose `actor()` is None once the token or session has ended."""

    def __init__(self, app: Callable[..., Awaitable[None]]):
        self.app = app

    async def __call__(self, scope: Scope, receive: Any, send: Any) -> None:
        client = scope.get("client") or ("",)
        # Local to this connection, which has a context of its own.
        caller.set(Caller(clean_address(client[0])))
        headers = {
            name.decode("latin1").lower(): value.decode("latin1")
            for name, value in scope["headers"]
        }
        with request_scope():
            await self.app(
                scope | {"way": _credential_of(headers, (scope.get("client") or ("",))[0])},
                receive,
                send,
            )


def _credential_of(headers: Mapping[str, str], address: str) -> Credential:
    kind, _, raw = headers.get("authorization", "").partition(" ")
    if kind.lower() == "bearer":
        return ByToken(raw.strip(), address)
    return BySession(_session_key(headers.get("cookie", "")) if is_our_page(headers) else "")


def is_our_page(headers: Mapping[str, str]) -> bool:
    """Return whether the page has the portal's origin; only then may the cookie be used."""
    origin = headers.get("origin", "")
    if origin in settings.CSRF_TRUSTED_ORIGINS:
        return True
    scheme, _, host = origin.partition("://")
    if host != headers.get("host", "") or scheme not in (
        {"https"} if settings.SESSION_COOKIE_SECURE else {"http", "https"}
    ):
        return False
    # Reject other names that resolve to this host.
    return validate_host(split_domain_port(host)[0], settings.ALLOWED_HOSTS)


def _session_key(cookies: str) -> str:
    try:
        found = SimpleCookie(cookies).get(settings.SESSION_COOKIE_NAME)
    except CookieError:
        return ""
    return found.value if found else ""
