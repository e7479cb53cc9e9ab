"""Block account pages in restricted sessions.

These are sessions by an organization's own provider, and operators who impersonate a user.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse

from portal.core.errors import NotPermitted
from portal.core.messages import Message
from portal.web.errors import answer
from workspaces.access.actors import ACTS_AS, ONLY_ORG
from workspaces.models import Membership
from workspaces.tenancy.scope import platform_scope

_SHUT = ("/accounts/", "/api/v1/me/sessions", "/identity/")
_SESSIONS = ("/accounts/sessions/", "/api/v1/me/sessions")
_OPEN_WHILE_ACTING = (
    "/accounts/acting/",
    "/accounts/language/",
    "/accounts/logout/",
    "/accounts/unsubscribe/",
)
_OPEN = (
    "/accounts/language/",
    "/accounts/login/",
    "/accounts/logout/",
    "/accounts/sso/",
    "/accounts/unsubscribe/",
    "/identity/o/device",
)


def only_org_in(request: HttpRequest) -> UUID | None:
    """Return the only organization that this session may enter, or None."""
    session = getattr(request, "session", None)
    only = session.get(ONLY_ORG) if session is not None else None
    return UUID(only) if only else None


class AccountPagesMiddleware:
    """Middleware that blocks account pages in restricted sessions, whatever token is sent.

    Whoever controls the organization's provider must not change a password, an address or a link,
    nor sign in to other applications. An account without another way to sign in may manage its
    sessions, but no more: the provider may have created it with somebody else's address.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]):
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        path = request.path_info
        if (
            path.startswith(_SHUT)
            and not path.startswith(_OPEN_WHILE_ACTING)
            and _acts_as_another(request)
        ):
            return answer(
                request,
                NotPermitted(
                    Message(
                        "You can't open account pages while you're impersonating another user. Stop "
                        "impersonating first."
                    ),
                    code="impersonating",
                ),
            )
        if path.startswith(_SHUT) and not path.startswith(_OPEN) and _is_closed(request, path):
            return answer(
                request,
                NotPermitted(
                    Message(
                        "Your organization's sign-in doesn't give access to your account "
                        "settings. Sign out, then sign in with your account's password."
                    )
                ),
            )
        return self.get_response(request)


def _acts_as_another(request: HttpRequest) -> bool:
    session = getattr(request, "session", None)
    return session is not None and bool(session.get(ACTS_AS))


def _is_closed(request: HttpRequest, path: str) -> bool:
    only, user = only_org_in(request), getattr(request, "user", None)
    if only is None or user is None or not user.is_authenticated:
        return False
    return not (path.startswith(_SESSIONS) and _is_alone_in(user, only))


def _is_alone_in(user: Any, org_id: UUID) -> bool:
    """Return whether the account belongs to this organization only and has no password."""
    if user.has_usable_password() or user.is_operator:
        return False
    with platform_scope("organizations of an account"):
        return not Membership.objects.filter(user=user).exclude(org_id=org_id).exists()
