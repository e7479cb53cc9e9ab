"""REST: sources of GPU measurements beside the node agents, for operators."""

from __future__ import annotations

from typing import Any

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework import serializers as s
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from clusters.services.connections import find_cluster
from monitoring.models import TelemetrySource
from monitoring.sources import services as service
from workspaces.access.permissions import Permission as P
from workspaces.api.base import PortalView, idempotent
from workspaces.api.views import items, read


class SettingsSerializer(s.Serializer[Any]):
    urls = s.CharField(
        max_length=50_000,
        required=False,
        help_text="dcgm: addresses of exporters, one per line; {node} stands for each node's name. "
        "prometheus: its address.",
    )
    matchers = s.CharField(
        max_length=500,
        required=False,
        allow_blank=True,
        help_text='Prometheus: label matchers that select the cluster\'s GPUs, such as job="dcgm".',
    )
    interval = s.IntegerField(min_value=5, max_value=3600, required=False, help_text="Seconds.")
    token = s.CharField(
        max_length=4000, required=False, allow_blank=True, help_text="Bearer token; write-only."
    )


class TestSourceSerializer(SettingsSerializer):
    cluster = s.CharField(max_length=40)
    kind = s.ChoiceField(TelemetrySource.Kind.values)


class NewSourceSerializer(TestSourceSerializer):
    name = s.CharField(max_length=40)


class ChangeSourceSerializer(SettingsSerializer):
    is_enabled = s.BooleanField(required=False)


class HistorySerializer(s.Serializer[Any]):
    since = s.DateTimeField(help_text="Within the last year.")


class SourcesView(PortalView):
    permissions = {"GET": P.CLUSTERS_READ, "POST": P.CLUSTERS_WRITE}

    @extend_schema(operation_id="telemetry_sources_list", responses=OpenApiTypes.OBJECT)
    def get(self, request: Request) -> Response:
        """List the sources of GPU measurements, with how their last reading went."""
        return items([source_row(row) for row in service.sources(self.actor)])

    @extend_schema(request=NewSourceSerializer, responses={201: OpenApiTypes.OBJECT})
    @idempotent
    def post(self, request: Request) -> Response:
        """Add dcgm-exporters or a Prometheus as a source of a cluster."""
        body = read(NewSourceSerializer, request)
        made = service.add_source(
            actor=self.actor, cluster=find_cluster(body.pop("cluster")), **body
        )
        return Response(source_row(made), status=status.HTTP_201_CREATED)


class SettingsTestView(PortalView):
    permissions = {"POST": P.CLUSTERS_WRITE}

    @extend_schema(request=TestSourceSerializer, responses=OpenApiTypes.OBJECT)
    def post(self, request: Request) -> Response:
        """Read settings that are not stored once, and return what was found."""
        body = read(TestSourceSerializer, request)
        cluster = find_cluster(body.pop("cluster"))
        return Response(service.probe_settings(actor=self.actor, cluster=cluster, **body).as_dict())


class SourceView(PortalView):
    permissions = {"GET": P.CLUSTERS_READ, "PATCH": P.CLUSTERS_WRITE, "DELETE": P.CLUSTERS_WRITE}

    @extend_schema(responses=OpenApiTypes.OBJECT)
    def get(self, request: Request, source: str) -> Response:
        """Get one source. Its token is never returned."""
        return Response(source_row(service.find_source(source)))

    @extend_schema(request=ChangeSourceSerializer, responses=OpenApiTypes.OBJECT)
    def patch(self, request: Request, source: str) -> Response:
        """Change settings; omitted ones stay. An empty token removes it."""
        row = service.find_source(source)
        body = read(ChangeSourceSerializer, request)
        return Response(source_row(service.change_source(actor=self.actor, source=row, **body)))

    @extend_schema(responses={204: None})
    def delete(self, request: Request, source: str) -> Response:
        """Remove a source. Its measurements are kept."""
        row = service.find_source(source)
        service.remove_source(actor=self.actor, source=row)
        return Response(status=status.HTTP_204_NO_CONTENT)


class SourceTestView(PortalView):
    permissions = {"POST": P.CLUSTERS_WRITE}

    @extend_schema(request=None, responses=OpenApiTypes.OBJECT)
    def post(self, request: Request, source: str) -> Response:
        """Read the source once, and return what was found. Nothing of it is stored."""
        row = service.find_source(source)
        return Response(service.probe_source(actor=self.actor, source=row).as_dict())


class SourceHistoryView(PortalView):
    permissions = {"POST": P.CLUSTERS_WRITE}

    @extend_schema(request=HistorySerializer, responses=OpenApiTypes.OBJECT)
    def post(self, request: Request, source: str) -> Response:
        """Read the history of a Prometheus from a time on, one day after the other."""
        row = service.find_source(source)
        since = read(HistorySerializer, request)["since"]
        return Response(source_row(service.fill_history(actor=self.actor, source=row, since=since)))


def source_row(row: TelemetrySource) -> dict[str, Any]:
    """Return a source as the API does."""
    return {
        "name": row.name,
        "cluster": row.cluster.name,
        "kind": row.kind,
        "urls": row.urls,
        "matchers": row.matchers,
        "interval": row.interval,
        "has_token": bool(row.secret),
        "is_enabled": row.is_enabled,
        "read_at": row.read_at,
        "nodes": row.nodes,
        "samples": row.samples,
        "problem": row.problem,
        "problem_since": row.problem_since,
        "unknown": row.unknown,
        "history": None
        if row.fill_from is None or row.fill_until is None
        else {"from": row.fill_from, "until": row.fill_until},
    }
