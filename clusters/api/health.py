"""REST: health of nodes for operators. The rules are in the services."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request

from clusters.health import selectors
from clusters.health.selectors import HealthPolicyShape, NodeHealthShape
from clusters.services import connections, drain
from clusters.services import health as service
from workspaces.access.permissions import Permission as P
from workspaces.api.base import PortalView
from workspaces.api.views import read


class HealthPolicySerializer(serializers.Serializer[Any]):
    checks = serializers.DictField(
        required=False,
        help_text="By code: {action: off|warn|drain|quarantine, threshold, minutes, returns}, each "
        "optional; null restores the defaults. `returns` 0: an operator returns the node.",
    )
    preset = serializers.CharField(
        max_length=20,
        required=False,
        help_text="Of `presets`: sets all checks, before those of `checks`.",
    )
    is_acting = serializers.BooleanField(required=False, help_text="false: rules only warn.")
    most_percent = serializers.IntegerField(
        required=False, help_text="Most nodes of the cluster that rules drain; at least one."
    )
    most_per_hour = serializers.IntegerField(required=False)


class QuarantineSerializer(serializers.Serializer[Any]):
    reason = serializers.CharField(max_length=200)


class ClusterHealthView(PortalView):
    permissions = {"GET": P.CLUSTERS_READ, "PATCH": P.CLUSTERS_WRITE}

    @extend_schema(operation_id="cluster_health")
    def get(self, request: Request, cluster: str) -> HealthPolicyShape:
        """Get the health checks of a cluster, its limits, and the number of nodes by health."""
        return selectors.policy_row(connections.find_cluster(cluster))

    @extend_schema(operation_id="cluster_health_change", request=HealthPolicySerializer)
    def patch(self, request: Request, cluster: str) -> HealthPolicyShape:
        """Change checks or limits; omitted ones stay."""
        row = connections.find_cluster(cluster)
        service.change_health_policy(
            actor=self.actor, cluster=row, **read(HealthPolicySerializer, request)
        )
        return selectors.policy_row(row)


class HealthResetView(PortalView):
    permissions = {"POST": P.CLUSTERS_WRITE}

    @extend_schema(request=None)
    def post(self, request: Request, cluster: str) -> HealthPolicyShape:
        """Let the rules act again after they wanted to drain too many nodes."""
        row = connections.find_cluster(cluster)
        service.reset_breaker(actor=self.actor, cluster=row)
        return selectors.policy_row(row)


class NodeHealthView(PortalView):
    permissions = {"GET": P.CLUSTERS_READ}

    @extend_schema(operation_id="node_health")
    def get(self, request: Request, cluster: str, node: str) -> NodeHealthShape:
        """Get the health of a node: its state, why, what to do, and all findings."""
        return selectors.node_health(_node(cluster, node))


class QuarantineView(PortalView):
    permissions = {"POST": P.CLUSTERS_WRITE}

    @extend_schema(request=QuarantineSerializer)
    def post(self, request: Request, cluster: str, node: str) -> NodeHealthShape:
        """Take a node out of service until an operator returns it; running jobs continue."""
        row = _node(cluster, node)
        why = read(QuarantineSerializer, request)["reason"]
        service.quarantine_node(actor=self.actor, node=row, why=why)
        return selectors.node_health(row)


class ReturnView(PortalView):
    permissions = {"POST": P.CLUSTERS_WRITE}

    @extend_schema(request=None)
    def post(self, request: Request, cluster: str, node: str) -> NodeHealthShape:
        """Return a node to service. What its checks still find only warns until it ends."""
        row = _node(cluster, node)
        service.return_node(actor=self.actor, node=row)
        return selectors.node_health(row)


def _node(cluster: str, node: str) -> Any:
    return drain.find_node(connections.find_cluster(cluster), node)
