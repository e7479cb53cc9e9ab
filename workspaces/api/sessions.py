"""REST: the user's own sessions.

Tokens need the scope `all` to list or end sessions.
"""

from __future__ import annotations

from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from portal.core.errors import NotPermitted
from workspaces.access.actors import ALL_SCOPES, Actor
from workspaces.api.base import PortalView
from workspaces.api.views import items
from workspaces.identity.sessions import end_other_sessions, end_session, sessions_of


class SessionSerializer(serializers.Serializer):  # type: ignore[type-arg]
    id = serializers.UUIDField()
    device = serializers.CharField()
    address = serializers.CharField(allow_blank=True)
    created_at = serializers.DateTimeField()
    last_seen_at = serializers.DateTimeField()
    is_current = serializers.BooleanField()


class SessionsView(PortalView):
    permissions = {"GET": None, "DELETE": None}

    @extend_schema(responses=SessionSerializer(many=True))
    def get(self, request: Request) -> Response:
        """List your active sessions."""
        actor = _owner(self.actor)
        return items(sessions_of(actor.user_id, _current(request)))  # type: ignore[arg-type]

    @extend_schema(operation_id="me_sessions_destroy_others", responses={204: None})
    def delete(self, request: Request) -> Response:
        """Sign out all other sessions."""
        actor = _owner(self.actor)
        end_other_sessions(actor.user_id, _current(request), actor=actor.email)  # type: ignore[arg-type]
        return Response(status=status.HTTP_204_NO_CONTENT)


class SessionView(PortalView):
    permissions = {"DELETE": None}

    @extend_schema(responses={204: None})
    def delete(self, request: Request, session: UUID) -> Response:
        """Sign out a session. Its open pages close within seconds."""
        actor = _owner(self.actor)
        end_session(actor.user_id, session, actor=actor.email)  # type: ignore[arg-type]
        return Response(status=status.HTTP_204_NO_CONTENT)


def _owner(actor: Actor) -> Actor:
    token = actor.token
    if actor.is_service or (
        token
        and (
            token.attempt_id or token.team_id or ALL_SCOPES not in token.scopes or token.vouched_by
        )
    ):
        raise NotPermitted(
            "This needs one of your own tokens with all scopes and no team, created in your own "
            "session."
        )
    return actor


def _current(request: Request) -> str:
    session = getattr(request._request, "session", None)
    return (session.session_key or "") if session is not None else ""
