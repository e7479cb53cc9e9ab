"""REST: limits and guarantees."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from workspaces import selectors, services
from workspaces.api.base import OrgView
from workspaces.api.views import items, read
from workspaces.permissions import Permission as P


class QuotaSerializer(serializers.Serializer):  # type: ignore[type-arg]
    scope = serializers.CharField()
    subject = serializers.CharField()
    resource = serializers.CharField()
    limit = serializers.FloatField(allow_null=True)
    guaranteed = serializers.FloatField(help_text="kept free in the organization's limit while it is not used")
    used = serializers.FloatField()
    promised = serializers.FloatField(help_text="of the organization's meters: what is kept free now for guarantees that are not used")
    left = serializers.FloatField(allow_null=True, help_text="what this meter still has room for; null: no limit")
    unit = serializers.CharField()


class SetQuotaSerializer(serializers.Serializer):  # type: ignore[type-arg]
    scope = serializers.ChoiceField(["org", "team", "user"])
    subject = serializers.CharField(max_length=254, required=False, default="", allow_blank=True)
    resource = serializers.CharField(max_length=40)
    limit = serializers.FloatField(allow_null=True, required=False, help_text="null: none; left out: as it is")
    guaranteed = serializers.FloatField(allow_null=True, required=False, help_text="of a team or a person; null: nothing; left out: as it is")

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if "limit" not in attrs and "guaranteed" not in attrs:
            raise serializers.ValidationError({"limit": "name limit or guaranteed, or both"})
        return attrs


class SetQuotasSerializer(serializers.Serializer):  # type: ignore[type-arg]
    changes = SetQuotaSerializer(many=True)


class QuotasView(OrgView):
    permissions = {"GET": P.QUOTAS_READ, "PUT": P.QUOTAS_WRITE, "PATCH": P.QUOTAS_WRITE}

    @extend_schema(responses=QuotaSerializer(many=True))
    def get(self, request: Request) -> Response:
        """What is held, and the limits."""
        return items(selectors.quotas_for(self.actor))

    @extend_schema(request=SetQuotaSerializer, responses=QuotaSerializer)
    def put(self, request: Request) -> Response:
        """Set or lift a limit, and what is guaranteed."""
        body = read(SetQuotaSerializer, request)
        row = services.set_quota(actor=self.actor, org=self.org, **body)
        return Response(selectors.quota_row(row, body["subject"] or self.org.slug))

    @extend_schema(request=SetQuotasSerializer, responses=QuotaSerializer(many=True))
    def patch(self, request: Request) -> Response:
        """Set many limits and guarantees: all of them or none."""
        changes = [services.Wanted(**change) for change in read(SetQuotasSerializer, request)["changes"]]
        rows = services.set_quotas(actor=self.actor, org=self.org, changes=changes)
        return items([selectors.quota_row(row, change.subject or self.org.slug) for row, change in zip(rows, changes, strict=True)])
