"""Page for operators: free GPUs by model, cluster and pool."""

from __future__ import annotations

from typing import Any

from django.http import HttpResponse
from django.shortcuts import render

from clusters.capacity import inside_of
from clusters.free_capacity import FreeGpus, FreeRow, free_by_model
from clusters.models import Cluster, Pool
from clusters.node_capacity import node_usage_in
from portal.core.messages import Message
from workspaces.access.permissions import Permission as P
from workspaces.web.base import page


@page(P.CLUSTERS_READ)
def capacity(request: Any) -> HttpResponse:
    """Show which GPUs are free, what fits on them now, and how scattered they are."""
    clusters = list(Cluster.objects.filter(is_enabled=True).order_by("name"))
    machines = node_usage_in(clusters)
    rows: list[FreeRow] = []
    whole: dict[str, list[FreeGpus]] = {}
    pools: dict[Any, list[Pool]] = {cluster.id: [] for cluster in clusters}
    for pool in Pool.objects.filter(cluster__in=clusters).order_by("name"):
        pools[pool.cluster_id].append(pool)
    for cluster in clusters:
        nodes = machines[cluster.id]
        for model, gpus in free_by_model(nodes).items():
            whole.setdefault(model, []).append(gpus)
            rows.append(FreeRow(model, cluster, None, gpus))
        for pool in pools[cluster.id]:
            inside = free_by_model(inside_of(pool, nodes))
            rows += [FreeRow(model, cluster, pool, gpus) for model, gpus in inside.items()]
    rows.sort(key=lambda row: (row.model, row.cluster.name, row.pool.name if row.pool else ""))
    return render(
        request,
        "clusters/capacity.html",
        {
            "page_title": Message("Capacity"),
            "models": [_summary(model, parts) for model, parts in sorted(whole.items())],
            "rows": rows,
            "has_clusters": bool(clusters),
        },
    )


def _summary(model: str, parts: list[FreeGpus]) -> dict[str, Any]:
    """Sum a model over the clusters; a job runs on one of them."""
    best = max(parts, key=lambda gpus: gpus.whole_gpus)
    return {
        "model": model,
        "total": sum(gpus.total for gpus in parts),
        "free": sum(gpus.free for gpus in parts),
        "largest": max(gpus.largest for gpus in parts),
        "whole": best.whole,
        "whole_gpus": best.whole_gpus,
    }
