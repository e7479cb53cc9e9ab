"""REST: preview of changed limits."""

from __future__ import annotations

from dataclasses import asdict

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from jobs.quotas.preview import preview
from workspaces.access.permissions import Permission as P
from workspaces.api.base import OrgView
from workspaces.api.quotas import SetQuotasSerializer
from workspaces.api.views import read
from workspaces.quotas.set_limits import LimitChange


class QuotaLineSerializer(serializers.Serializer):  # type: ignore[type-arg]
    whose = serializers.CharField()
    resource = serializers.CharField()
    before = serializers.CharField()
    after = serializers.CharField()


class QuotaGroupSerializer(serializers.Serializer):  # type: ignore[type-arg]
    team = serializers.CharField()
    count = serializers.IntegerField()
    numbers = serializers.ListField(child=serializers.IntegerField())


class QuotaPreviewSerializer(serializers.Serializer):  # type: ignore[type-arg]
    lines = QuotaLineSerializer(many=True)
    stopped = QuotaGroupSerializer(
        many=True, help_text="waiting jobs that the limits would no longer let start"
    )
    freed = QuotaGroupSerializer(
        many=True, help_text="waiting jobs that the limits would newly let start"
    )
    sentences = serializers.ListField(child=serializers.CharField())


class QuotaPreviewView(OrgView):
    permissions = {"POST": P.QUOTAS_WRITE}

    @extend_schema(request=SetQuotasSerializer, responses=QuotaPreviewSerializer)
    def post(self, request: Request) -> Response:
        """Preview the effect of these changes on pending jobs. Nothing is stored."""
        changes = [
            LimitChange(**change) for change in read(SetQuotasSerializer, request)["changes"]
        ]
        return Response(asdict(preview(actor=self.actor, org=self.org, changes=changes)))
