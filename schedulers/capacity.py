"""Decide whether a job would start on a cluster now, and what prevents it.

Pure. Backends, pool choice, admission, dry run and pages all judge by this module, so they agree on what fits.
Amounts are in the units and names of quotas: "cpu" in thousandths of a core, "memory" in bytes, "gpu", and "gpu.h100"
for one type. `Candidates.judge` is monotone in each amount, so bisection finds the smallest change that would help.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property
from typing import Any
from uuid import UUID

from schedulers.contract import NodeFacts, Placement
from schedulers.shares import share_of
from schedulers.states import Wait

KINDS = ("gpu", "cpu", "memory")
STEPS = {"gpu": 1, "cpu": 1000, "memory": 1 << 20, "nodes": 1}


@dataclass(frozen=True)
class ResourceRequest:
    """Resources that one task of a job requests on each of its nodes.

    `packs`: several nodes of the job may share one node of the cluster.
    """

    gpu: int = 0
    cpu: int = 0
    memory: int = 0
    nodes: int = 1
    gpu_type: str = ""
    packs: bool = False

    @classmethod
    def of_totals(cls, totals: Mapping[str, int], nodes: int = 1) -> ResourceRequest:
        """Return the request with these totals over all nodes."""
        kind = next((name[4:] for name in totals if name.startswith("gpu.")), "")
        gpu, cpu, memory = (totals.get(kind, 0) // nodes for kind in KINDS)
        if share_of(kind):
            gpu = totals[f"gpu.{kind}"] // nodes
        return cls(gpu, cpu, memory, nodes, kind)

    @cached_property
    def totals(self) -> dict[str, int]:
        """The amounts over all nodes, as they count against quotas."""
        amounts = {kind: self.in_all(kind) for kind in ("cpu", "memory", "gpu", "jobs")}
        if self.gpu_type:
            amounts[f"gpu.{self.gpu_type}"] = self.in_all("gpu")
        if share_of(self.gpu_type):
            del amounts["gpu"]
        return {resource: amount for resource, amount in amounts.items() if amount}

    @cached_property
    def each(self) -> list[tuple[str, int]]:
        """The requested resources and amounts on each node."""
        return [(self.resource(kind), self.of(kind)) for kind in KINDS if self.of(kind)]

    def resource(self, kind: str) -> str:
        """Return the resource of this kind: "gpu.h100" for "gpu" if a type is requested."""
        return f"gpu.{self.gpu_type}" if kind == "gpu" and self.gpu_type else kind

    def of(self, kind: str) -> int:
        return int(getattr(self, kind))

    def with_amount(self, kind: str, amount: int) -> ResourceRequest:
        changes: dict[str, Any] = {kind: amount}
        return replace(self, **changes)

    def only(self, kind: str) -> ResourceRequest:
        """Return a request for this kind alone."""
        nothing = replace(self, gpu=0, cpu=0, memory=0)
        return nothing.with_amount(kind, self.of(kind))

    def in_all(self, kind: str) -> int:
        """Return the amount that counts against a limit."""
        if kind in KINDS:
            return self.of(kind) * self.nodes
        return {"jobs": 1, "nodes": self.nodes, "pods": self.nodes}.get(kind, 0)


@dataclass(frozen=True)
class GpuId:
    """A GPU of a node."""

    index: int
    uuid: str
    type: str


@dataclass(frozen=True)
class NodeCapacity:
    """Total and free resources of a node, by resource.

    `is_up`: it takes new jobs. `free_gpus`, by index, are known only where the portal assigns GPUs.
    """

    name: str
    total: Mapping[str, int]
    free: Mapping[str, int]
    is_up: bool = True
    labels: Mapping[str, str] = field(default_factory=dict)
    free_gpus: Sequence[GpuId] = ()

    def place(self, request: ResourceRequest) -> Placement:
        """Assign what the request needs on this node, with the free GPUs of the lowest indexes."""
        usable = [gpu for gpu in self.free_gpus if request.gpu_type in ("", gpu.type)]
        chosen = usable[: request.gpu]
        return Placement(
            node=self.name,
            cpus=request.cpu / 1000,
            memory=request.memory,
            gpus=tuple(gpu.index for gpu in chosen),
            gpu_uuids=tuple(gpu.uuid for gpu in chosen),
        )

    def without(self, cpu: int, memory: int, gpu_uuids: Iterable[str]) -> NodeCapacity:
        """Return what is left after these resources are assigned."""
        uuids = set(gpu_uuids)
        left = [gpu for gpu in self.free_gpus if gpu.uuid not in uuids]
        free = {
            **dict.fromkeys(self.total, 0),
            "cpu": max(self.free["cpu"] - cpu, 0),
            "memory": max(self.free["memory"] - memory, 0),
            **gpu_amounts(Counter(gpu.type for gpu in left)),
        }
        return replace(self, free=free, free_gpus=left)

    def avoiding(self, uuids: Collection[str]) -> NodeCapacity:
        """Return the node as if these GPUs did not exist; those in use are counted as they are."""
        gone = gpu_amounts(Counter(gpu.type for gpu in self.free_gpus if gpu.uuid in uuids))
        if not gone["gpu"]:
            return self
        left = self.without(0, 0, uuids)
        total = {name: amount - gone.get(name, 0) for name, amount in self.total.items()}
        return replace(left, total=total)


@dataclass(frozen=True)
class ReservedGpus:
    """GPUs of a node that are reserved for one team.

    `gpus` are those that the team does not use now. `is_whole`: others may use nothing of the node.
    `reserved` is the size of the whole reservation, on all its nodes.
    """

    node: str
    team_id: UUID
    org_id: UUID
    team_name: str
    gpu_type: str
    gpus: int
    reserved: int
    until: datetime
    is_whole: bool = False


def withhold(node: NodeCapacity, reserved_gpus: Iterable[ReservedGpus]) -> NodeCapacity:
    """Return what is left of a node for those that the holds exclude."""
    for hold in reserved_gpus:
        if hold.is_whole:
            return replace(node, free=dict.fromkeys(node.total, 0), free_gpus=())
        resource = f"gpu.{hold.gpu_type}"
        kept = min(hold.gpus, node.free.get(resource, 0))
        if not kept:
            continue
        alike = [gpu.uuid for gpu in node.free_gpus if gpu.type == hold.gpu_type]
        last = set(alike[-kept:])
        free = {resource: node.free[resource] - kept}
        if not share_of(hold.gpu_type):
            free["gpu"] = max(node.free["gpu"] - kept, 0)
        node = replace(
            node,
            free={**node.free, **free},
            free_gpus=[gpu for gpu in node.free_gpus if gpu.uuid not in last],
        )
    return node


def gpu_amounts(counts: Mapping[str, int]) -> dict[str, int]:
    """Return the amounts of counts by type: {"gpu": 3, "gpu.h100": 2, "gpu.a100": 1}.

    Shares of GPUs are not in the sum.
    """
    whole = sum(n for kind, n in counts.items() if not share_of(kind))
    return {"gpu": whole, **{f"gpu.{kind}": n for kind, n in counts.items()}}


def reported_capacity(
    name: str, total: Mapping[str, int], used: Mapping[str, int], *, is_up: bool
) -> NodeCapacity:
    """Return the capacity of a node if its scheduler counts the used GPUs, but not by type.

    On a node with GPUs of several types the used ones are assumed to be of each type, so that
    what is said to be free is free. A GPU that is used as a whole has no free shares, and one with
    used shares is not free as a whole.
    """
    shares = {kind: n for kind, n in total.items() if kind.startswith("gpu.") and share_of(kind)}
    used_shares = used.get("shares", 0)
    each = {kind: max(n // total["gpu"], 1) if total["gpu"] else 0 for kind, n in shares.items()}
    blocked = max((-(-used_shares // n) for n in each.values() if n), default=0)
    gpus = used["gpu"] + blocked  # of any type
    taken = {**used, "gpu": gpus} | {
        kind: used_shares + used["gpu"] * each[kind] for kind in shares
    }
    free = {
        resource: max(amount - taken.get(resource, gpus), 0) for resource, amount in total.items()
    }
    return NodeCapacity(name, total, free, is_up)


def capacity_of(node: NodeFacts) -> NodeCapacity:
    """Return the capacity of a node of an inventory."""
    counts: Counter[str] = Counter()
    for gpu in node.gpus:
        counts[gpu.type] += gpu.shares or 1
    gpus = gpu_amounts(counts)
    total = {"cpu": round(node.cpus * 1000), "memory": node.memory, **gpus}
    used = {"cpu": round(node.used_cpus * 1000), "memory": node.used_memory, "gpu": node.used_gpus}
    used["shares"] = node.used_shares
    is_up = node.is_ready and not node.is_drained
    return reported_capacity(node.name, total, used, is_up=is_up)


Amounts = Callable[[NodeCapacity], Mapping[str, int]]


def now(node: NodeCapacity) -> Mapping[str, int]:
    """Return what jobs may use now."""
    return node.free if node.is_up else {}


def idle(node: NodeCapacity) -> Mapping[str, int]:
    """Return what jobs may use once all running ones have ended."""
    return node.total if node.is_up else {}


def ever(node: NodeCapacity) -> Mapping[str, int]:
    """Return what jobs may use once the node is also in service."""
    return node.total


def fits(request: ResourceRequest, node: NodeCapacity, amounts: Amounts = now) -> int:
    """Return how many of the job's nodes fit on this node."""
    times, has = request.nodes if request.packs else 1, amounts(node)
    for resource, requested in request.each:
        times = min(times, has.get(resource, 0) // requested)
        if not times:
            return 0
    return times


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

    def refuses(self, request: ResourceRequest) -> bool:
        return (self.used or 0) + self.asked(request) > self.limit

    def refuses_for_ever(self, request: ResourceRequest) -> bool:
        return self.asked(request) > self.limit

    def asked(self, request: ResourceRequest) -> int:
        return request.of(self.kind) if self.each == "node" else request.in_all(self.kind)


@dataclass(frozen=True)
class Assessment:
    """Result of a check. `wait` is None if nothing known prevents the start.

    `limit` is the one that prevents it, if any; `kind` is the scarce resource on the nodes.
    """

    wait: Wait | None
    kind: str = ""
    limit: ResourceLimit | None = None


@dataclass(frozen=True)
class AmountChange:
    """A change of one amount, on each node."""

    kind: str
    before: int
    after: int

    @property
    def facts(self) -> dict[str, object]:
        return {"resource": self.kind, "from": self.before, "to": self.after}


def smallest_change(
    request: ResourceRequest,
    is_admitted: Callable[[ResourceRequest], bool],
    steps: Mapping[str, int] = STEPS,
) -> AmountChange | None:
    """Return the smallest relative reduction of one amount that is admitted.

    None if no single reduction is enough.
    """
    found = [
        AmountChange(kind, request.of(kind), amount)
        for kind, step in steps.items()
        if (amount := _largest(request, kind, step, is_admitted))
    ]
    return min(
        found, key=lambda change: (change.before - change.after) / change.before, default=None
    )


def _largest(
    request: ResourceRequest,
    kind: str,
    step: int,
    is_admitted: Callable[[ResourceRequest], bool],
) -> int:
    """Return the largest admitted amount below the request; 0 if none is."""
    low, high = 1, (request.of(kind) - 1) // step
    if high < 1 or not is_admitted(request.with_amount(kind, step)):
        return 0
    while low < high:
        middle = (low + high + 1) // 2
        if is_admitted(request.with_amount(kind, middle * step)):
            low = middle
        else:
            high = middle - 1
    return low * step


@dataclass(frozen=True)
class Candidates:
    """Nodes that a job may use and limits that apply to it, in the order of their evaluation."""

    nodes: Sequence[NodeCapacity]
    limits: Sequence[ResourceLimit] = field(default_factory=tuple)

    def judge(self, request: ResourceRequest) -> Assessment:
        """Return the first obstacle.

        In order: impossible, a limit, nodes out of service, too little in total, enough in
        total but fragmented.
        """
        if limit := next((one for one in self.limits if one.refuses_for_ever(request)), None):
            return Assessment(Wait.IMPOSSIBLE, limit.kind, limit)
        if not self.could_run(request):
            return Assessment(Wait.IMPOSSIBLE, self._short(request, ever))
        if limit := next((one for one in self.limits if one.refuses(request)), None):
            return Assessment(Wait.CLUSTER_LIMIT, limit.kind, limit)
        if len(self.first_fit(request)) == request.nodes:
            return Assessment(None)
        if len(self.first_fit(request, idle)) < request.nodes:
            return Assessment(Wait.NODES_DOWN)
        for kind in KINDS:
            if self.sum(request.resource(kind)) < request.in_all(kind):
                return Assessment(Wait.CAPACITY, kind)
        return Assessment(Wait.SCATTERED, self._short(request, now))

    def admits(self, request: ResourceRequest) -> bool:
        """Return whether `judge` finds no obstacle.

        Cheaper, as one pass is enough: whatever fits into the free resources fits into the
        total.
        """
        return (
            not any(limit.refuses(request) for limit in self.limits)
            and len(self.first_fit(request)) == request.nodes
        )

    def could_run(self, request: ResourceRequest) -> bool:
        """Return whether the job fits on the nodes if they are idle and in service."""
        return len(self.first_fit(request, ever)) == request.nodes

    def first_fit(self, request: ResourceRequest, amounts: Amounts = now) -> list[NodeCapacity]:
        """Return the node for each node of the job; fewer if not all of them fit."""
        found: list[NodeCapacity] = []
        for node in self.nodes:
            found += [node] * fits(request, node, amounts)
            if len(found) >= request.nodes:
                return found[: request.nodes]
        return found

    def count(self, request: ResourceRequest, amounts: Amounts = now) -> int:
        """Count the nodes that have room for one node of the job."""
        return sum(fits(request, node, amounts) > 0 for node in self.nodes)

    def sum(self, resource: str, amounts: Amounts = now) -> int:
        return sum(amounts(node).get(resource, 0) for node in self.nodes)

    def most(self, resource: str, amounts: Amounts = now) -> int:
        """Return the largest amount on one node."""
        return max((amounts(node).get(resource, 0) for node in self.nodes), default=0)

    def smallest_change(self, request: ResourceRequest) -> AmountChange | None:
        """Return the smallest relative reduction of one amount that lets the job start now."""
        return smallest_change(request, self.admits)

    def _short(self, request: ResourceRequest, amounts: Amounts) -> str:
        """Return the resource of which too few nodes have enough.

        Empty if each alone is available, but not on the same nodes.
        """
        for kind in KINDS:
            if (
                request.of(kind)
                and len(self.first_fit(request.only(kind), amounts)) < request.nodes
            ):
                return kind
        return ""
