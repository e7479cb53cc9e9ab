"""REST endpoints for nodes and their metrics, and for node agents."""

from __future__ import annotations

from typing import Any

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from clusters.models import Node
from monitoring import devices, nodes
from monitoring.capacity import supply_of
from monitoring.fleet import GROUPS, fleet
from monitoring.gpu_grid import grid_of, platform_grid
from monitoring.gpu_grid_use import HEATS
from monitoring.lists import DEVICES, NODES
from monitoring.metrics.ingest import ingest
from portal import series
from portal.api.schema import ROWS
from portal.core.errors import InvalidInput, NotFound
from workspaces.access.actors import authorize
from workspaces.access.permissions import Permission as P
from workspaces.api.base import OrgView, PortalView


class SamplesView(PortalView):
    permissions = {"POST": None}
    is_limited = False

    @extend_schema(request=OpenApiTypes.OBJECT, responses=OpenApiTypes.OBJECT)
    def post(self, request: Request) -> Response:
        """Store a batch of samples of one node. Requires agent:write, granted only to operators.

        A token that is limited to a cluster can report the nodes of that cluster only.
        """
        authorize(self.actor, P.AGENT_WRITE)
        sent = request.headers.get("Muster-Sent", "")
        sent_ms = _whole("Muster-Sent", sent) if sent else None
        cluster = self.actor.token.cluster if self.actor.token else ""
        return Response(ingest(request.data, sent_ms, cluster))


class NodesView(OrgView):
    permissions = {"GET": NODES.permission}

    @extend_schema(
        operation_id="nodes_list",
        responses={200: ROWS},
        parameters=NODES.parameters(),
    )
    def get(self, request: Request) -> Response:
        """List nodes with resources, usage and latest metrics, by cluster and name, 50 per page."""
        return Response(NODES.answer(self.actor, request.query_params))


class CapacityView(OrgView):
    permissions = {"GET": P.NODES_READ}

    @extend_schema(responses={200: ROWS})
    def get(self, request: Request) -> Response:
        """Return the GPUs of each class by cluster and pool: total, free, and free next."""
        items = [row.as_dict() for row in supply_of(self.actor)]
        return Response({"items": items, "next": None, "previous": None})


class FleetView(OrgView):
    permissions = {"GET": P.NODES_READ}

    @extend_schema(
        responses={200: ROWS},
        parameters=[OpenApiParameter("by", str, enum=list(GROUPS), default="model")],
    )
    def get(self, request: Request) -> Response:
        """Return measurements of all GPUs by model, rack, pool or cluster; 15 seconds old at most."""
        rows = fleet(self.actor, request.query_params.get("by") or "model")
        return Response({"items": rows, "next": None, "previous": None})


class GpusView(OrgView):
    permissions = {"GET": DEVICES.permission}

    @extend_schema(operation_id="gpus_list", responses={200: ROWS}, parameters=DEVICES.parameters())
    def get(self, request: Request) -> Response:
        """List the physical GPUs that node agents report, by node and index, 50 per page."""
        return Response(DEVICES.answer(self.actor, request.query_params))


class GpuView(OrgView):
    permissions = {"GET": DEVICES.permission}

    @extend_schema(responses=OpenApiTypes.OBJECT)
    def get(self, request: Request, uuid: str) -> Response:
        """Return one GPU, with the ended jobs on it that you may see."""
        device = devices.find_device(uuid)
        [row] = devices.device_rows([device], self.actor)
        return Response(row | {"past_jobs": devices.past_jobs(device, self.actor)})


_HEAT = [
    OpenApiParameter(
        "heat", str, enum=list(HEATS), description="A metric of each GPU, in the list `heat`."
    )
]


def _heat(request: Request) -> str:
    heat = request.query_params.get("heat") or ""
    if heat and heat not in HEATS:
        raise InvalidInput.at("heat", f"must be one of {', '.join(HEATS)}")
    return heat


class GpuGridView(OrgView):
    permissions = {"GET": P.NODES_READ}

    @extend_schema(responses=OpenApiTypes.OBJECT, parameters=_HEAT)
    def get(self, request: Request) -> Response:
        """Return every GPU of every cluster in a compact form; see docs/design/clusters.md."""
        return Response(grid_of(self.actor, _heat(request)))


class PlatformGpuGridView(PortalView):
    permissions = {"GET": P.CLUSTERS_READ}

    @extend_schema(operation_id="platform_wall", responses=OpenApiTypes.OBJECT, parameters=_HEAT)
    def get(self, request: Request) -> Response:
        """Return every GPU of every cluster, with the jobs of all organizations."""
        return Response(platform_grid(self.actor, _heat(request)))


class NodeView(OrgView):
    permissions = {"GET": P.NODES_READ}

    @extend_schema(responses=OpenApiTypes.OBJECT, parameters=[OpenApiParameter("cluster", str)])
    def get(self, request: Request, node: str) -> Response:
        """Return one node."""
        return Response(
            nodes.node_row(find_node(node, request.query_params.get("cluster", "")), self.actor)
        )


_METRICS = [
    OpenApiParameter("names", str),
    OpenApiParameter("cluster", str),
    OpenApiParameter("gpu", int, description="Only of this GPU, by its index."),
    *(OpenApiParameter(n, int) for n in ("start", "end", "max_points")),
]


class NodeMetricsView(OrgView):
    permissions = {"GET": P.NODES_READ}

    @extend_schema(responses=OpenApiTypes.OBJECT, parameters=_METRICS)
    def get(self, request: Request, node: str) -> Response:
        """Return metrics of a node. Times are Unix milliseconds; gaps are null."""
        return _metrics(request, node)


class PlatformNodeMetricsView(PortalView):
    permissions = {"GET": P.CLUSTERS_READ}

    @extend_schema(
        operation_id="platform_node_metrics",
        responses=OpenApiTypes.OBJECT,
        parameters=_METRICS,
    )
    def get(self, request: Request, node: str) -> Response:
        """Return metrics of a node, for operators outside of organizations."""
        return _metrics(request, node)


def _metrics(request: Request, node: str) -> Response:
    query = request.query_params
    span: dict[str, Any] = {
        f"{n}_ms": _whole(n, query[n]) for n in ("start", "end") if query.get(n)
    }
    names = [n for n in query.get("names", "").split(",") if n][:100] or None
    most = min(max(_whole("max_points", query.get("max_points") or "600"), 10), 5000)
    row = find_node(node, query.get("cluster", ""))
    owner, labels = f"node:{row.id.hex}", None
    if gpu := query.get("gpu"):
        labels = series.labels_with(owner, "gpu", gpu)
    found = series.query(owner, names=names, labels=labels, max_points=most, **span)
    return Response({"items": [d.as_dict() for d in found], "next": None, "previous": None})


def find_node(name: str, cluster: str = "") -> Node:
    """Return a node by name; node names are unique only within a cluster. Raises NotFound."""
    rows = Node.objects.select_related("cluster").filter(name=name).order_by("is_gone", "-seen_at")
    node = (
        rows.filter(cluster__name=cluster) if cluster.isprintable() and cluster else rows
    ).first()
    if node is None:
        raise NotFound(f"There is no node {name[:80]!r}.")
    return node


def _whole(name: str, text: str) -> int:
    if not text.isascii() or not text.isdigit() or len(text) > 18:
        raise InvalidInput.at(name, "must be a whole number")
    return int(text)
