"""Authenticate websockets: by bearer token, or by session cookie from a page of the portal."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass, field
from http.cookies import CookieError, SimpleCookie
from typing import Any
from uuid import UUID

from django.conf import settings
from django.contrib.auth import get_user
from django.http import HttpRequest
from django.http.request import split_domain_port, validate_host
from django.utils.module_loading import import_string

from portal.core.errors import NotPermitted
from portal.core.events import Caller, caller, clean_address
from workspaces.access.actors import Actor, actor_in_session, live_impersonations
from workspaces.credentials.token_format import authenticate_token, live_tokens
from workspaces.models import User
from workspaces.tenancy.scope import platform_scope, request_scope

Scope = dict[str, Any]


@dataclass(frozen=True)
class ByToken:
    """Authentication by access token."""

    raw: str = field(repr=False)
    address: str = ""

    def actor(self) -> Actor | None:
        try:
            return authenticate_token(self.raw, self.address)
        except NotPermitted:  # the token is bound to another network
            return None


@dataclass(frozen=True)
class BySession:
    """Authentication by the session of a page of the portal."""

    key: str = field(repr=False)

    def actor(self) -> Actor | None:
        if not self.key:
            return None
        request = HttpRequest()
        request.session = _sessions()(self.key)
        try:
            return actor_in_session(get_user(request), request.session)  # type: ignore[arg-type]
        except NotPermitted:  # the impersonation has ended
            return None


Credential = ByToken | BySession


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


def ended(ways: Mapping[Credential, Actor]) -> set[Credential]:
    """Return those whose access has ended, with one query per kind.

    Checks sessions, tokens, impersonations, and users that were deactivated or are no longer
    operators.
    """
    keys = [way.key for way in ways if isinstance(way, BySession)]
    alive = (
        _sessions()
        .get_model_class()
        .objects.filter(session_key__in=keys)
        .values_list("session_key", flat=True)
        if keys
        else ()
    )
    users = {actor.user_id for actor in ways.values() if actor.user_id}
    active = (
        dict(User.objects.filter(id__in=users, is_active=True).values_list("id", "is_operator"))
        if users
        else {}
    )
    living = set(alive)
    gone: set[Credential] = {BySession(key) for key in keys if key not in living}
    tokens = {actor.token.id for actor in ways.values() if actor.token}
    working = _live_token_ids(tokens) if tokens else set()
    acts = {way: actor.acted_by.id for way, actor in ways.items() if actor.acted_by}
    held = _live_impersonation_ids(set(acts.values())) if acts else set()
    gone |= {way for way, pk in acts.items() if pk not in held}
    return {
        way
        for way, actor in ways.items()
        if way in gone
        or (actor.user_id and not _is_still(actor, active.get(actor.user_id)))
        or (actor.token and actor.token.id not in working)
    }


def _is_still(actor: Actor, is_operator: bool | None) -> bool:
    """Return whether the user is unchanged; `is_operator` is None for an inactive user."""
    return is_operator is not None and (
        is_operator == actor.is_operator or actor.only_org is not None
    )


def _live_impersonation_ids(ids: Collection[UUID]) -> set[UUID]:
    return set(live_impersonations().filter(id__in=ids).values_list("id", flat=True))


def _live_token_ids(tokens: Collection[UUID]) -> set[UUID]:
    with platform_scope("tokens of all organizations have open websockets"):
        return set(live_tokens().filter(id__in=tokens).values_list("id", flat=True))


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


def _sessions() -> Any:
    return import_string(settings.SESSION_ENGINE + ".SessionStore")
