"""The GPU overview: all GPUs of all clusters. One short row per node keeps 16,000 GPUs small."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from uuid import UUID

import orjson

from clusters.health.selectors import unhealthy_nodes
from clusters.models import Cluster
from clusters.pools import pools_visible_to
from clusters.reserved_gpus import reserved_in
from clusters.workload import JobsByNode
from jobs.scheduling.cluster_load import jobs_of_all, jobs_visible_to
from monitoring.gpu_grid_use import heat_of, use_of
from monitoring.inventory import InventorySnapshot, inventory_snapshot
from monitoring.nodes import placements
from portal.core import clock
from schedulers import backends, capabilities_of
from schedulers.contract import Capability
from schedulers.shares import share_of
from workspaces.access.actors import Actor

STATES = ("ready", "drained", "down")
_SHOWN = ("id", "name", "backend", "trouble", "inventory")


def grid_of(actor: Actor, heat: str = "") -> dict[str, Any]:
    """Return the overview with the jobs of the organization that the actor may see."""
    return _grid(actor, jobs_visible_to(actor), heat)


def platform_grid(actor: Actor, heat: str = "") -> dict[str, Any]:
    """Return the overview with the jobs of every organization. Raises NotPermitted."""
    return _grid(actor, jobs_of_all(actor), heat)


def size_of(gpus: int) -> str:
    """Return how much room the overview of so many GPUs needs: tiny, small, middle or large."""
    sizes = ((128, "tiny"), (256, "small"), (2048, "middle"))
    return next((size for most, size in sizes if gpus <= most), "large")


def _grid(actor: Actor, seen: JobsByNode, heat: str) -> dict[str, Any]:
    """Return the overview. `heat` is a metric of HEATS, "" for none.

    `nodes` holds rows of [name, cluster, state, GPUs, bits of allocated GPUs, types, partitions] as
    ready JSON, in which words are indexes into the lists next to it. Other lists refer to nodes by
    their index: `health` has [state, reason] of unhealthy nodes; `reserved` the number of GPUs that
    are kept for single teams, which do not use them yet; `use` is the measured utilization
    of each GPU in percent, -1 if unknown; `heat` the asked metric, null if unknown; `pools`
    and `racks` are ranges of nodes; `jobs` are [number, name, GPUs, organization], whose GPUs are
    null where the scheduler does not tell them. A cluster is `is_exact` if it is known which of its
    GPUs are allocated; otherwise only their number is known, and the first ones are shown.
    """
    gpus = current_gpus()
    stock = gpus.stock
    more = {"heat": orjson.Fragment(heat_of(stock, heat))} if heat else {}
    return more | {
        "at": clock.now(),
        "states": STATES,
        "types": stock.types,
        "partitions": stock.partitions,
        "nodes": orjson.Fragment(gpus.nodes),
        "use": orjson.Fragment(gpus.use),
        "pools": [
            {"name": pool.name, "nodes": ranges}
            for pool in pools_visible_to(actor)
            if (ranges := stock.ranges_of(pool))
        ],
        "health": {
            stock.ids[node]: [row["state"], row["why"]]
            for node, row in unhealthy_nodes().items()
            if node in stock.ids
        },
        "reserved": gpus.reserved,
        "racks": [{"name": name, "nodes": ranges} for name, ranges in stock.racks.items()],
        "clusters": [
            {"name": c.name, "is_exact": c.id in gpus.exact, "trouble": c.trouble}
            for c in gpus.clusters
        ],
        "jobs": {
            stock.places[key]: [
                [job["number"], job["name"], job["gpus"], job["org"]] for job in jobs
            ]
            for key, jobs in seen.items()
            if key in stock.places
        },
    }


@dataclass(frozen=True)
class CurrentGpus:
    """All GPUs: `nodes` and `use` as in the overview, as JSON; `exact` are ids of clusters.

    `reserved` is the number of GPUs that are kept for single teams, by the index of the node.
    """

    clusters: list[Cluster]
    exact: set[UUID]
    stock: InventorySnapshot
    nodes: bytes
    use: bytes
    reserved: dict[int, int]


def current_gpus() -> CurrentGpus:
    """Return all GPUs of all clusters with their allocation and use."""
    clusters = list(Cluster.objects.order_by("name").only(*_SHOWN))
    exact = {
        c.id
        for c in clusters
        if c.backend in backends() and Capability.PLACES in capabilities_of(c.backend)
    }
    stock = inventory_snapshot(clusters, exact)
    used = _used(exact) if exact else {}
    texts = (
        stock.parts[c.id].with_used(used.get(c.id, ())) if c.id in exact else stock.parts[c.id].text
        for c in clusters
    )
    nodes = b"[" + b",".join(text for text in texts if text) + b"]"
    reserved = {
        stock.places[key]: sum(one.gpus for one in kept if not share_of(one.gpu_type))
        for key, kept in reserved_in(c.id for c in clusters).items()
        if key in stock.places
    }
    return CurrentGpus(clusters, exact, stock, nodes, use_of(stock), reserved)


def _used(exact: set[UUID]) -> dict[UUID, set[str]]:
    """Return the GPUs in use by cluster, where the portal places jobs itself."""
    used: dict[UUID, set[str]] = {}
    for (cluster_id, _), places in placements().items():
        if cluster_id in exact:
            used.setdefault(cluster_id, set()).update(
                uuid for place in places for uuid in place["uuids"]
            )
    return used
