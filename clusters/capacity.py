"""What some machines have, and what of it is free now: by type of GPU, by state, by partition, by pool. Counted in memory over one
reading of the nodes, so that a page costs the same few statements for 2,000 nodes as for two."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from clusters.models import Pool
from clusters.node_capacity import Machine
from clusters.services.pools import is_in

STATES = ("ready", "drained", "down")
_DIGITS = re.compile(r"(\d+)")


@dataclass
class Gpus:
    """`off`: on nodes that take nothing new, and not used."""

    total: int = 0
    used: int = 0
    off: int = 0

    @property
    def free(self) -> int:
        return self.total - self.used - self.off

    def add(self, total: int, used: int, *, is_ready: bool) -> None:
        self.total += total
        self.used += used
        self.off += 0 if is_ready else total - used


@dataclass
class Stock:
    """`nodes` by state, `gpus` by type, and over all types. `is_exact`: no node with several types has some of them used, of
    which schedulers do not say which."""

    nodes: dict[str, int] = field(default_factory=lambda: dict.fromkeys(STATES, 0))
    gpus: dict[str, Gpus] = field(default_factory=dict)
    all_gpus: Gpus = field(default_factory=Gpus)
    is_exact: bool = True

    @property
    def total(self) -> int:
        return sum(self.nodes.values())

    @property
    def out(self) -> int:
        """Nodes that take nothing new."""
        return self.total - self.nodes["ready"]

    def as_dict(self) -> dict[str, Any]:
        def told(gpus: Gpus) -> dict[str, int]:
            return {"total": gpus.total, "used": gpus.used, "free": gpus.free}

        return {
            "nodes": {"total": self.total, **self.nodes},
            "gpus": {
                **told(self.all_gpus),
                "types": {kind: told(gpus) for kind, gpus in self.gpus.items()},
            },
        }


def stock_of(machines: Iterable[Machine]) -> Stock:
    """Counted over these."""
    stock = Stock()
    for machine in machines:
        _count(stock, machine)
    stock.gpus = dict(sorted(stock.gpus.items()))
    return stock


def by_partition(machines: Sequence[Machine]) -> dict[str, Stock]:
    """For each of the scheduler's own groups."""
    inside: dict[str, list[Machine]] = {}
    for machine in machines:
        for name in machine.node.partitions:
            inside.setdefault(name, []).append(machine)
    return {name: stock_of(inside[name]) for name in sorted(inside, key=natural)}


def by_pool(pools: Iterable[Pool], machines: Mapping[Any, Sequence[Machine]]) -> dict[Any, Stock]:
    """For each pool, by its id; `machines` by cluster. A node may be in several."""
    return {pool.id: stock_of(inside_of(pool, machines[pool.cluster_id])) for pool in pools}


def inside_of(pool: Pool, machines: Iterable[Machine]) -> list[Machine]:
    """Those that belong to it."""
    return [m for m in machines if is_in(pool, m.node, m.gpus)]


def natural(name: str) -> list[tuple[bool, int, str]]:
    """A key that puts n9 before n10."""
    return [
        (part.isdigit(), int(part) if part.isdigit() else 0, part) for part in _DIGITS.split(name)
    ]


def _count(stock: Stock, machine: Machine) -> None:
    is_ready, left = machine.node.state == "ready", machine.used_gpus
    stock.nodes[machine.node.state] += 1
    total = sum(machine.gpus.values())
    stock.is_exact &= len(machine.gpus) < 2 or left in (0, total)
    for kind, n in machine.gpus.items():
        used = min(left, n)
        left -= used
        for gpus in (stock.all_gpus, stock.gpus.setdefault(kind, Gpus())):
            gpus.add(n, used, is_ready=is_ready)
