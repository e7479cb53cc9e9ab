"""REST: clusters and nodes for operators, pools for their users. The rules are in the services."""

from __future__ import annotations

from typing import Any, TypedDict

from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from clusters import pools, representations
from clusters.backend_options import backend_kinds
from clusters.lists import CLUSTERS
from clusters.models import Cluster
from clusters.representations import (
    ClusterDetailShape,
    ClusterListShape,
    NodeShape,
    NodeStateShape,
    PoolCapacityShape,
    PoolShape,
)
from clusters.services import connections, drain
from clusters.services import pools as service
from portal.core.options import ConnectionCheckShape
from portal.core.shapes import PageShape, whole_page
from schedulers.contract import Identity, Probe
from workspaces.access.permissions import Permission as P
from workspaces.api.base import OrgView, PortalView, idempotent
from workspaces.api.views import read


class OptionsSerializer(serializers.Serializer[Any]):
    options = serializers.DictField(
        default=dict,
        help_text="By name; see `kinds`. A secret that is left out or empty stays; null removes it.",
    )


class WaySerializer(OptionsSerializer):
    way = serializers.CharField(
        max_length=40,
        default="",
        allow_blank=True,
        help_text="One of `ways` of the kind: what it needs is required, and what it sets is set.",
    )


class NewClusterSerializer(WaySerializer):
    name = serializers.CharField(max_length=40)
    backend = serializers.CharField(max_length=40)


class TestClusterSerializer(WaySerializer):
    backend = serializers.CharField(max_length=40)


class ChangeClusterSerializer(serializers.Serializer[Any]):
    options = serializers.DictField(required=False)
    is_enabled = serializers.BooleanField(required=False)


class IdentitySerializer(serializers.Serializer[Any]):
    user = serializers.CharField(
        max_length=64,
        required=False,
        allow_blank=True,
        help_text="Unix user; empty: the cluster's.",
    )
    account = serializers.CharField(
        max_length=100, required=False, allow_blank=True, help_text="Empty: the cluster's."
    )
    qos = serializers.CharField(
        max_length=100, required=False, allow_blank=True, help_text="Empty: the cluster's."
    )


class DrainSerializer(serializers.Serializer[Any]):
    reason = serializers.CharField(max_length=200)


class PoolRuleSerializer(serializers.Serializer[Any]):
    labels = serializers.DictField(child=serializers.CharField(max_length=253), required=False)
    partition = serializers.CharField(max_length=80, allow_blank=True, required=False)
    gpu_type = serializers.CharField(max_length=34, allow_blank=True, required=False)
    note = serializers.CharField(max_length=300, allow_blank=True, required=False)
    is_open = serializers.BooleanField(required=False)


class NewPoolSerializer(PoolRuleSerializer):
    name = serializers.CharField(max_length=40)
    cluster = serializers.CharField(max_length=40)


class ProbeShape(TypedDict):
    is_ok: bool
    message: str
    version: str
    warnings: list[str]
    checks: list[ConnectionCheckShape]


class ClustersView(PortalView):
    permissions = {"GET": CLUSTERS.permission, "POST": P.CLUSTERS_WRITE}

    @extend_schema(operation_id="clusters_list", parameters=CLUSTERS.parameters())
    def get(self, request: Request) -> ClusterListShape:
        """List all clusters, and the kinds that can be connected with their options."""
        shown = CLUSTERS.answer(self.actor, request.query_params)
        return {**shown, "kinds": backend_kinds()}

    @extend_schema(request=NewClusterSerializer, responses={201: ClusterDetailShape})
    @idempotent
    def post(self, request: Request) -> Response:
        """Connect a cluster. Its nodes appear after the first inventory."""
        made = connections.connect_cluster(actor=self.actor, **read(NewClusterSerializer, request))
        return Response(representations.cluster_row(made), status=status.HTTP_201_CREATED)


class ClusterTestView(PortalView):
    permissions = {"POST": P.CLUSTERS_WRITE}

    @extend_schema(request=TestClusterSerializer)
    def post(self, request: Request) -> ProbeShape:
        """Test options that are not stored yet."""
        return _probe(
            connections.probe_options(actor=self.actor, **read(TestClusterSerializer, request))
        )


class ClusterView(PortalView):
    permissions = {"GET": P.CLUSTERS_READ, "PATCH": P.CLUSTERS_WRITE, "DELETE": P.CLUSTERS_WRITE}

    def get(self, request: Request, cluster: str) -> ClusterDetailShape:
        """Get one cluster with its options; secrets are never returned."""
        return representations.cluster_row(connections.find_cluster(cluster))

    @extend_schema(request=ChangeClusterSerializer)
    def patch(self, request: Request, cluster: str) -> ClusterDetailShape:
        """Change options, or disable or enable the cluster."""
        row, body = connections.find_cluster(cluster), read(ChangeClusterSerializer, request)
        if "options" in body:
            row = connections.change_cluster(actor=self.actor, cluster=row, options=body["options"])
        if "is_enabled" in body:
            row = connections.enable_cluster(
                actor=self.actor, cluster=row, is_enabled=body["is_enabled"]
            )
        return representations.cluster_row(row)

    @extend_schema(responses={204: None})
    def delete(self, request: Request, cluster: str) -> Response:
        """Remove a cluster that never ran a job."""
        connections.remove_cluster(actor=self.actor, cluster=connections.find_cluster(cluster))
        return Response(status=status.HTTP_204_NO_CONTENT)


class ClusterProbeView(PortalView):
    permissions = {"POST": P.CLUSTERS_WRITE}

    @extend_schema(request=OptionsSerializer)
    def post(self, request: Request, cluster: str) -> ProbeShape:
        """Test the stored connection, with the given options merged in."""
        row, body = connections.find_cluster(cluster), read(OptionsSerializer, request)
        if not body["options"]:
            return _probe(connections.probe_cluster(actor=self.actor, cluster=row))
        return _probe(
            connections.probe_options(
                actor=self.actor, backend=row.backend, options=body["options"], cluster=row
            )
        )


class ClusterNodesView(PortalView):
    permissions = {"GET": P.CLUSTERS_READ}

    def get(self, request: Request, cluster: str) -> PageShape[NodeShape]:
        """List the nodes of a cluster with their usage as its scheduler counts it."""
        return whole_page(representations.node_list(connections.find_cluster(cluster)))


class DrainView(PortalView):
    permissions = {"POST": P.CLUSTERS_WRITE}

    @extend_schema(request=DrainSerializer)
    def post(self, request: Request, cluster: str, node: str) -> NodeStateShape:
        """Drain a node: it takes no new jobs, running ones continue."""
        row = drain.find_node(_cluster(cluster), node)
        why = read(DrainSerializer, request)["reason"]
        return _state(drain.drain_node(actor=self.actor, node=row, why=why))


class ResumeView(PortalView):
    permissions = {"POST": P.CLUSTERS_WRITE}

    @extend_schema(request=None)
    def post(self, request: Request, cluster: str, node: str) -> NodeStateShape:
        """Return a drained node to service."""
        row = drain.find_node(_cluster(cluster), node)
        return _state(drain.resume_node(actor=self.actor, node=row))


class PoolsView(OrgView):
    permissions = {"GET": P.NODES_READ, "POST": P.CLUSTERS_WRITE}

    def get(self, request: Request) -> PageShape[PoolCapacityShape]:
        """List the pools that teams of this organization may use (all, for operators)."""
        return whole_page(representations.pool_rows(self.actor))

    @extend_schema(request=NewPoolSerializer, responses={201: PoolShape})
    @idempotent
    def post(self, request: Request) -> Response:
        """Create a pool from nodes of a cluster."""
        body = read(NewPoolSerializer, request)
        made = service.create_pool(actor=self.actor, cluster=_cluster(body.pop("cluster")), **body)
        return Response(representations.pool_row(made, []), status=status.HTTP_201_CREATED)


class PoolView(OrgView):
    permissions = {"PATCH": P.CLUSTERS_WRITE, "DELETE": P.CLUSTERS_WRITE}

    @extend_schema(request=PoolRuleSerializer)
    def patch(self, request: Request, pool: str) -> PoolShape:
        """Change the rule of a pool; omitted fields stay."""
        row = service.change_pool(
            actor=self.actor, pool=pools.find_pool(pool), **read(PoolRuleSerializer, request)
        )
        return representations.pool_row(row, pools.teams_of([row])[row.id])

    @extend_schema(responses={204: None})
    def delete(self, request: Request, pool: str) -> Response:
        """Delete a pool with its grants."""
        service.delete_pool(actor=self.actor, pool=pools.find_pool(pool))
        return Response(status=status.HTTP_204_NO_CONTENT)


class PoolTeamView(OrgView):
    permissions = {"PUT": P.CLUSTERS_WRITE, "DELETE": P.CLUSTERS_WRITE}

    @extend_schema(request=IdentitySerializer)
    def put(self, request: Request, pool: str, team: str) -> PoolShape:
        """Grant the pool to a team of this organization, with its scheduler identity.

        Without a body the identity stays.
        """
        row, given = pools.find_pool(pool), read(IdentitySerializer, request)
        service.grant_pool(
            actor=self.actor,
            pool=row,
            team=self.team(team),
            identity=Identity(**given) if given else None,
        )
        return representations.pool_row(
            row, pools.teams_of([row])[row.id], pools.identities_of([row])[row.id]
        )

    @extend_schema(responses={204: None})
    def delete(self, request: Request, pool: str, team: str) -> Response:
        """Revoke the grant; running jobs continue."""
        service.revoke_pool(actor=self.actor, pool=pools.find_pool(pool), team=self.team(team))
        return Response(status=status.HTTP_204_NO_CONTENT)


def _cluster(name: str) -> Cluster:
    return connections.find_cluster(name)


def _probe(found: Probe) -> ProbeShape:
    return {
        "is_ok": found.is_ok,
        "message": found.message,
        "version": found.version,
        "warnings": list(found.warnings),
        "checks": [check.as_dict() for check in found.checks],
    }


def _state(node: Any) -> NodeStateShape:
    return {"name": node.name, "cluster": node.cluster.name, "state": node.state, "note": node.note}
