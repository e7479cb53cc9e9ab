"""Who opens a websocket: by Bearer token, or by the session cookie from one of our own pages."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import urlsplit

from channels.db import database_sync_to_async
from django.conf import settings
from django.contrib.auth import get_user
from django.http import HttpRequest
from django.utils.module_loading import import_string

from workspaces.actors import Actor, actor_of
from workspaces.tokens import authenticate_token

Scope = dict[str, Any]


class Identify:
    """Sets `scope["identify"]`, which gives the actor now and again later: None once the token or session has ended."""

    def __init__(self, app: Callable[..., Awaitable[None]]):
        self.app = app

    async def __call__(self, scope: Scope, receive: Any, send: Any) -> None:
        headers = {name.decode("latin1").lower(): value.decode("latin1") for name, value in scope["headers"]}
        await self.app(scope | {"identify": _way_in(headers)}, receive, send)


def _way_in(headers: Mapping[str, str]) -> Callable[[], Awaitable[Actor | None]]:
    kind, _, raw = headers.get("authorization", "").partition(" ")
    if kind.lower() == "bearer":
        return lambda: database_sync_to_async(authenticate_token)(raw.strip())
    if not is_our_page(headers):
        return _nobody
    key = _session_key(headers.get("cookie", ""))
    return lambda: database_sync_to_async(_of_session)(key)


def is_our_page(headers: Mapping[str, str]) -> bool:
    """A browser says where the page came from that opens the socket; only our own origin may use the cookie."""
    origin = headers.get("origin", "")
    if origin in settings.CSRF_TRUSTED_ORIGINS:
        return True
    return bool(origin) and urlsplit(origin).netloc == headers.get("host", "") != ""


async def _nobody() -> Actor | None:
    return None


def _session_key(cookies: str) -> str:
    try:
        found = SimpleCookie(cookies).get(settings.SESSION_COOKIE_NAME)
    except CookieError:
        return ""
    return found.value if found else ""


def _of_session(key: str) -> Actor | None:
    if not key:
        return None
    request = HttpRequest()
    request.session = import_string(settings.SESSION_ENGINE + ".SessionStore")(key)
    user = get_user(request)
    return actor_of(user) if user.is_authenticated and user.is_active else None  # type: ignore[arg-type]
