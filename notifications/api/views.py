"""REST: one's own notifications and settings; channels of oneself and of teams."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers as s
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from notifications.kinds import BY_NAME
from notifications.models import Channel, Preference
from notifications.services import channels, inbox
from notifications.services.preferences import change_settings, settings_of
from portal.api.schema import ROWS
from portal.core.errors import InvalidInput, NotPermitted
from workspaces.access.actors import ALL_SCOPES, Actor
from workspaces.api.base import OrgView, PortalView, idempotent
from workspaces.api.views import items, read

_KINDS = list(BY_NAME)


class MarkSerializer(s.Serializer[Any]):
    ids = s.ListField(
        child=s.UUIDField(), required=False, max_length=500, help_text="Left out: all."
    )
    is_read = s.BooleanField(default=True)


class NotificationSettingsSerializer(s.Serializer[Any]):
    kinds = s.DictField(
        required=False, help_text='What to change: {"job_succeeded": {"email": true}}.'
    )
    pace = s.ChoiceField(Preference.Pace.values, required=False)
    daily_at = s.CharField(required=False, help_text="HH:MM")
    quiet_from = s.CharField(required=False, allow_null=True, allow_blank=True, help_text="HH:MM")
    quiet_until = s.CharField(required=False, allow_null=True, allow_blank=True, help_text="HH:MM")
    time_zone = s.CharField(required=False, max_length=64)
    language = s.CharField(required=False, max_length=10)


class NewChannelSerializer(s.Serializer[Any]):
    kind = s.ChoiceField(Channel.Kind.values)
    url = s.CharField(max_length=500, help_text="https://…")
    name = s.CharField(max_length=60, required=False, allow_blank=True)
    team = s.CharField(required=False, allow_null=True, help_text="Left out: your own channel.")
    kinds = s.ListField(child=s.ChoiceField(_KINDS), required=False)


class ChangeChannelSerializer(s.Serializer[Any]):
    name = s.CharField(max_length=60, required=False)
    url = s.CharField(max_length=500, required=False)
    kinds = s.ListField(child=s.ChoiceField(_KINDS), required=False)
    is_enabled = s.BooleanField(required=False)


class NotificationsView(PortalView):
    permissions = {"GET": None, "POST": None}

    @extend_schema(
        operation_id="notifications_list",
        parameters=[
            OpenApiParameter("unread", bool),
            OpenApiParameter("kind", str, enum=_KINDS),
            OpenApiParameter("before", OpenApiTypes.UUID, description="From `next`."),
        ],
        responses={200: ROWS},
    )
    def get(self, request: Request) -> Response:
        """List your notifications, newest first. A token sees those of its organization."""
        query = request.query_params
        rows = inbox.notifications_of(
            _owner(self.actor),
            is_unread=query.get("unread", "").lower() in {"1", "true"},
            kind=query.get("kind", ""),
            before=_uuid(query["before"]) if query.get("before") else None,
            most=inbox.PAGE + 1,
        )
        shown = rows[: inbox.PAGE]
        return Response(
            {
                "items": [inbox.notification_row(row) for row in shown],
                "next": shown[-1].id if len(rows) > inbox.PAGE else None,
                "previous": None,
                "unread": inbox.unread_count(self.actor),
            }
        )

    @extend_schema(
        operation_id="notifications_mark", request=MarkSerializer, responses=OpenApiTypes.OBJECT
    )
    def post(self, request: Request) -> Response:
        """Mark notifications as read or unread."""
        body = read(MarkSerializer, request)
        ids = body.get("ids")
        count = inbox.mark(_owner(self.actor), ids, is_read=body["is_read"])
        return Response({"changed": count, "unread": inbox.unread_count(self.actor)})


class NotificationSettingsView(PortalView):
    permissions = {"GET": None, "PATCH": None}

    @extend_schema(operation_id="notification_settings_get", responses=OpenApiTypes.OBJECT)
    def get(self, request: Request) -> Response:
        """Return your notification settings."""
        actor = _owner(self.actor)
        assert actor.user_id is not None
        return Response(settings_of(actor.user_id, is_operator=actor.is_operator))

    @extend_schema(
        operation_id="notification_settings_change",
        request=NotificationSettingsSerializer,
        responses=OpenApiTypes.OBJECT,
    )
    def patch(self, request: Request) -> Response:
        """Change your notification settings; what is omitted stays."""
        actor = _owner(self.actor)
        assert actor.user_id is not None
        change_settings(actor=actor, given=read(NotificationSettingsSerializer, request))
        return Response(settings_of(actor.user_id, is_operator=actor.is_operator))


class ChannelsView(OrgView):
    permissions = {"GET": None, "POST": None}

    @extend_schema(operation_id="notification_channels_list", responses=OpenApiTypes.OBJECT)
    def get(self, request: Request) -> Response:
        """List your channels, and those of teams that you lead."""
        rows = channels.visible_channels(_owner(self.actor))
        return items([channels.channel_row(row) for row in rows])

    @extend_schema(
        operation_id="notification_channels_create",
        request=NewChannelSerializer,
        responses={201: OpenApiTypes.OBJECT},
    )
    @idempotent
    def post(self, request: Request) -> Response:
        """Add a channel. `signing_key` of a webhook is shown once."""
        body = read(NewChannelSerializer, request)
        slug = body.pop("team", None)
        team = self.team(slug) if slug else None
        row, secret = channels.create_channel(
            actor=_owner(self.actor), org=self.org, team=team, **body
        )
        shown = channels.channel_row(row) | ({"signing_key": secret} if secret else {})
        return Response(shown, status=status.HTTP_201_CREATED)


class ChannelView(OrgView):
    permissions = {"GET": None, "PATCH": None, "DELETE": None}

    @extend_schema(operation_id="notification_channels_get", responses=OpenApiTypes.OBJECT)
    def get(self, request: Request, channel: UUID) -> Response:
        """Return a channel with its log."""
        row = channels.find_channel(_owner(self.actor), channel)
        log = [channels.delivery_row(one) for one in channels.deliveries_of(self.actor, row)]
        return Response(channels.channel_row(row) | {"deliveries": log})

    @extend_schema(
        operation_id="notification_channels_change",
        request=ChangeChannelSerializer,
        responses=OpenApiTypes.OBJECT,
    )
    def patch(self, request: Request, channel: UUID) -> Response:
        """Change, enable or disable a channel; what is omitted stays."""
        row = channels.find_channel(_owner(self.actor), channel)
        body = read(ChangeChannelSerializer, request)
        return Response(
            channels.channel_row(channels.change_channel(actor=self.actor, channel=row, **body))
        )

    @extend_schema(operation_id="notification_channels_delete", responses={204: None})
    def delete(self, request: Request, channel: UUID) -> Response:
        """Delete a channel with its log."""
        row = channels.find_channel(_owner(self.actor), channel)
        channels.delete_channel(actor=self.actor, channel=row)
        return Response(status=status.HTTP_204_NO_CONTENT)


class ChannelTestView(OrgView):
    permissions = {"POST": None}

    @extend_schema(
        operation_id="notification_channels_test",
        request=None,
        responses={202: OpenApiTypes.OBJECT},
    )
    def post(self, request: Request, channel: UUID) -> Response:
        """Send a test. Its result appears in the log of the channel."""
        row = channels.find_channel(_owner(self.actor), channel)
        sent = channels.send_test(actor=self.actor, channel=row)
        return Response(channels.delivery_row(sent), status=status.HTTP_202_ACCEPTED)


class RedeliveryView(OrgView):
    permissions = {"POST": None}

    @extend_schema(
        operation_id="notification_channels_redeliver",
        request=None,
        responses={202: OpenApiTypes.OBJECT},
    )
    def post(self, request: Request, channel: UUID, delivery: UUID) -> Response:
        """Send a message of the log again, under its own id."""
        row = channels.find_channel(_owner(self.actor), channel)
        sent = channels.redeliver(actor=self.actor, channel=row, delivery_id=delivery)
        return Response(channels.delivery_row(sent), status=status.HTTP_202_ACCEPTED)


def _owner(actor: Actor) -> Actor:
    """Return the actor if it is a person with all their rights. Raises NotPermitted."""
    token = actor.token
    if actor.is_service or (
        token and (token.attempt_id or token.team_id or ALL_SCOPES not in token.scopes)
    ):
        raise NotPermitted(
            "This needs one of your own tokens with all scopes and no team.",
        )
    return actor


def _uuid(text: str) -> UUID:
    try:
        return UUID(text)
    except ValueError:
        raise InvalidInput.at("before", "is not a valid cursor") from None
