"""Sum total and free capacity by GPU type, state, partition and pool.

Counted in memory over one read of the nodes, so the number of queries does not depend on theirs.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, TypedDict

from clusters.models import Pool
from clusters.node_capacity import NodeUsage
from clusters.pools import is_in
from schedulers.shares import share_of

STATES = ("ready", "drained", "down")
_DIGITS = re.compile(r"(\d+)")


class GpuCountsShape(TypedDict):
    total: int
    used: int
    reserved: Annotated[int, "For single teams."]
    free: int


class GpuCapacityShape(GpuCountsShape):
    types: dict[str, GpuCountsShape]


class NodeCountsShape(TypedDict):
    total: int
    ready: int
    drained: int
    down: int


class CapacityShape(TypedDict):
    nodes: NodeCountsShape
    gpus: GpuCapacityShape


@dataclass
class GpuCounts:
    """GPU counts. `off`: unused GPUs on nodes that take no new jobs; `reserved`: for single teams."""

    total: int = 0
    used: int = 0
    off: int = 0
    reserved: int = 0

    @property
    def free(self) -> int:
        return self.total - self.used - self.off - self.reserved

    def add(self, total: int, used: int, reserved: int, *, is_ready: bool) -> None:
        self.total += total
        self.used += used
        self.off += 0 if is_ready else total - used
        self.reserved += min(reserved, total - used) if is_ready else 0


@dataclass
class CapacitySummary:
    """Capacity of a set of nodes: `nodes` by state, `gpus` by type and in total.

    `is_exact` is False if a node with several GPU types has some in use: schedulers do not say
    which.
    """

    nodes: dict[str, int] = field(default_factory=lambda: dict.fromkeys(STATES, 0))
    gpus: dict[str, GpuCounts] = field(default_factory=dict)
    all_gpus: GpuCounts = field(default_factory=GpuCounts)
    is_exact: bool = True

    @property
    def total(self) -> int:
        return sum(self.nodes.values())

    @property
    def out(self) -> int:
        """Count the nodes that take no new jobs."""
        return self.total - self.nodes["ready"]

    def as_dict(self) -> CapacityShape:
        def counts(gpus: GpuCounts) -> GpuCountsShape:
            return {
                "total": gpus.total,
                "used": gpus.used,
                "reserved": gpus.reserved,
                "free": gpus.free,
            }

        return {
            "nodes": {
                "total": self.total,
                "ready": self.nodes["ready"],
                "drained": self.nodes["drained"],
                "down": self.nodes["down"],
            },
            "gpus": {
                **counts(self.all_gpus),
                "types": {kind: counts(gpus) for kind, gpus in self.gpus.items()},
            },
        }


def capacity_of(machines: Iterable[NodeUsage]) -> CapacitySummary:
    """Sum the capacity of these nodes."""
    stock = CapacitySummary()
    for machine in machines:
        _count(stock, machine)
    stock.gpus = dict(sorted(stock.gpus.items()))
    return stock


def by_partition(machines: Sequence[NodeUsage]) -> dict[str, CapacitySummary]:
    """Sum the capacity by the scheduler's partition."""
    inside: dict[str, list[NodeUsage]] = {}
    for machine in machines:
        for name in machine.node.partitions:
            inside.setdefault(name, []).append(machine)
    return {name: capacity_of(inside[name]) for name in partitions_of(machines)}


def partitions_of(machines: Sequence[NodeUsage]) -> list[str]:
    """Return the names of the scheduler's partitions."""
    return sorted({name for machine in machines for name in machine.node.partitions}, key=natural)


def by_pool(
    pools: Iterable[Pool], machines: Mapping[Any, Sequence[NodeUsage]]
) -> dict[Any, CapacitySummary]:
    """Sum the capacity by pool id; `machines` by cluster. A node may be in several pools."""
    return {pool.id: capacity_of(inside_of(pool, machines[pool.cluster_id])) for pool in pools}


def inside_of(pool: Pool, machines: Iterable[NodeUsage]) -> list[NodeUsage]:
    """Return the nodes that belong to the pool."""
    return [m for m in machines if is_in(pool, m.node, m.gpus)]


def natural(name: str) -> list[tuple[bool, int, str]]:
    """Return a sort key that puts n9 before n10."""
    return [
        (part.isdigit(), int(part) if part.isdigit() else 0, part) for part in _DIGITS.split(name)
    ]


def _count(stock: CapacitySummary, machine: NodeUsage) -> None:
    state, types, left = machine.node.state, machine.gpus, machine.used("gpu")
    stock.nodes[state] += 1
    whole = {kind: n for kind, n in types.items() if not share_of(kind)}
    stock.is_exact &= len(whole) < 2 or left in (0, sum(whole.values()))
    for kind in types.keys() - whole.keys():
        used = machine.used(f"gpu.{kind}")
        kept = machine.reserved(f"gpu.{kind}") if machine.reserved_gpus else 0
        stock.gpus.setdefault(kind, GpuCounts()).add(
            types[kind], used, kept, is_ready=state == "ready"
        )
    for kind, n in whole.items():
        used = min(left, n)
        left -= used
        for gpus in (stock.all_gpus, stock.gpus.setdefault(kind, GpuCounts())):
            kept = machine.reserved(f"gpu.{kind}") if machine.reserved_gpus else 0
            gpus.add(n, used, kept, is_ready=state == "ready")
