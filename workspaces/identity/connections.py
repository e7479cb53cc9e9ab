"""Credentials of connections that stay open, such as websockets, and whether they still count."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from django.conf import settings
from django.contrib.auth import get_user
from django.http import HttpRequest
from django.utils.module_loading import import_string

from portal.core.errors import NotPermitted
from workspaces.access.actors import Actor, actor_in_session, live_impersonations
from workspaces.credentials.token_format import authenticate_token, live_tokens
from workspaces.models import User
from workspaces.tenancy.scope import platform_scope


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


def _sessions() -> Any:
    return import_string(settings.SESSION_ENGINE + ".SessionStore")
