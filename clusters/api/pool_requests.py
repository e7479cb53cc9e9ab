"""REST: requests for GPUs of a pool."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework import serializers as s
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from clusters.pool_request_rows import PoolRequestShape, request_row
from clusters.services import pool_requests as service
from clusters.workload import effects_of
from portal.core.shapes import PageShape, whole_page
from workspaces.access.permissions import Permission as P
from workspaces.api.base import OrgView, idempotent
from workspaces.api.views import read
from workspaces.approvals.selectors import find_request


class NewPoolRequestSerializer(s.Serializer[Any]):
    team = s.CharField()
    gpu_type = s.CharField(max_length=34, help_text="GPU model or MIG class: h100, mig-1g.10gb.")
    gpus = s.IntegerField(min_value=1, max_value=service.MOST_GPUS)
    ends_at = s.DateTimeField()
    starts_at = s.DateTimeField(required=False, help_text="Default: now.")
    purpose = s.CharField(max_length=500, required=False, allow_blank=True)
    budget = s.IntegerField(required=False, min_value=1, help_text="GPU-hours meant to be used.")
    renews = s.UUIDField(required=False, help_text="The request whose GPUs are kept longer.")


class DecisionSerializer(s.Serializer[Any]):
    do = s.ChoiceField(["approve", "decline", "withdraw", "return"])
    word = s.CharField(max_length=500, required=False, allow_blank=True)
    pool = s.CharField(required=False, help_text="With approve: which pool.")
    gpus = s.IntegerField(required=False, min_value=1, help_text="With approve: fewer, or more.")
    ends_at = s.DateTimeField(required=False, help_text="With approve: another end.")


class WhatIfSerializer(s.Serializer[Any]):
    gpus = s.IntegerField(
        required=False, min_value=1, max_value=service.MOST_GPUS, help_text="Effect of this number."
    )
    ends_at = s.DateTimeField(required=False, help_text="Effect of this end.")


class PoolRequestsView(OrgView):
    permissions = {"GET": P.NODES_READ, "POST": None}

    @extend_schema(operation_id="pool_requests_list")
    def get(self, request: Request) -> PageShape[PoolRequestShape]:
        """List requests of your teams (of all teams, for operators): open, running, then past."""
        return whole_page([request_row(row) for row in service.requests_for(self.actor)])

    @extend_schema(request=NewPoolRequestSerializer, responses={201: PoolRequestShape})
    @idempotent
    def post(self, request: Request) -> Response:
        """Ask for GPUs for a team until a date."""
        body = read(NewPoolRequestSerializer, request)
        team = self.team(body.pop("team"))
        if renews := body.pop("renews", None):
            body["renews"] = find_request(self.actor, service.KIND, renews)
        row = service.request_pool(actor=self.actor, org=self.org, team=team, **body)
        return Response(request_row(row), status=status.HTTP_201_CREATED)


class PoolRequestView(OrgView):
    permissions = {"GET": P.NODES_READ, "POST": None}

    @extend_schema(parameters=[WhatIfSerializer])
    def get(self, request: Request, ask: UUID) -> PoolRequestShape:
        """Return one request; for operators with `what_if`, its effect in each pool."""
        row = find_request(self.actor, service.KIND, ask)
        query = WhatIfSerializer(data=request.query_params)
        query.is_valid(raise_exception=True)
        may_read = self.actor.may(P.CLUSTERS_READ)
        effects = effects_of(self.actor, row, **query.validated_data) if may_read else None
        found = request_row(row)
        if effects is not None:
            found["what_if"] = [effect.as_dict() for effect in effects]
        return found

    @extend_schema(operation_id="pool_requests_decide", request=DecisionSerializer)
    def post(self, request: Request, ask: UUID) -> PoolRequestShape:
        """Approve or decline (operators), withdraw or return (the team)."""
        body = read(DecisionSerializer, request)
        row = find_request(self.actor, service.KIND, ask)
        row = service.decide(actor=self.actor, request_id=row.id, **body)
        return request_row(row)
