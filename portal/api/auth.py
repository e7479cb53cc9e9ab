"""Let DRF use the authentication of TenancyMiddleware, with the CSRF check for sessions."""

from __future__ import annotations

from typing import Any

from drf_spectacular.extensions import OpenApiAuthenticationExtension
from rest_framework.authentication import BaseAuthentication, SessionAuthentication
from rest_framework.request import Request


class ActorUser:
    """The user object for DRF."""

    is_authenticated = True
    is_active = True

    def __init__(self, actor: Any):
        self.actor = actor
        self.pk = actor.user_id

    def __str__(self) -> str:
        return str(self.actor.email)


class ActorAuthentication(BaseAuthentication):
    """Authenticate by `request.actor`, which TenancyMiddleware has set."""

    def authenticate(self, request: Request) -> tuple[ActorUser, Any] | None:
        actor = getattr(request._request, "actor", None)
        if actor is None:
            return None
        if actor.token is None:
            SessionAuthentication().enforce_csrf(request)
        return ActorUser(actor), actor.token

    def authenticate_header(self, request: Request) -> str:
        return 'Bearer realm="muster"'


class ActorScheme(OpenApiAuthenticationExtension):
    target_class = "portal.api.auth.ActorAuthentication"
    name = "token"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        return {"type": "http", "scheme": "bearer", "bearerFormat": "mst_…"}
