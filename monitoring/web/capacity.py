"""Pages of GPU capacity: what is free and when more becomes free, all GPUs, and one GPU."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from django.http import HttpResponse
from django.shortcuts import render

from clusters.free_capacity import FreeGpus
from clusters.models import Cluster, Device, Gpu
from clusters.services.pool_requests import reservations_of_node
from clusters.workload import JobsByNode
from jobs.scheduling.cluster_load import jobs_of_all
from monitoring import devices
from monitoring.capacity import Supply, supply_of
from monitoring.fleet import GROUPS, fleet, problems
from monitoring.gpu_grid import size_of
from monitoring.lists import DEVICES
from monitoring.node_page import lines_of, pools_of_node
from monitoring.nodes import node_rows
from monitoring.web.views import RANGES
from portal.core import clock
from portal.core.formatting import gpu_text
from portal.core.messages import Message
from schedulers.shares import about_share, share_of
from workspaces.access.actors import Actor
from workspaces.access.permissions import Permission as P
from workspaces.web.base import page

MOST_GROUPS = 50  # of the fleet on one page
GPU_CHARTS = ",".join(
    [
        *(f"gpu.{name}" for name in ("utilization", "sm.active", "sm.occupancy", "tensor.active")),
        *(f"gpu.memory.{name}" for name in ("used", "bandwidth", "utilization", "temperature")),
        *(f"gpu.{name}" for name in ("power", "temperature", "clock.sm", "clock.memory")),
        *(f"gpu.{name}" for name in ("throttled", "throttle", "recovery", "xid")),
        *(f"gpu.{link}.{way}" for link in ("pcie", "nvlink") for way in ("sent", "received")),
        *(f"gpu.ecc.{kind}" for kind in ("corrected", "uncorrected")),
        *(f"gpu.rows.{kind}" for kind in ("corrected", "uncorrected", "pending", "failed")),
        "gpu.nvlink.errors",
        "gpu.engine.active",
    ]
)


@page(P.NODES_READ)
def capacity(request: Any) -> HttpResponse:
    """Show which GPUs are free, what fits on them now, and when more becomes free."""
    return _capacity(request)


@page(P.CLUSTERS_READ)
def platform_capacity(request: Any) -> HttpResponse:
    """Show the same to operators, with all pools."""
    return _capacity(request)


def _capacity(request: Any) -> HttpResponse:
    rows = supply_of(request.actor)
    kinds = sorted({row.type for row in rows}, key=lambda kind: (kind.startswith("mig-"), kind))
    return render(
        request,
        "monitoring/capacity.html",
        {
            "page_title": Message("Capacity", context="page title"),
            "models": [
                _summary(kind, [r.gpus for r in rows if r.type == kind and not r.pool])
                for kind in kinds
            ],
            "rows": [row for row in rows if row.pool or not _is_one_pool(row, rows)],
            "has_pools_in_common": any(
                row.pool is None and _pools_of(row, rows)[1:] for row in rows
            ),
            "has_clusters": Cluster.objects.exists(),
            "has_ends": any(row.ends for row in rows),
            "share_notes": [(kind, about_share(kind)) for kind in kinds if share_of(kind)],
        },
    )


def _pools_of(row: Supply, rows: list[Supply]) -> list[Supply]:
    """Return the pools with GPUs of this class in the same cluster."""
    return [one for one in rows if one.pool and one.cluster == row.cluster and one.type == row.type]


def _is_one_pool(row: Supply, rows: list[Supply]) -> bool:
    """Return whether one pool has all GPUs of a cluster's class, so that both rows would be equal."""
    pools = _pools_of(row, rows)
    return len(pools) == 1 and pools[0].gpus.total == row.gpus.total


def _summary(kind: str, parts: list[FreeGpus]) -> dict[str, Any]:
    """Sum a class over the clusters; a job runs on one of them."""
    best = max(parts, key=lambda gpus: gpus.whole_gpus)
    return {
        "model": kind,
        "is_share": bool(share_of(kind)),
        "total": sum(gpus.total for gpus in parts),
        "free": sum(gpus.free for gpus in parts),
        "largest": max(gpus.largest for gpus in parts),
        "whole": best.whole,
        "whole_gpus": best.whole_gpus,
    }


@page(P.NODES_READ)
def fleet_page(request: Any) -> HttpResponse:
    """Show every GPU, what is wrong, and measurements by model, rack, pool or cluster."""
    return _fleet_page(
        request,
        [(Message("Capacity", context="text, monitoring"), f"/{request.org.slug}/capacity")],
    )


@page(P.CLUSTERS_READ)
def platform_fleet(request: Any) -> HttpResponse:
    """Show the same to operators, with the jobs of every organization."""
    return _fleet_page(request, [])


def _fleet_page(request: Any, crumbs: list[tuple[Any, str]]) -> HttpResponse:
    asked = request.GET.get("by", "")
    by = asked if asked in GROUPS else "model"
    rows, text = fleet(request.actor, by), request.GET.get("from", "0")
    first = int(text) if text.isascii() and text.isdigit() and len(text) < 6 else 0
    return render(
        request,
        "monitoring/fleet.html",
        {
            "page_title": Message("Fleet", context="page title"),
            "crumbs": crumbs,
            "problems": problems(request.GET.get("cluster", "")[:40]),
            "gpus": (gpus := Gpu.objects.filter(shares=None).count()),
            "grid_size": size_of(gpus),
            "heat": request.GET.get("heat", ""),
            "groups": [(key, label, f"?by={key}#groups") for key, label in GROUPS.items()],
            "by": by,
            "title": GROUPS[by],
            "rows": [row | _titled(by, row["name"]) for row in rows[first : first + MOST_GROUPS]],
            "total": len(rows),
            "first": first + 1,
            "last": min(first + MOST_GROUPS, len(rows)),
            "previous": f"?by={by}&from={max(first - MOST_GROUPS, 0)}" if first else "",
            "next": f"?by={by}&from={first + MOST_GROUPS}"
            if first + MOST_GROUPS < len(rows)
            else "",
        },
    )


def _titled(by: str, name: str) -> dict[str, str]:
    """Return `title` of a group, and `query` of the list of its GPUs, if that can be narrowed so."""
    kinds = name.split(" + ") if by == "model" else []
    title = " + ".join(map(gpu_text, kinds)) or name
    return {"title": title, "query": "" if len(kinds) > 1 else urlencode({by: name})}


@page(DEVICES.permission)
def gpus(request: Any) -> HttpResponse:
    """Show all GPUs with their layout, health, measurements and jobs."""
    crumbs = [(Message("Capacity", context="navigation"), f"/{request.org.slug}/capacity")]
    return DEVICES.render(
        request,
        "monitoring/gpus.html",
        {"page_title": Message("GPUs", context="page title"), "crumbs": crumbs},
    )


def _is_held(device: Device, actor: Actor, jobs: JobsByNode | None) -> bool:
    """Return whether a job has the GPU, or one of its instances."""
    [node] = node_rows([device.node], actor, jobs)
    return any(gpu["is_held"] for gpu in node["gpus"] if gpu["index"] == device.index)


@page(P.NODES_READ)
def gpu(request: Any, uuid: str) -> HttpResponse:
    """Show one GPU: what it is, what it does, and its history."""
    device = devices.find_device(uuid, request.GET.get("cluster", ""))
    may_read = request.actor.may(P.CLUSTERS_READ)
    jobs = jobs_of_all(request.actor, {device.node.name}) if may_read else None
    [row] = devices.device_rows([device], request.actor, jobs)
    asked = request.GET.get("range", "")
    chosen = asked if asked in {key for key, *_ in RANGES} else "1h"
    span = next(ms for key, _, ms in RANGES if key == chosen)
    node, slug = device.node, request.org.slug
    query = {"cluster": node.cluster.name, "gpu": device.index, "start": clock.now_ms() - span}
    return render(
        request,
        "monitoring/gpu.html",
        {
            "page_title": f"GPU {device.index} · {node.name}",
            "crumbs": [
                (Message("Capacity", context="navigation"), f"/{slug}/capacity"),
                (Message("GPUs", context="navigation"), f"/{slug}/gpus"),
            ],
            "gpu": row | {"is_held": _is_held(device, request.actor, jobs)},
            "history_names": GPU_CHARTS,
            "expected_charts": [range(0)] * 6 if row["power"] is not None else [],
            "pools": pools_of_node(node, request.actor),
            "reservations": reservations_of_node(node, request.actor),
            "may_read": may_read,
            "topic": f"metrics:node:{node.id.hex}",
            "events": lines_of(devices.device_events(node.id, device.index), request.actor),
            "past": devices.past_jobs(device, request.actor),
            "ranges": [(key, label, f"?range={key}") for key, label, _ in RANGES],
            "range": chosen,
            "chart_sources": [
                {
                    "id": device.id.hex,
                    "name": f"{node.name} GPU {device.index}",
                    "url": f"/api/v1/orgs/{slug}/nodes/{node.name}/metrics?{urlencode(query)}",
                    "start": None,
                    "isLive": chosen == "1h",
                    "topics": [
                        {
                            "name": f"metrics:node:{node.id.hex}",
                            "kind": "system",
                            "gpu": str(device.index),
                        }
                    ],
                }
            ],
        },
    )
