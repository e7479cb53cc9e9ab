"""The GPU wall: every GPU of every cluster at once. A node is one short row, so that 16,000 GPUs are some tens of kilobytes."""

from __future__ import annotations

from typing import Any

from django.db.models import Count

from clusters.models import Cluster, Gpu, Node
from jobs.backends import backends, capabilities_of
from jobs.backends.base import Capability
from monitoring.nodes import jobs_seen_by, placements
from portal.core import clock
from workspaces.actors import Actor

STATES = ("ready", "drained", "down")


def wall_of(actor: Actor) -> dict[str, Any]:
    """`nodes`: [name, cluster, state, GPUs, bits of those used, types, partitions], the words as places in the lists beside it;
    `jobs`: those that the actor may see, by the node's place in `nodes`. A cluster is `is_exact` when it is known which GPUs are
    used; elsewhere only how many, and the first are drawn."""
    clusters = list(Cluster.objects.order_by("name"))
    exact = {c.id for c in clusters if c.backend in backends() and Capability.PLACES in capabilities_of(c.backend)}
    place = {cluster.id: at for at, cluster in enumerate(clusters)}
    types, parts = _Words(), _Words()
    kinds, held = _kinds(), _held(exact)
    rows, keys = [], []
    for node_id, cluster_id, name, is_ready, is_drained, used, partitions in _nodes():
        mine = kinds.get(node_id, [])
        bits = held.get(node_id, 0) if cluster_id in exact else (1 << used) - 1
        state = 2 if not is_ready else 1 if is_drained else 0
        rows.append([name, place[cluster_id], state, sum(n for _, n in mine), bits, [types.at(kind) for kind, _ in mine],
                     [parts.at(part) for part in partitions]])
        keys.append((cluster_id, name))
    seen = jobs_seen_by(actor)
    return {"at": clock.now(), "states": STATES, "types": types.all, "partitions": parts.all, "nodes": rows,
            "clusters": [{"name": c.name, "is_exact": c.id in exact, "trouble": c.trouble} for c in clusters],
            "jobs": {at: [[job["number"], job["name"]] for job in seen[key]] for at, key in enumerate(keys) if key in seen}}


class _Words:
    """Words told once, and named by their place."""

    def __init__(self) -> None:
        self.all: list[str] = []
        self._places: dict[str, int] = {}

    def at(self, word: str) -> int:
        if word not in self._places:
            self._places[word] = len(self.all)
            self.all.append(word)
        return self._places[word]


def _nodes() -> Any:
    return (Node.objects.filter(is_gone=False).order_by("cluster__name", "name")
            .values_list("id", "cluster_id", "name", "is_ready", "is_drained", "used_gpus", "partitions"))


def _kinds() -> dict[Any, list[tuple[str, int]]]:
    """How many GPUs of each type, by node."""
    found: dict[Any, list[tuple[str, int]]] = {}
    for node_id, kind, n in Gpu.objects.values_list("node_id", "type").annotate(n=Count("id")).order_by("type"):
        found.setdefault(node_id, []).append((kind, n))
    return found


def _held(clusters: set[Any]) -> dict[Any, int]:
    """Bits of the GPUs that are held, in the order of their indexes, by node; where the portal places them itself."""
    uuids = {uuid for (cluster_id, _), places in placements().items() if cluster_id in clusters for p in places for uuid in p["uuids"]}
    if not uuids:
        return {}
    bits: dict[Any, int] = {}
    order: dict[Any, int] = {}
    for node_id, uuid in Gpu.objects.filter(node__cluster__in=clusters).order_by("node_id", "index").values_list("node_id", "uuid"):
        at = order[node_id] = order.get(node_id, -1) + 1
        if uuid in uuids:
            bits[node_id] = bits.get(node_id, 0) | 1 << at
    return bits
