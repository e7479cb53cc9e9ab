"""REST: service accounts, their tokens, and token rotation."""

from __future__ import annotations

from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from portal.core.shapes import PageShape
from workspaces.access.actors import Actor
from workspaces.access.permissions import Permission as P
from workspaces.api import serializers as s
from workspaces.api.base import OrgView
from workspaces.api.views import read
from workspaces.credentials import service_accounts, tokens
from workspaces.lists import SERVICE_ACCOUNTS, TOKENS, ListedServiceAccountShape, service_tokens
from workspaces.models import ServiceAccount
from workspaces.organizations import selectors


class ServiceAccountsView(OrgView):
    permissions = {"GET": SERVICE_ACCOUNTS.permission, "POST": P.MEMBERS_WRITE}

    @extend_schema(parameters=SERVICE_ACCOUNTS.parameters())
    def get(self, request: Request) -> PageShape[ListedServiceAccountShape]:
        """List the organization's service accounts, with what they use as far as you may see it."""
        return SERVICE_ACCOUNTS.answer(self.actor, request.query_params)

    @extend_schema(
        request=s.NewServiceAccountSerializer, responses={201: s.ServiceAccountSerializer}
    )
    def post(self, request: Request) -> Response:
        """Create a service account. Its role may not exceed your own."""
        row = service_accounts.create_service_account(
            actor=self.actor, org=self.org, **read(s.NewServiceAccountSerializer, request)
        )
        return Response(_row(row, self.actor), status=status.HTTP_201_CREATED)


class ServiceAccountView(OrgView):
    permissions = {"GET": P.MEMBERS_READ, "PATCH": P.MEMBERS_WRITE, "DELETE": P.MEMBERS_WRITE}

    @extend_schema(responses=s.ServiceAccountSerializer)
    def get(self, request: Request, account: str) -> Response:
        """Get a service account."""
        return Response(_row(selectors.service_account(account), self.actor))

    @extend_schema(request=s.ChangeServiceAccountSerializer, responses=s.ServiceAccountSerializer)
    def patch(self, request: Request, account: str) -> Response:
        """Change role or note of a service account."""
        row = selectors.service_account(account)
        service_accounts.change_service_account(
            actor=self.actor, account=row, **read(s.ChangeServiceAccountSerializer, request)
        )
        return Response(_row(row, self.actor))

    @extend_schema(responses={204: None})
    def delete(self, request: Request, account: str) -> Response:
        """Delete a service account. Its tokens stop working at once; its jobs stay."""
        service_accounts.remove_service_account(
            actor=self.actor, account=selectors.service_account(account)
        )
        return Response(status=status.HTTP_204_NO_CONTENT)


class ServiceTokensView(OrgView):
    permissions = {"GET": P.MEMBERS_WRITE, "POST": P.MEMBERS_WRITE}

    @extend_schema(parameters=TOKENS.parameters(), responses=s.TokenSerializer(many=True))
    def get(self, request: Request, account: str) -> Response:
        """List the active tokens of a service account."""
        tokens_here = service_tokens(selectors.service_account(account))
        return Response(tokens_here.answer(self.actor, request.query_params))

    @extend_schema(request=s.NewTokenSerializer, responses={201: s.TokenSerializer})
    def post(self, request: Request, account: str) -> Response:
        """Create a token for a service account. The token is returned only here."""
        body = read(s.NewTokenSerializer, request)
        params = tokens.TokenParams(
            **body | {"team": self.team(body["team"]) if body["team"] else None}
        )
        made = service_accounts.create_service_token(
            actor=self.actor, account=selectors.service_account(account), params=params
        )
        return Response(
            selectors.token_row(made.row) | {"token": made.secret}, status=status.HTTP_201_CREATED
        )


class TokenRotationView(OrgView):
    permissions = {"POST": None}

    @extend_schema(request=s.RotateSerializer, responses={201: s.TokenSerializer})
    def post(self, request: Request, token: UUID) -> Response:
        """Rotate a token.

        The old one keeps working during the overlap; the new one is returned only here.
        """
        made = tokens.rotate_token(
            actor=self.actor, token_id=token, **read(s.RotateSerializer, request)
        )
        return Response(
            selectors.token_row(made.row) | {"token": made.secret}, status=status.HTTP_201_CREATED
        )


def _row(row: ServiceAccount, actor: Actor) -> selectors.ServiceAccountShape:
    return selectors.service_account_rows([row], actor)[0]
