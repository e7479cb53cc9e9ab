"""Measurements of all GPUs, summed up by model, rack, pool or cluster.

Sums are made per node in the database and kept for a quarter of a minute, because 16,000 GPUs have
hundreds of thousands of series.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any
from uuid import UUID

from django.core.cache import cache
from django.db.models import Q

from clusters.capacity import natural
from clusters.health.selectors import HealthShape, unhealthy_nodes
from clusters.models import Device, Node, Pool
from clusters.pools import is_in, pools_visible_to
from jobs.utilization.selectors import gpu_utilization_of_nodes
from monitoring.inventory import rack_of
from monitoring.nodes import FRESH_MS
from portal import series
from portal.core import clock
from portal.core.errors import InvalidInput
from portal.core.messages import Message
from workspaces.access.actors import Actor

GROUPS = {
    "model": Message("Model", context="way to group, of a GPU"),
    "rack": Message("Rack", context="way to group"),
    "pool": Message("Pool", context="way to group"),
    "cluster": Message("Cluster", context="way to group"),
}
KEPT_FOR = 15  # seconds
MOST_PROBLEMS = 12
_MEASURED = (
    "gpu.power",
    "gpu.temperature",
    "gpu.sm.active",
    "gpu.memory.used",
    "gpu.memory.total",
    "gpu.throttled",
    "gpu.rows.pending",
)


@dataclass
class FleetGroup:
    """GPUs of one model, rack, pool or cluster."""

    name: str
    nodes: int = 0
    gpus: int = 0
    lost: int = 0
    out: int = 0  # on nodes that are drained or down
    uses: list[float] = field(default_factory=list)  # utilization of each measured GPU
    sums: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    counts: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    hottest: float | None = None

    def add(self, node: _NodeFacts) -> None:
        self.nodes += 1
        self.gpus += node.gpus
        self.lost += node.lost
        self.out += 0 if node.is_ready else node.gpus
        self.uses += node.uses
        for name, (n, total, most) in node.measured.items():
            self.sums[name] += total
            self.counts[name] += n
            if name == "gpu.temperature":
                self.hottest = max(self.hottest or most, most)

    def mean(self, name: str) -> float | None:
        """Return the mean of a metric over the GPUs that have it."""
        return self.sums[name] / self.counts[name] if self.counts.get(name) else None

    def as_dict(self) -> dict[str, Any]:
        measured, total = self.counts.get("gpu.power", 0), self.sums.get("gpu.memory.total")
        return {
            "name": self.name,
            "nodes": self.nodes,
            "gpus": self.gpus,
            "lost": self.lost,
            "out_of_service": self.out,
            "measured": measured,
            "utilization": sum(self.uses) / len(self.uses) if self.uses else None,
            "sm_active": self.mean("gpu.sm.active"),
            "memory_used": self.sums["gpu.memory.used"] / total if total else None,
            "power": self.sums["gpu.power"] if measured else None,
            "temperature": self.mean("gpu.temperature"),
            "hottest": self.hottest,
            "throttled": int(self.sums.get("gpu.throttled", 0)),
            "rows_pending": int(self.sums.get("gpu.rows.pending", 0)),
        }


@dataclass(frozen=True)
class _NodeFacts:
    gpus: int
    lost: int
    is_ready: bool
    uses: list[float]
    measured: Mapping[str, tuple[int, float, float]]


def fleet(actor: Actor, by: str) -> list[dict[str, Any]]:
    """Return the GPUs grouped by "model", "rack", "pool" or "cluster". Raises InvalidInput.

    Pools are those that the actor may see. A node without the label rack is in none.
    """
    if by not in GROUPS:
        raise InvalidInput.at("by", f"must be one of {', '.join(GROUPS)}")
    pools = pools_visible_to(actor) if by == "pool" else []
    ids = "".join(sorted(pool.id.hex for pool in pools))
    key = f"fleet:{by}:{sha256(ids.encode()).hexdigest()[:32]}"
    found: list[dict[str, Any]] | None = cache.get(key)
    if found is None:
        found = _fleet(by, pools)
        cache.set(key, found, KEPT_FOR)
    return found


def problems(cluster: str = "") -> list[FleetProblem]:
    """Return the nodes out of service and unhealthy, and GPUs that do not respond; the worst first."""
    health = unhealthy_nodes()
    lost = Counter(Device.objects.filter(is_lost=True).values_list("node_id", flat=True))
    rows = (
        Node.objects.filter(is_gone=False)
        .filter(Q(is_ready=False) | Q(is_drained=True) | Q(id__in=[*health, *lost]))
        .select_related("cluster")
        .defer("cluster__config", "cluster__secrets", "reported", "runs")
    )
    rows = rows.filter(cluster__name=cluster) if cluster else rows
    found = [_problem(node, health.get(node.id), lost[node.id]) for node in rows]
    found.sort(key=lambda row: (row.rank, natural(row.node)))
    return found[:MOST_PROBLEMS]


@dataclass(frozen=True)
class FleetProblem:
    """A node that needs somebody: `state` is of a node, its health or a GPU, `why` the reason."""

    rank: int
    node: str
    cluster: str
    of: str
    state: str
    why: str


def _problem(node: Node, health: HealthShape | None, lost: int) -> FleetProblem:
    name, cluster = node.name, node.cluster.name
    if not node.is_ready:
        return FleetProblem(0, name, cluster, "node", "down", "")
    if health is not None and health["state"] != "warning":
        why = health["why"]
        return FleetProblem(1, name, cluster, "health", health["state"], why)
    if lost:
        why = Message.plural(lost, "{n} GPU isn't responding", "{n} GPUs aren't responding", n=lost)
        return FleetProblem(2, name, cluster, "gpu", "lost", why)
    if health is not None:
        return FleetProblem(3, name, cluster, "health", health["state"], health["why"])
    return FleetProblem(4, name, cluster, "node", "drained", "")


def _fleet(by: str, pools: Sequence[Pool]) -> list[dict[str, Any]]:
    devices = _devices()
    uses = gpu_utilization_of_nodes()
    measured = _measured()
    groups: dict[str, FleetGroup] = {}
    rows = Node.objects.filter(is_gone=False, id__in=list(devices)).select_related("cluster")
    for node in rows.defer("cluster__config", "cluster__secrets", "reported", "runs"):
        types = devices[node.id]
        facts = _NodeFacts(
            sum(n for n, _ in types.values()),
            sum(lost for _, lost in types.values()),
            node.state == "ready",
            list(uses.get(node.id, {}).values()),
            measured.get(f"node:{node.id.hex}", {}),
        )
        for name in _names(by, node, types, pools):
            groups.setdefault(name, FleetGroup(name)).add(facts)
    return [groups[name].as_dict() for name in sorted(groups, key=natural)]


def _names(by: str, node: Node, types: Mapping[str, Any], pools: Sequence[Pool]) -> list[str]:
    """Return the groups of a node. One with several models is in a group of its own."""
    if by == "model":
        return [" + ".join(sorted(types))]
    if by == "rack":
        return [rack] if (rack := rack_of(node.labels)) else []
    if by == "cluster":
        return [node.cluster.name]
    known = set(types)
    return [
        pool.name
        for pool in pools
        if pool.cluster_id == node.cluster_id and is_in(pool, node, known)
    ]


def _devices() -> dict[UUID, dict[str, tuple[int, int]]]:
    """Return the number of GPUs, and of those lost, by node and model."""
    found: dict[UUID, dict[str, tuple[int, int]]] = defaultdict(dict)
    for node, kind, is_lost in Device.objects.values_list("node_id", "type", "is_lost"):
        n, lost = found[node].get(kind, (0, 0))
        found[node][kind] = (n + 1, lost + is_lost)
    return found


def _measured() -> dict[str, dict[str, tuple[int, float, float]]]:
    """Return number, sum and highest of the current values, by owner and metric."""
    return series.latest_sums("node:", _MEASURED, clock.now_ms() - FRESH_MS)
