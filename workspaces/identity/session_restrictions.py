"""What is closed in a session that an organization's own provider vouches for, and to an operator who acts as somebody: the pages of the
account itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse

from portal.core.errors import NotPermitted
from portal.web.errors import answer
from workspaces.access.actors import ACTS_AS, ONLY_ORG
from workspaces.models import Membership
from workspaces.tenancy.scope import platform_scope

_SHUT = ("/accounts/", "/api/v1/me/sessions", "/identity/")
_SESSIONS = ("/accounts/sessions/", "/api/v1/me/sessions")
_OPEN_WHILE_ACTING = ("/accounts/acting/", "/accounts/language/", "/accounts/logout/")
_OPEN = (
    "/accounts/language/",
    "/accounts/login/",
    "/accounts/logout/",
    "/accounts/sso/",
    "/identity/o/device",
)


def only_org_in(request: HttpRequest) -> UUID | None:
    """The only organization that this session opens."""
    session = getattr(request, "session", None)
    only = session.get(ONLY_ORG) if session is not None else None
    return UUID(only) if only else None


class AccountPages:
    """Refuses them there, whatever token is sent along, since those pages go by the session: whoever chooses whom the provider names
    must not change a password, an address or a link, nor sign in to another application. Of an account that has no other way in, its
    sessions are open; no more, since the provider may have made it at an address of somebody else's."""

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
                    "You act as somebody else: an account is its owner's alone. Stop acting as them first.",
                    code="impersonating",
                ),
            )
        if path.startswith(_SHUT) and not path.startswith(_OPEN) and _is_closed(request, path):
            return answer(
                request,
                NotPermitted(
                    "Your organization's sign-in opens the organization, not the settings of your account. "
                    "Sign out, and sign in with your account's own password to change them."
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
    """A person of that organization who has no other way in: no password, no other organization, not an operator."""
    if user.has_usable_password() or user.is_operator:
        return False
    with platform_scope("whose account it is"):
        return not Membership.objects.filter(user=user).exclude(org_id=org_id).exists()
