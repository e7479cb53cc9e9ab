"""REST: invitations into the organization."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from workspaces.access.permissions import OrgRole
from workspaces.access.permissions import Permission as P
from workspaces.api.base import OrgView
from workspaces.api.views import read
from workspaces.lists import INVITATIONS
from workspaces.organizations import invitations, selectors
from workspaces.organizations.invitation_links import send_invitation
from workspaces.organizations.invitations import NewInvitation


class InvitationSerializer(serializers.Serializer):  # type: ignore[type-arg]
    id = serializers.UUIDField()
    email = serializers.EmailField()
    name = serializers.CharField(allow_blank=True)
    role = serializers.CharField()
    teams = serializers.DictField(child=serializers.CharField(), help_text="Role by team.")
    made_by = serializers.CharField()
    created_at = serializers.DateTimeField()
    sent_at = serializers.DateTimeField(allow_null=True, help_text="Last time it was mailed.")
    expires_at = serializers.DateTimeField()
    is_expired = serializers.BooleanField()
    url = serializers.CharField(required=False, help_text="The link; returned only on creation.")
    is_sent = serializers.BooleanField(
        required=False, help_text="Whether the requested e-mail was sent."
    )


class NewInvitationSerializer(serializers.Serializer):  # type: ignore[type-arg]
    email = serializers.CharField(max_length=254)
    name = serializers.CharField(max_length=100, required=False, default="", allow_blank=True)
    role = serializers.CharField(max_length=40, default=str(OrgRole.MEMBER))
    teams = serializers.DictField(
        child=serializers.CharField(max_length=40),
        required=False,
        default=dict,
        help_text="Role by team: {vision: member}.",
    )
    days = serializers.IntegerField(required=False, default=7, min_value=1, max_value=30)
    send = serializers.BooleanField(required=False, default=False, help_text="Also send an e-mail.")


class SendSerializer(serializers.Serializer):  # type: ignore[type-arg]
    send = serializers.BooleanField(required=False, default=False, help_text="Also send an e-mail.")


class InvitationsView(OrgView):
    permissions = {"GET": INVITATIONS.permission, "POST": P.MEMBERS_WRITE}

    @extend_schema(parameters=INVITATIONS.parameters(), responses=InvitationSerializer(many=True))
    def get(self, request: Request) -> Response:
        """List pending invitations."""
        return Response(INVITATIONS.answer(self.actor, request.query_params))

    @extend_schema(request=NewInvitationSerializer, responses={201: InvitationSerializer})
    def post(self, request: Request) -> Response:
        """Invite a user. The link is returned only here."""
        body = read(NewInvitationSerializer, request)
        send = body.pop("send")
        return _answer(self, invitations.invite(actor=self.actor, org=self.org, **body), send=send)


class InvitationView(OrgView):
    permissions = {"DELETE": P.MEMBERS_WRITE}

    @extend_schema(responses={204: None})
    def delete(self, request: Request, invitation: UUID) -> Response:
        """Revoke an invitation. Its link stops working."""
        invitations.revoke_invitation(actor=self.actor, invitation_id=invitation)
        return Response(status=status.HTTP_204_NO_CONTENT)


class InvitationRenewalView(OrgView):
    permissions = {"POST": P.MEMBERS_WRITE}

    @extend_schema(request=SendSerializer, responses={201: InvitationSerializer})
    def post(self, request: Request, invitation: UUID) -> Response:
        """Renew an invitation. The old link stops working."""
        send = read(SendSerializer, request)["send"]
        return _answer(
            self,
            invitations.renew_invitation(actor=self.actor, invitation_id=invitation),
            send=send,
        )


def _answer(view: Any, made: NewInvitation, *, send: bool) -> Response:
    sent = {"is_sent": send_invitation(made, view.actor.email)} if send else {}
    made.row.refresh_from_db()
    return Response(
        selectors.invitation_row(made.row) | {"url": made.url} | sent,
        status=status.HTTP_201_CREATED,
    )
