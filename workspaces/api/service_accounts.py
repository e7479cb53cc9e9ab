"""REST: service accounts and their tokens, and rotating a token."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from workspaces.access.permissions import Permission as P
from workspaces.api import serializers as s
from workspaces.api.base import OrgView
from workspaces.api.views import items, read
from workspaces.credentials import service_accounts, tokens
from workspaces.organizations import selectors


class ServiceAccountsView(OrgView):
    permissions = {"GET": P.MEMBERS_READ, "POST": P.MEMBERS_WRITE}

    @extend_schema(responses=s.ServiceAccountSerializer(many=True))
    def get(self, request: Request) -> Response:
        """Members of the organization that are no people."""
        return items(selectors.service_accounts())

    @extend_schema(
        request=s.NewServiceAccountSerializer, responses={201: s.ServiceAccountSerializer}
    )
    def post(self, request: Request) -> Response:
        """Make one. Its role may not exceed one's own."""
        row = service_accounts.create_service_account(
            actor=self.actor, org=self.org, **read(s.NewServiceAccountSerializer, request)
        )
        return Response(_row(row.name), status=status.HTTP_201_CREATED)


class ServiceAccountView(OrgView):
    permissions = {"GET": P.MEMBERS_READ, "PATCH": P.MEMBERS_WRITE, "DELETE": P.MEMBERS_WRITE}

    @extend_schema(responses=s.ServiceAccountSerializer)
    def get(self, request: Request, account: str) -> Response:
        """One service account."""
        return Response(_row(selectors.service_account(account).name))

    @extend_schema(request=s.ChangeServiceAccountSerializer, responses=s.ServiceAccountSerializer)
    def patch(self, request: Request, account: str) -> Response:
        """Another role or note."""
        row = selectors.service_account(account)
        service_accounts.change_service_account(
            actor=self.actor, account=row, **read(s.ChangeServiceAccountSerializer, request)
        )
        return Response(_row(row.name))

    @extend_schema(responses={204: None})
    def delete(self, request: Request, account: str) -> Response:
        """Remove it: its tokens stop working at once, its jobs stay."""
        service_accounts.remove_service_account(
            actor=self.actor, account=selectors.service_account(account)
        )
        return Response(status=status.HTTP_204_NO_CONTENT)


class ServiceTokensView(OrgView):
    permissions = {"GET": P.MEMBERS_WRITE, "POST": P.MEMBERS_WRITE}

    @extend_schema(responses=s.TokenSerializer(many=True))
    def get(self, request: Request, account: str) -> Response:
        """The tokens of a service account that work."""
        return items(
            [
                selectors.token_row(t)
                for t in selectors.tokens_of(selectors.service_account(account))
            ]
        )

    @extend_schema(request=s.NewTokenSerializer, responses={201: s.TokenSerializer})
    def post(self, request: Request, account: str) -> Response:
        """Make a token of a service account; the secret is in this answer only."""
        body = read(s.NewTokenSerializer, request)
        wish = tokens.Wish(**body | {"team": self.team(body["team"]) if body["team"] else None})
        made = service_accounts.create_service_token(
            actor=self.actor, account=selectors.service_account(account), wish=wish
        )
        return Response(
            selectors.token_row(made.row) | {"token": made.secret}, status=status.HTTP_201_CREATED
        )


class TokenRotationView(OrgView):
    permissions = {"POST": None}

    @extend_schema(request=s.RotateSerializer, responses={201: s.TokenSerializer})
    def post(self, request: Request, token: UUID) -> Response:
        """A successor with the same rights; the old token works for the overlap. The secret is in this answer only."""
        made = tokens.rotate_token(
            actor=self.actor, token_id=token, **read(s.RotateSerializer, request)
        )
        return Response(
            selectors.token_row(made.row) | {"token": made.secret}, status=status.HTTP_201_CREATED
        )


def _row(name: str) -> dict[str, Any]:
    return next(row for row in selectors.service_accounts() if row["name"] == name)
