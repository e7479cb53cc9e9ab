"""Decide whether a job would start on a cluster now, and what prevents it.

Pure. A cluster's own scheduler decides for itself; this explains its reasons in numbers. Amounts
are in the units of quotas: CPU in thousandths of a core, memory in bytes. `Candidates.judge` is monotone
in each amount, so bisection finds the smallest change that would help.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from schedulers.contract import NodeFacts
from schedulers.states import Wait

KINDS = ("gpu", "cpu", "memory")
STEPS = {"gpu": 1, "cpu": 1000, "memory": 1 << 20, "nodes": 1}


@dataclass(frozen=True)
class NodeRequest:
    """Resources that a job requests on each of its nodes.

    `packs`: several nodes of the job may share one node of the cluster.
    """

    gpu: int = 0
    cpu: int = 0
    memory: int = 0
    nodes: int = 1
    gpu_type: str = ""
    packs: bool = False

    @cached_property
    def each(self) -> list[tuple[str, int]]:
        """The requested kinds and amounts on each node."""
        return [(kind, self.of(kind)) for kind in KINDS if self.of(kind)]

    def of(self, kind: str) -> int:
        return int(getattr(self, kind))

    def with_amount(self, kind: str, amount: int) -> NodeRequest:
        changes: dict[str, Any] = {kind: amount}
        return replace(self, **changes)

    def only(self, kind: str) -> NodeRequest:
        """Return a request for this kind alone."""
        changes: dict[str, Any] = dict.fromkeys((other for other in KINDS if other != kind), 0)
        return replace(self, **changes)

    def in_all(self, kind: str) -> int:
        """Return the amount that counts against a limit."""
        return (
            1
            if kind == "jobs"
            else self.nodes
            if kind in ("nodes", "pods")
            else self.of(kind) * self.nodes
            if kind in KINDS
            else 0
        )


@dataclass(frozen=True)
class NodeCapacity:
    """A node as far as this job may use it: GPUs of other types do not count."""

    name: str
    free: Mapping[str, int]
    total: Mapping[str, int]
    is_up: bool = True

    def holds(self, need: NodeRequest, amounts: Mapping[str, int]) -> int:
        """Return how many nodes of the job fit here."""
        times = need.nodes if need.packs else 1
        for kind, asked in need.each:
            times = min(times, amounts.get(kind, 0) // asked)
            if not times:
                return 0
        return times


Amounts = Callable[[NodeCapacity], Mapping[str, int]]


@dataclass(frozen=True)
class ResourceLimit:
    """A limit set by the cluster.

    `whose` is its owner, such as "Account borealis"; `each` is the scope ("user", "account",
    "job", "node"; empty: everything the owner runs). `used` is None if unknown.
    """

    kind: str
    limit: int
    used: int | None
    whose: str
    each: str = ""
    said: str = ""

    def refuses(self, need: NodeRequest) -> bool:
        return (self.used or 0) + self.asked(need) > self.limit

    def refuses_for_ever(self, need: NodeRequest) -> bool:
        return self.asked(need) > self.limit

    def asked(self, need: NodeRequest) -> int:
        return need.of(self.kind) if self.each == "node" else need.in_all(self.kind)


@dataclass(frozen=True)
class Assessment:
    """Result of a check. `wait` is None if nothing known prevents the start.

    `cap` is the limit that prevents it, if any; `kind` is the scarce resource on the nodes.
    """

    wait: Wait | None
    kind: str = ""
    cap: ResourceLimit | None = None


@dataclass(frozen=True)
class Change:
    """A change of one amount, on each node."""

    kind: str
    before: int
    after: int

    @property
    def facts(self) -> dict[str, object]:
        return {"resource": self.kind, "from": self.before, "to": self.after}


@dataclass(frozen=True)
class Candidates:
    """Nodes that a job may use and limits that apply to it, in the order of their evaluation."""

    spots: Sequence[NodeCapacity]
    caps: Sequence[ResourceLimit] = field(default_factory=tuple)

    def judge(self, need: NodeRequest) -> Assessment:
        """Return the first obstacle.

        In order: impossible, a limit, nodes out of service, too little in total, enough in
        total but fragmented.
        """
        if cap := next((cap for cap in self.caps if cap.refuses_for_ever(need)), None):
            return Assessment(Wait.IMPOSSIBLE, cap.kind, cap)
        if self.fitting(need, _ever) < need.nodes:
            return Assessment(Wait.IMPOSSIBLE, self._short(need, _ever))
        if cap := next((cap for cap in self.caps if cap.refuses(need)), None):
            return Assessment(Wait.CLUSTER_LIMIT, cap.kind, cap)
        if self.fitting(need, _empty) < need.nodes:
            return Assessment(Wait.NODES_DOWN)
        if self.fitting(need) >= need.nodes:
            return Assessment(None)
        full = next((kind for kind in KINDS if self.free(kind) < need.in_all(kind)), "")
        return (
            Assessment(Wait.CAPACITY, full)
            if full
            else Assessment(Wait.SCATTERED, self._short(need, _now))
        )

    def admits(self, need: NodeRequest) -> bool:
        """Return whether `judge` finds no obstacle.

        Cheaper, as one pass is enough: whatever fits into the free resources fits into the
        total.
        """
        return not any(cap.refuses(need) for cap in self.caps) and self.fitting(need) >= need.nodes

    def fitting(self, need: NodeRequest, amounts: Amounts | None = None) -> int:
        """Count the nodes of the job that fit; stops when all do."""
        found = 0
        for spot in self.spots:
            found += spot.holds(need, (amounts or _now)(spot))
            if found >= need.nodes:
                return need.nodes
        return found

    def free(self, kind: str) -> int:
        return sum(_now(spot).get(kind, 0) for spot in self.spots)

    def total(self, kind: str) -> int:
        return sum(spot.total.get(kind, 0) for spot in self.spots)

    def most(self, kind: str, amounts: Amounts | None = None) -> int:
        """Return the largest amount on one node."""
        return max(((amounts or _now)(spot).get(kind, 0) for spot in self.spots), default=0)

    def smallest_change(self, need: NodeRequest) -> Change | None:
        """Return the smallest relative reduction of one amount that lets the job start now.

        None if no single reduction is enough.
        """
        found = [
            Change(kind, need.of(kind), amount)
            for kind in STEPS
            if (amount := self._largest(need, kind))
        ]
        return min(
            found, key=lambda change: (change.before - change.after) / change.before, default=None
        )

    def _largest(self, need: NodeRequest, kind: str) -> int:
        """Return the largest amount below the request that would start; 0 if none would."""
        step, low, high = STEPS[kind], 1, (need.of(kind) - 1) // STEPS[kind]
        if high < 1 or not self.admits(need.with_amount(kind, step)):
            return 0
        while low < high:
            middle = (low + high + 1) // 2
            if self.admits(need.with_amount(kind, middle * step)):
                low = middle
            else:
                high = middle - 1
        return low * step

    def _short(self, need: NodeRequest, amounts: Amounts) -> str:
        """Return the resource of which too few nodes have enough.

        Empty if each alone is available, but not on the same nodes.
        """
        for kind in KINDS:
            if need.of(kind) and self.fitting(need.only(kind), amounts) < need.nodes:
                return kind
        return ""


def _now(spot: NodeCapacity) -> Mapping[str, int]:
    return spot.free if spot.is_up else {}


def _ever(spot: NodeCapacity) -> Mapping[str, int]:
    return spot.total


def _empty(spot: NodeCapacity) -> Mapping[str, int]:
    return spot.total if spot.is_up else {}


def candidates_of(nodes: Sequence[NodeFacts], gpu_type: str = "") -> list[NodeCapacity]:
    """Build the spots of an inventory.

    On a node with GPUs of several types, the ones in use are unknown: the free ones are assumed
    to be of this type.
    """
    return [_spot(node, gpu_type) for node in nodes]


def _spot(node: NodeFacts, gpu_type: str) -> NodeCapacity:
    gpus = sum(gpu_type in ("", gpu.type) for gpu in node.gpus)
    total = {"gpu": gpus, "cpu": round(node.cpus * 1000), "memory": node.memory}
    free = {
        "gpu": max(min(gpus, len(node.gpus) - node.used_gpus), 0),
        "cpu": max(round((node.cpus - node.used_cpus) * 1000), 0),
        "memory": max(node.memory - node.used_memory, 0),
    }
    return NodeCapacity(node.name, free, total, node.is_ready and not node.is_drained)
