"""REST: secrets.

Values are written by PUT and never returned. Responses are not stored for idempotency keys, not
even as a digest of a value.
"""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from portal.core.errors import NotFound
from workspaces.api.base import OrgView
from workspaces.api.views import read
from workspaces.credentials import secrets
from workspaces.lists import SECRETS
from workspaces.models import Team


class SecretSerializer(serializers.Serializer):  # type: ignore[type-arg]
    where = serializers.CharField(help_text="A team's slug, or `org` for the organization.")
    team = serializers.CharField(allow_null=True)
    name = serializers.CharField()
    reference = serializers.CharField(help_text="Name used in job specs.")
    version = serializers.IntegerField(help_text="The newest version.")
    versions = serializers.ListField(child=serializers.DictField())
    created_at = serializers.DateTimeField()
    changed_at = serializers.DateTimeField()
    jobs = serializers.IntegerField(
        allow_null=True, help_text="That used it in the last 30 days, of those that you may see."
    )
    job_trend = serializers.ListField(
        allow_null=True,
        child=serializers.IntegerField(),
        help_text="Such jobs on each of these days, oldest first.",
    )
    last_used_at = serializers.DateTimeField(allow_null=True)


class ValueSerializer(serializers.Serializer):  # type: ignore[type-arg]
    value = serializers.CharField(max_length=65_536, trim_whitespace=False, write_only=True)


class SetSerializer(serializers.Serializer):  # type: ignore[type-arg]
    reference = serializers.CharField()
    version = serializers.IntegerField()


class SecretsView(OrgView):
    permissions = {"GET": None}

    @extend_schema(parameters=SECRETS.parameters(), responses=SecretSerializer(many=True))
    def get(self, request: Request) -> Response:
        """List names and versions of the secrets that you may see, without values."""
        return Response(SECRETS.answer(self.actor, request.query_params))


class SecretView(OrgView):
    permissions = {"PUT": None, "DELETE": None}

    @extend_schema(request=ValueSerializer, responses=SetSerializer)
    def put(self, request: Request, where: str, secret: str) -> Response:
        """Add a version, which references without a version resolve to from now on."""
        value = read(ValueSerializer, request)["value"]
        made = secrets.set_secret(
            actor=self.actor, org=self.org, team=_team(self, where), name=secret, value=value
        )
        return Response({"reference": f"{where}/{secret}", "version": made.number})

    @extend_schema(responses={204: None})
    def delete(self, request: Request, where: str, secret: str) -> Response:
        """Delete a secret with all versions. Pending jobs that reference it will not start."""
        secrets.delete_secret(actor=self.actor, team=_team(self, where), name=secret)
        return Response(status=status.HTTP_204_NO_CONTENT)


class SecretVersionView(OrgView):
    permissions = {"DELETE": None}

    @extend_schema(responses={204: None})
    def delete(self, request: Request, where: str, secret: str, number: int) -> Response:
        """Delete a version other than the newest, for example after a leak."""
        secrets.delete_version(
            actor=self.actor, team=_team(self, where), name=secret, number=number
        )
        return Response(status=status.HTTP_204_NO_CONTENT)


def _team(view: Any, where: str) -> Team | None:
    if where == "org":
        return None
    row = Team.objects.filter(slug=where).first()
    if row is None:
        raise NotFound(f"There is no team {where[:40]!r} in {view.org.slug}.")
    return row  # type: ignore[no-any-return]
