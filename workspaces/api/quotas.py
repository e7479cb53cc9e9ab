"""REST: limits and guarantees."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from portal.core.shapes import PageShape, whole_page
from workspaces.access.permissions import Permission as P
from workspaces.api.base import OrgView, idempotent
from workspaces.api.views import items, read
from workspaces.approvals.selectors import requests_for
from workspaces.models import Quota
from workspaces.organizations import selectors
from workspaces.quotas import set_limits
from workspaces.quotas.gpu_hours import used_now, with_hours
from workspaces.quotas.limits import GPU_HOURS
from workspaces.quotas.requests import KIND, QuotaRequestShape, decide, request_limit, request_row


class QuotaSerializer(serializers.Serializer):  # type: ignore[type-arg]
    scope = serializers.CharField()
    subject = serializers.CharField()
    resource = serializers.CharField()
    limit = serializers.FloatField(allow_null=True)
    guaranteed = serializers.FloatField(
        help_text="kept free within the organization's limit while unused"
    )
    used = serializers.FloatField()
    promised = serializers.FloatField(
        help_text="on meters of the organization: what is kept free now for unused guarantees"
    )
    left = serializers.FloatField(
        allow_null=True, help_text="what is still available; null: no limit"
    )
    unit = serializers.CharField()
    begins_anew = serializers.DateTimeField(
        allow_null=True, help_text="for monthly meters: when usage is reset"
    )


class SetQuotaSerializer(serializers.Serializer):  # type: ignore[type-arg]
    scope = serializers.ChoiceField(["org", "team", "user"])
    subject = serializers.CharField(max_length=254, required=False, default="", allow_blank=True)
    resource = serializers.CharField(max_length=40)
    limit = serializers.FloatField(
        allow_null=True, required=False, help_text="null: no limit; omitted: unchanged"
    )
    guaranteed = serializers.FloatField(
        allow_null=True,
        required=False,
        help_text="for teams and users; null: none; omitted: unchanged",
    )
    was = serializers.FloatField(
        allow_null=True,
        required=False,
        help_text="the limit as you read it, null: none; 409 if it is another by now",
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if "limit" not in attrs and "guaranteed" not in attrs:
            raise serializers.ValidationError({"limit": "set limit, guaranteed, or both"})
        return attrs


class SetQuotasSerializer(serializers.Serializer):  # type: ignore[type-arg]
    changes = SetQuotaSerializer(many=True)


class AskQuotaSerializer(serializers.Serializer):  # type: ignore[type-arg]
    scope = serializers.ChoiceField(["org", "team", "user"])
    subject = serializers.CharField(max_length=254, required=False, default="", allow_blank=True)
    resource = serializers.CharField(max_length=40)
    amount = serializers.FloatField(help_text="the limit that would be enough, in display units")
    why = serializers.CharField(max_length=500, required=False, default="", allow_blank=True)
    job = serializers.IntegerField(
        required=False,
        allow_null=True,
        default=None,
        min_value=1,
        max_value=2**53,
        help_text="the job that waits for it",
    )


class DecideQuotaSerializer(serializers.Serializer):  # type: ignore[type-arg]
    do = serializers.ChoiceField(["approve", "decline", "withdraw"])
    word = serializers.CharField(max_length=500, required=False, default="", allow_blank=True)


class QuotasView(OrgView):
    permissions = {"GET": P.QUOTAS_READ, "PUT": P.QUOTAS_WRITE, "PATCH": P.QUOTAS_WRITE}

    @extend_schema(responses=QuotaSerializer(many=True))
    def get(self, request: Request) -> Response:
        """List usage and limits."""
        return items(selectors.quotas_for(self.actor))

    @extend_schema(request=SetQuotaSerializer, responses=QuotaSerializer)
    def put(self, request: Request) -> Response:
        """Set or remove a limit and its guarantee."""
        body = read(SetQuotaSerializer, request)
        row = set_limits.set_quota(actor=self.actor, org=self.org, **body)
        return Response(selectors.quota_row(_counted([row])[0], body["subject"] or self.org.slug))

    @extend_schema(request=SetQuotasSerializer, responses=QuotaSerializer(many=True))
    def patch(self, request: Request) -> Response:
        """Set many limits and guarantees, atomically."""
        changes = [
            set_limits.LimitChange(**change)
            for change in read(SetQuotasSerializer, request)["changes"]
        ]
        rows = _counted(set_limits.set_quotas(actor=self.actor, org=self.org, changes=changes))
        return items(
            [
                selectors.quota_row(row, change.subject or self.org.slug)
                for row, change in zip(rows, changes, strict=True)
            ]
        )


def _counted(rows: list[Quota]) -> list[Quota]:
    return with_hours(rows, used_now()) if any(row.resource == GPU_HOURS for row in rows) else rows


class QuotaRequestsView(OrgView):
    permissions = {"GET": P.QUOTAS_READ, "POST": None}

    def get(self, request: Request) -> PageShape[QuotaRequestShape]:
        """List your requests for higher limits, or all if you may set limits.

        Open requests come first.
        """
        return whole_page([request_row(row) for row in requests_for(self.actor, KIND)])

    @extend_schema(request=AskQuotaSerializer, responses={201: QuotaRequestShape})
    @idempotent
    def post(self, request: Request) -> Response:
        """Request a higher limit."""
        row = request_limit(actor=self.actor, org=self.org, **read(AskQuotaSerializer, request))
        return Response(request_row(row), status=status.HTTP_201_CREATED)


class QuotaRequestView(OrgView):
    permissions = {"POST": None}

    @extend_schema(
        operation_id="orgs_quotas_requests_decide",
        request=DecideQuotaSerializer,
    )
    def post(self, request: Request, ask: UUID) -> QuotaRequestShape:
        """Approve a request, which sets the limit, decline it, or withdraw your own."""
        body = read(DecideQuotaSerializer, request)
        row = decide(actor=self.actor, request_id=ask, **body)
        return request_row(row)
