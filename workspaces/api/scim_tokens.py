"""REST: token of a provider's SCIM client."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from workspaces.access.permissions import Permission as P
from workspaces.api.base import OrgView
from workspaces.identity.provider_services import find_provider
from workspaces.identity.scim import tokens


class ScimTokenSerializer(serializers.Serializer[Any]):
    token = serializers.CharField(help_text="Returned only once.")
    url = serializers.CharField()


class ScimTokenView(OrgView):
    permissions = {"POST": P.PROVIDERS_WRITE, "DELETE": P.PROVIDERS_WRITE}

    @extend_schema(request=None, responses={201: ScimTokenSerializer})
    def post(self, request: Request, slug: str) -> Response:
        """Create a token. The previous one stops working at once."""
        row = find_provider(self.actor, slug)
        made = tokens.create_scim_token(actor=self.actor, provider=row)
        return Response(
            {"token": made, "url": f"{settings.MUSTER_BASE_URL}/scim/v2/{row.slug}"},
            status=status.HTTP_201_CREATED,
        )

    @extend_schema(responses={204: None})
    def delete(self, request: Request, slug: str) -> Response:
        """Revoke the token."""
        tokens.revoke_scim_token(actor=self.actor, provider=find_provider(self.actor, slug))
        return Response(status=status.HTTP_204_NO_CONTENT)
