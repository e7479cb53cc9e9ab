"""Nodes as shown to users: resources, usage and current metrics."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from statistics import fmean
from typing import Any
from uuid import UUID

from django.db.models import Q

from clusters.health.selectors import health_row, health_rows
from clusters.models import Gpu, Node
from clusters.workload import JobsByNode, NodeKey
from jobs.models import Attempt
from jobs.models.attempt import placed_on
from jobs.scheduling.cluster_load import jobs_of_all, jobs_visible_to
from jobs.utilization.selectors import gpu_utilization_of_nodes
from portal import series
from portal.core import clock
from schedulers.states import State
from workspaces.access.actors import Actor
from workspaces.tenancy.scope import platform_scope

_GPU = ("index", "uuid", "model", "type", "memory")
UNREAD = ("cluster__config", "cluster__secrets", "runs", "reported", "partitions")
FRESH_MS = 120_000  # an older measurement is not shown as the current one
_PLACED = Q(state__gt=State.QUEUED, state__lt=State.SUCCEEDED)  # as the index `attempt_active`
_MEASURED = {
    "sm_active": "gpu.sm.active",
    "memory_used": "gpu.memory.used",
    "temperature": "gpu.temperature",
    "power": "gpu.power",
    "is_throttled": "gpu.throttled",
}


_LISTED = ("cpu.utilization", "memory.used")


def node_row(node: Node, actor: Actor) -> dict[str, Any]:
    """Return one node."""
    return node_rows([node], actor)[0]


def listed_rows(nodes: Sequence[Node], actor: Actor) -> list[dict[str, Any]]:
    """Return nodes with the few measurements that their list shows: each has a hundred series."""
    return node_rows(nodes, actor, names=_LISTED)


def rows_for_operators(nodes: Sequence[Node], actor: Actor) -> list[dict[str, Any]]:
    """Return the same with the jobs of every organization. Raises NotPermitted."""
    return node_rows(nodes, actor, jobs_of_all(actor, {node.name for node in nodes}), _LISTED)


def node_rows(
    nodes: Sequence[Node],
    actor: Actor,
    jobs: JobsByNode | None = None,
    names: Collection[str] | None = None,
) -> list[dict[str, Any]]:
    """Return nodes with usage, latest metrics and `jobs`, by default those that the actor may see.

    `names` limits the metrics.
    """
    taken, gpus = placements(), _gpus(nodes)
    mine = jobs_visible_to(actor, {node.name for node in nodes}) if jobs is None else jobs
    latest = series.latest_of([_owner(node) for node in nodes], names)
    used = gpu_utilization_of_nodes([node.id for node in nodes])
    unhealthy = health_rows([node.id for node in nodes])
    return [
        {"health": unhealthy.get(node.id) or health_row(None)}
        | _row(
            node,
            taken[node.cluster_id, node.name],
            mine[node.cluster_id, node.name],
            latest[_owner(node)],
            _with_utilization(gpus[node.id], used.get(node.id, {})),
        )
        for node in nodes
    ]


def _gpus(nodes: Sequence[Node]) -> dict[UUID, list[dict[str, Any]]]:
    """Return the GPUs of each node, ordered by index."""
    found: dict[UUID, list[dict[str, Any]]] = defaultdict(list)
    rows = Gpu.objects.filter(node__in=[node.id for node in nodes], shares=None).order_by("index")
    for node_id, *values in rows.values_list("node_id", *_GPU):
        found[node_id].append(dict(zip(_GPU, values, strict=True)))
    return found


def _with_utilization(
    gpus: list[dict[str, Any]], used: Mapping[str, float]
) -> list[dict[str, Any]]:
    """Add the utilization (0 to 1) of each GPU over the last five minutes; None if unknown."""
    return [gpu | {"utilization": used.get(str(gpu["index"]))} for gpu in gpus]


def _mean(values: list[float]) -> float | None:
    return round(fmean(values), 3) if values else None


def _owner(node: Node) -> str:
    return f"node:{node.id.hex}"


def _row(
    node: Node,
    taken: list[dict[str, Any]],
    jobs: list[dict[str, Any]],
    latest: dict[str, Any],
    gpus: list[dict[str, Any]],
) -> dict[str, Any]:
    used = {gpu for place in taken for gpu in place["uuids"]}
    shown = [
        gpu
        | {"is_held": gpu["uuid"] in used or (not taken and at < node.used_gpus)}
        | measured(latest, f"gpu={gpu['index']}")
        | {"job": next((job for job in jobs if _is_on(job, gpu)), None)}
        for at, gpu in enumerate(gpus)
    ]
    return {
        "id": str(node.id),
        "name": node.name,
        "cluster": node.cluster.name,
        "is_ready": node.is_ready and not node.cluster.trouble,
        "note": node.note,
        "trouble": node.cluster.trouble,
        "seen_at": _seen_at(node),
        "state": node.state,
        "labels": node.labels,
        "cpus": {
            "total": node.cpus / 1000,
            "held": (sum(p["cpus"] for p in taken) or node.used_cpus) / 1000,
        },
        "memory": {
            "total": node.memory,
            "held": sum(p["memory"] for p in taken) or node.used_memory,
        },
        "gpus": shown,
        "gpu_count": len(shown),
        "gpus_held": sum(gpu["is_held"] for gpu in shown),
        "gpu_types": sorted({gpu["type"] for gpu in shown}),
        "gpu_utilization": _mean(
            [gpu["utilization"] for gpu in gpus if gpu["utilization"] is not None]
        ),
        "jobs": jobs,
        "cpu_utilization": _fresh(latest, "cpu.utilization"),
        "memory_used": _fresh(latest, "memory.used"),
        "latest": latest,
        "now": clock.now(),
    }


def _is_on(job: Mapping[str, Any], gpu: Mapping[str, Any]) -> bool:
    """Return whether a job has a GPU; MIG instances of a GPU have its index."""
    if job["uuids"]:
        return gpu["uuid"] in job["uuids"]
    return gpu["index"] in (job["gpus"] or ())


def measured(latest: Mapping[str, Any], labels: str) -> dict[str, float | None]:
    """Return the current measurements of "gpu=0" or of its MIG instance "gpu=0,mig=1".

    None for what is missing or old.
    """
    return {name: _fresh(latest, f"{key}{{{labels}}}") for name, key in _MEASURED.items()}


def _fresh(latest: Mapping[str, Any], key: str) -> float | None:
    """Return the last value of a series; None if it is missing or old."""
    point = latest.get(key)
    return point["value"] if point and point["at"] >= clock.now_ms() - FRESH_MS else None


def _seen_at(node: Node) -> datetime:
    """Return when the node was last reported: unchanged inventories do not update its row."""
    return (
        node.seen_at if node.is_gone else max(node.seen_at, node.cluster.counted_at or node.seen_at)
    )


def placements() -> dict[NodeKey, list[dict[str, Any]]]:
    """Return the placements of all organizations by cluster and node."""
    found: dict[NodeKey, list[dict[str, Any]]] = defaultdict(list)
    with platform_scope("what is taken on a node is taken for every organization"):
        rows = (
            Attempt.objects.filter(_PLACED, has_reservation=True)
            .exclude(placement=None)
            .values_list("cluster_id", "placement")
        )
        for cluster_id, placement in rows:
            for part in placed_on(placement):
                found[cluster_id, part["node"]].append(part)
    return found
