"""REST: applications that use Muster for sign-in. Operators only."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from workspaces.access.permissions import Permission as P
from workspaces.api.base import OrgView
from workspaces.api.views import read
from workspaces.identity.oidc_provider import applications as service
from workspaces.lists import APPLICATIONS


class ApplicationSerializer(serializers.Serializer[Any]):
    client_id = serializers.CharField()
    name = serializers.CharField()
    addresses = serializers.ListField(
        child=serializers.CharField(), help_text="Exact redirect URIs."
    )
    needs_pkce = serializers.BooleanField(help_text="Require PKCE (S256).")
    created_at = serializers.DateTimeField()
    people = serializers.IntegerField(help_text="Number of users who have consented.")
    client_secret = serializers.CharField(required=False, help_text="Returned only on creation.")


class NewApplicationSerializer(serializers.Serializer[Any]):
    client_id = serializers.CharField(max_length=64)
    name = serializers.CharField(max_length=100, required=False, default="", allow_blank=True)
    addresses = serializers.ListField(child=serializers.CharField(max_length=500), max_length=20)
    needs_pkce = serializers.BooleanField(required=False, default=True)


class ChangeApplicationSerializer(serializers.Serializer[Any]):
    name = serializers.CharField(max_length=100, required=False)
    addresses = serializers.ListField(
        child=serializers.CharField(max_length=500), max_length=20, required=False
    )
    needs_pkce = serializers.BooleanField(required=False)


class ApplicationsView(OrgView):
    permissions = {"GET": APPLICATIONS.permission, "POST": P.APPLICATIONS_WRITE}

    @extend_schema(parameters=APPLICATIONS.parameters(), responses=ApplicationSerializer(many=True))
    def get(self, request: Request) -> Response:
        """List the applications of the installation."""
        return Response(APPLICATIONS.answer(self.actor, request.query_params))

    @extend_schema(request=NewApplicationSerializer, responses={201: ApplicationSerializer})
    def post(self, request: Request) -> Response:
        """Register an application. Its secret is returned only here."""
        made = service.create_application(
            actor=self.actor, **read(NewApplicationSerializer, request)
        )
        return Response(
            service.application_row(made.row) | {"client_secret": made.secret},
            status=status.HTTP_201_CREATED,
        )


class ApplicationView(OrgView):
    permissions = {
        "GET": P.APPLICATIONS_READ,
        "PATCH": P.APPLICATIONS_WRITE,
        "DELETE": P.APPLICATIONS_WRITE,
    }

    @extend_schema(responses=ApplicationSerializer)
    def get(self, request: Request, client: str) -> Response:
        """Get an application."""
        return Response(service.application_row(service.find_application(self.actor, client)))

    @extend_schema(request=ChangeApplicationSerializer, responses=ApplicationSerializer)
    def patch(self, request: Request, client: str) -> Response:
        """Change name or redirect URIs of an application."""
        row = service.change_application(
            actor=self.actor, client_id=client, **read(ChangeApplicationSerializer, request)
        )
        return Response(service.application_row(row))

    @extend_schema(responses={204: None})
    def delete(self, request: Request, client: str) -> Response:
        """Delete an application. Users can no longer sign in to it with Muster."""
        service.remove_application(actor=self.actor, client_id=client)
        return Response(status=status.HTTP_204_NO_CONTENT)


class ApplicationSecretView(OrgView):
    permissions = {"POST": P.APPLICATIONS_WRITE}

    @extend_schema(request=None, responses=ApplicationSerializer)
    def post(self, request: Request, client: str) -> Response:
        """Rotate the client secret.

        The new one is returned only here; the old one stops working at once.
        """
        made = service.renew_secret(actor=self.actor, client_id=client)
        return Response(service.application_row(made.row) | {"client_secret": made.secret})
