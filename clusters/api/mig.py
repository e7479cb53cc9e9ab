"""REST: MIG plans, and how clusters allow them. Operators only."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework import serializers as s
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from clusters.mig.representations import as_dict, settings_dict
from clusters.models import MigPlan, MigSettings
from clusters.services import mig_plans as service
from clusters.services.connections import find_cluster
from workspaces.access.permissions import Permission as P
from workspaces.api.base import PortalView, idempotent
from workspaces.api.views import items, read


class NewMigPlanSerializer(s.Serializer[Any]):
    cluster = s.CharField(max_length=40)
    wish = s.DictField(
        child=s.IntegerField(min_value=1, max_value=service.MOST_GPUS),
        help_text='Instances by profile, whole GPUs as "full": {"1g.10gb": 14, "full": 2}.',
    )
    nodes = s.ListField(
        child=s.CharField(max_length=253), required=False, help_text="Default: any node."
    )


class MigActionSerializer(s.Serializer[Any]):
    do = s.ChoiceField(["apply", "stop", "undo", "discard", "confirm"])
    node = s.CharField(max_length=253, required=False, help_text="With confirm.")


class MigSettingsSerializer(s.Serializer[Any]):
    method = s.ChoiceField(MigSettings.Method.choices, required=False)
    nodes_at_once = s.IntegerField(required=False, min_value=1)
    drain_minutes = s.IntegerField(required=False, min_value=1)
    change_minutes = s.IntegerField(required=False, min_value=1)
    may_reconfigure = s.BooleanField(required=False)


class MigPlansView(PortalView):
    permissions = {"GET": P.CLUSTERS_READ, "POST": P.CLUSTERS_WRITE}

    @extend_schema(operation_id="mig_plans_list", responses=OpenApiTypes.OBJECT)
    def get(self, request: Request) -> Response:
        """List the latest MIG plans, newest first."""
        return items([as_dict(plan, self.actor, is_whole=False) for plan in service.plans()])

    @extend_schema(request=NewMigPlanSerializer, responses={201: OpenApiTypes.OBJECT})
    @idempotent
    def post(self, request: Request) -> Response:
        """Draft a plan: which GPUs change, and which nodes must drain. Changes nothing."""
        body = read(NewMigPlanSerializer, request)
        cluster = find_cluster(body.pop("cluster"))
        plan = service.draft_plan(actor=self.actor, cluster=cluster, **body)
        return Response(as_dict(plan, self.actor), status=status.HTTP_201_CREATED)


class MigPlanView(PortalView):
    permissions = {"GET": P.CLUSTERS_READ, "POST": P.CLUSTERS_WRITE}

    @extend_schema(responses=OpenApiTypes.OBJECT)
    def get(self, request: Request, plan: UUID) -> Response:
        """Return a plan with its nodes, their progress, and what keeps a draft from being applied."""
        return Response(as_dict(service.find_plan(plan), self.actor))

    @extend_schema(
        operation_id="mig_plans_act", request=MigActionSerializer, responses=OpenApiTypes.OBJECT
    )
    def post(self, request: Request, plan: UUID) -> Response:
        """Apply or discard a draft; stop; confirm a node's manual step; draft the way back (undo)."""
        body = read(MigActionSerializer, request)
        found = act(self.actor, plan, body["do"], body.get("node", ""))
        return Response(as_dict(found, self.actor) if found else {})


class MigSettingsView(PortalView):
    permissions = {"GET": P.CLUSTERS_READ, "PUT": P.CLUSTERS_WRITE}

    @extend_schema(responses=OpenApiTypes.OBJECT)
    def get(self, request: Request, cluster: str) -> Response:
        """Return how GPUs of a cluster may be partitioned."""
        return Response(settings_dict(service.settings_of(find_cluster(cluster))))

    @extend_schema(request=MigSettingsSerializer, responses=OpenApiTypes.OBJECT)
    def put(self, request: Request, cluster: str) -> Response:
        """Change how GPUs of a cluster may be partitioned; omitted values stay."""
        body = read(MigSettingsSerializer, request)
        row = service.change_settings(actor=self.actor, cluster=find_cluster(cluster), **body)
        return Response(settings_dict(row))


def act(actor: Any, plan: UUID, do: str, node: str = "") -> MigPlan | None:
    """Do what was chosen; return the plan to show, or None if it is gone."""
    if do == "discard":
        service.discard_plan(actor=actor, plan_id=plan)
        return None
    if do == "confirm":
        return service.confirm_node(actor=actor, plan_id=plan, node=node)
    services = {
        "apply": service.apply_plan,
        "stop": service.stop_plan,
        "undo": service.undo_plan,
    }
    return services[do](actor=actor, plan_id=plan)
