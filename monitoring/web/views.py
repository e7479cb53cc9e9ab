"""Pages of the list of nodes and of a single node."""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from urllib.parse import urlencode

from django.http import HttpResponse
from django.shortcuts import render

from clusters.health.selectors import node_health
from clusters.reserved_gpus import reserved_in
from clusters.services.drain import may_drain
from clusters.services.pool_requests import reservations_of_node
from clusters.web.cluster import take_undo
from clusters.workload import JobsByNode
from jobs.scheduling.cluster_load import jobs_of_all, jobs_visible_to
from monitoring import nodes as rows
from monitoring.api.views import find_node
from monitoring.lists import NODES
from monitoring.node_page import disks_of, gpu_tables, mark_reserved, node_events, pools_of_node
from portal.core import clock
from portal.core.messages import Message
from workspaces.access.permissions import Permission as P
from workspaces.web.base import page

HOUR_MS = 3_600_000
RANGES = (
    ("1h", Message("1 hour", context="time range"), HOUR_MS),
    ("24h", Message("24 hours", context="time range"), 24 * HOUR_MS),
    ("7d", Message("7 days", context="time range"), 7 * 24 * HOUR_MS),
    ("30d", Message("30 days", context="time range"), 30 * 24 * HOUR_MS),
    ("1y", Message("1 year", context="time range"), 366 * 24 * HOUR_MS),
)
CHARTS = (
    "gpu.utilization,gpu.sm.active,gpu.tensor.active,gpu.memory.used,gpu.memory.bandwidth,"
    "gpu.power,gpu.temperature,gpu.clock.sm,gpu.throttled,gpu.pcie.sent,gpu.pcie.received,"
    "gpu.nvlink.sent,gpu.nvlink.received,gpu.ecc.corrected,gpu.ecc.uncorrected,gpu.xid,"
    "cpu.utilization,memory.used,disk.used,disk.read,disk.write,net.rx,net.tx,cpu.load1"
)


_NODES = replace(NODES, represent=rows.listed_rows)
_ALL_NODES = replace(NODES, represent=rows.rows_for_operators)


@page(NODES.permission)
def nodes(request: Any) -> HttpResponse:
    """Show the overview of all GPUs, and one page of nodes."""
    return _NODES.render(
        request, "monitoring/nodes.html", {"page_title": Message("Nodes", context="page title")}
    )


@page(P.CLUSTERS_READ)
def platform_nodes(request: Any) -> HttpResponse:
    """List the nodes of every cluster for operators."""
    return _ALL_NODES.render(
        request, "monitoring/nodes.html", {"page_title": Message("Nodes", context="page title")}
    )


@page(P.NODES_READ)
def node(request: Any, node: str) -> HttpResponse:
    """Show one node, with the jobs that the actor may see."""
    slug = request.org.slug
    return _node_page(
        request,
        node,
        jobs_visible_to(request.actor, {node}),
        api=f"/api/v1/orgs/{slug}",
        crumbs=[(Message("Nodes", context="text, monitoring"), f"/{slug}/nodes")],
    )


@page(P.CLUSTERS_READ)
def platform_node(request: Any, node: str) -> HttpResponse:
    """Show one node to operators, with the jobs of every organization."""
    cluster = find_node(node, request.GET.get("cluster", "")).cluster.name
    return _node_page(
        request,
        node,
        jobs_of_all(request.actor, {node}),
        api="/api/v1",
        crumbs=[
            (Message("Nodes", context="text, monitoring"), "/platform/nodes"),
            (cluster, f"/platform/nodes?cluster={cluster}"),
        ],
    )


def _node_page(
    request: Any, name: str, jobs: JobsByNode, *, api: str, crumbs: list[tuple[Any, str]]
) -> HttpResponse:
    found = find_node(name, request.GET.get("cluster", ""))
    row = rows.node_rows([found], request.actor, jobs)[0]
    asked = request.GET.get("range", "")
    chosen = asked if asked in {key for key, *_ in RANGES} else "1h"
    span = next(ms for key, _, ms in RANGES if key == chosen)
    query = urlencode({"cluster": found.cluster.name, "start": clock.now_ms() - span})
    here = urlencode({"cluster": found.cluster.name})
    devices = list(found.devices.order_by("index"))
    tables = gpu_tables(row, devices)
    reserved_gpus = reserved_in([found.cluster_id]).get((found.cluster_id, found.name), [])
    mark_reserved(tables["whole"], reserved_gpus)
    return render(
        request,
        "monitoring/node.html",
        {
            "page_title": found.name,
            "crumbs": crumbs,
            "node": row,
            **tables,
            **_memory_of(tables),
            "disks": disks_of(row["latest"]),
            "pools": pools_of_node(found, request.actor),
            "events": node_events(found, request.actor),
            "may_write": request.org is None and request.actor.may(P.CLUSTERS_WRITE),
            "may_read": request.actor.may(P.CLUSTERS_READ),
            "can_drain": may_drain(found.cluster),
            "is_drained": found.is_drained,
            "health": node_health(found),
            "gpu_links": {device.index: device.uuid for device in devices},
            "reservations": reservations_of_node(found, request.actor),
            "topic": f"metrics:node:{found.id.hex}",
            "undo": take_undo(request, found),
            "ranges": [(key, label, f"?{here}&range={key}") for key, label, _ in RANGES],
            "range": chosen,
            "history_names": CHARTS,
            "expected_charts": [range(len(tables["whole"]))] * 6 if row["latest"] else [],
            "here": f"{request.path}?{here}",
            "chart_sources": [
                {
                    "id": found.id.hex,
                    "name": found.name,
                    "url": f"{api}/nodes/{found.name}/metrics?{query}",
                    "start": None,
                    "isLive": chosen == "1h",
                    "topics": [{"name": f"metrics:node:{found.id.hex}", "kind": "system"}],
                }
            ],
        },
    )


def _memory_of(tables: dict[str, Any]) -> dict[str, Any]:
    """Return the GPU memory of a node, used (None if not measured) and total; each byte once."""
    gpus = [gpu for gpu in tables["whole"] if "parts" not in gpu] + tables["instances"]
    used = [gpu["memory_used"] for gpu in gpus if gpu["memory_used"] is not None]
    return {
        "gpu_memory": sum(used) if used else None,
        "gpu_memory_total": sum(gpu["memory"] for gpu in gpus),
    }
