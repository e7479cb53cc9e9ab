"""Decide who may start now and, if not, why and what would help. Pure: no I/O.

The planner, the pending explanation and the dry run share this module, so the explanation always
matches the decision. `ClusterSnapshot` is a snapshot of limits and nodes; `judge` decides, `take` books an
admitted request so that the next one sees it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from types import MappingProxyType
from uuid import UUID

from jobs.job_specs import gpu_type_in
from portal.core.formatting import scale_of
from schedulers.contract import Placement
from schedulers.states import Wait
from workspaces.quotas.limits import (
    GPU_HOURS,
    STORAGE,
    Meter,
    QuotaUsage,
    checked_resources,
    first_full_meter,
    freed_by,
    meters,
    meters_after,
    unit_of,
)

QUOTA_WAITS = {"user": Wait.QUOTA_USER, "team": Wait.QUOTA_TEAM, "org": Wait.QUOTA_ORG}
_GIB = 1 << 30


@dataclass(frozen=True)
class ResourceRequest:
    """The request of one attempt. `resources` in quota units."""

    org_id: UUID
    team_id: UUID
    user_id: UUID
    resources: Mapping[str, int]
    job_id: UUID | None = None
    max_parallel: int | None = None

    @property
    def gpu_type(self) -> str:
        return gpu_type_in(self.resources)

    def get(self, resource: str) -> int:
        return self.resources.get(resource, 0)

    def with_amount(self, resource: str, amount: int) -> ResourceRequest:
        """Return a copy with another amount; a typed GPU count follows the plain one."""
        changed = dict(self.resources) | {resource: amount}
        if resource == "gpu" and self.gpu_type:
            changed[f"gpu.{self.gpu_type}"] = amount
        return replace(self, resources={name: n for name, n in changed.items() if n})


@dataclass
class NodeAvailability:
    """Free capacity of a node. `gpus` are (index, uuid, type)."""

    name: str
    cpus: int
    memory: int
    gpus: list[tuple[int, str, str]]
    total_cpus: int
    total_memory: int
    total_gpus: list[tuple[int, str, str]]

    def fit(self, ask: ResourceRequest) -> Placement | None:
        """Return a placement in the free capacity, on the GPUs with the lowest indexes."""
        if ask.get("cpu") > self.cpus or ask.get("memory") > self.memory:
            return None
        chosen = [g for g in self.gpus if ask.gpu_type in ("", g[2])][: ask.get("gpu")]
        if len(chosen) < ask.get("gpu"):
            return None
        return Placement(
            node=self.name,
            cpus=ask.get("cpu") / 1000,
            memory=ask.get("memory"),
            gpus=tuple(g[0] for g in chosen),
            gpu_uuids=tuple(g[1] for g in chosen),
        )

    def lacks(self, ask: ResourceRequest) -> list[str]:
        """Return the resources of which even the empty node has too little."""
        typed = [g for g in self.total_gpus if ask.gpu_type in ("", g[2])]
        return [
            name
            for name, has in (
                ("cpu", self.total_cpus),
                ("memory", self.total_memory),
                ("gpu", len(typed)),
            )
            if ask.get(name) > has
        ]

    def take(self, place: Placement) -> None:
        self.cpus -= round(place.cpus * 1000)
        self.memory -= place.memory
        self.gpus = [g for g in self.gpus if g[1] not in place.gpu_uuids]


@dataclass(frozen=True)
class Verdict:
    """The decision on one request.

    `wait` is None if it may start (at `place`, if the portal places jobs). Otherwise `facts` has
    the numbers: resource, ask, used, limit, unit (quotas) or free, total (capacity).
    """

    wait: Wait | None
    place: Placement | None = None
    facts: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True)
class Change:
    """The smallest change found that would start the job now. Amounts in quota units."""

    resource: str
    before: int
    after: int


@dataclass
class ClusterSnapshot:
    """A snapshot of the free capacity.

    `limits`: usage of the meters with a limit or a guarantee. `running`: active tasks by job (for
    arrays). `places` is False if a scheduler chooses the nodes.
    """

    limits: dict[Meter, QuotaUsage]
    nodes: Sequence[NodeAvailability]
    places: bool = True
    trouble: str = ""
    running: dict[UUID, int] = field(default_factory=dict)
    only_org: UUID | None = None  # jobs of other organizations wait, because of `only_text`
    only_text: str = ""

    def judge(self, ask: ResourceRequest) -> Verdict:
        """Return the dominant reason, in the order of `Wait`."""
        if self.places and (impossible := self._impossible(ask)):
            return impossible
        if self.trouble:
            return Verdict(Wait.CLUSTER_DOWN, facts={"said": self.trouble})
        if self.only_org and ask.org_id != self.only_org:
            return Verdict(Wait.RESERVED, facts={"text": self.only_text})
        if ask.job_id and ask.max_parallel and self.running.get(ask.job_id, 0) >= ask.max_parallel:
            return Verdict(
                Wait.ARRAY_LIMIT,
                facts={"running": self.running[ask.job_id], "limit": ask.max_parallel},
            )
        if over := self._over_quota(ask):
            return over
        if not self.places:
            return Verdict(None)
        place = next((p for node in self.nodes if (p := node.fit(ask))), None)
        return Verdict(None, place) if place else self._no_room(ask)

    def take(self, ask: ResourceRequest, place: Placement | None) -> None:
        """Book an admitted request."""
        self.limits.update(meters_after(self.limits, _meters(ask)))
        if ask.job_id:
            self.running[ask.job_id] = self.running.get(ask.job_id, 0) + 1
        if place:
            next(node for node in self.nodes if node.name == place.node).take(place)

    def smallest_limit(self, ask: ResourceRequest) -> dict[str, int]:
        """Return {"enough": limit} if raising the one limit in the way would admit the request now.

        Empty if that alone would not help.
        """
        amounts = _meters(ask)
        meter = first_full_meter(self.limits, amounts)
        if meter is None:
            return {}
        now = self.limits[meter]
        enough = (
            now.used + amounts[meter] + max(now.promised - freed_by(meter, self.limits, amounts), 0)
        )
        if meter.resource == GPU_HOURS:  # usage grows meanwhile: up to the next whole hour
            enough = (now.used // scale_of(GPU_HOURS) + 1) * scale_of(GPU_HOURS)
        # The job will write more than one byte: up to the next whole GiB.
        if meter.resource == STORAGE:
            enough = (enough // _GIB + 1) * _GIB
        raised = replace(self, limits={**self.limits, meter: now.limited(enough)})
        return {"enough": enough} if raised.judge(ask).wait is None else {}

    def smallest_change(self, ask: ResourceRequest) -> Change | None:
        """Return the smallest reduction of one resource that would be admitted now.

        For each resource it finds the largest amount below the request; of these the one with the
        smallest relative reduction wins. None if no single reduction helps.
        """
        found = [
            Change(name, ask.get(name), amount)
            for name in ("gpu", "cpu", "memory")
            if (amount := self._largest(ask, name)) is not None
        ]
        return min(found, key=lambda c: (c.before - c.after) / c.before, default=None)

    def _largest(self, ask: ResourceRequest, resource: str) -> int | None:
        """Find the largest admitted amount by bisection, as admission is monotone.

        Steps: 1 GPU, 0.1 core, 1 MiB.
        """
        step = {"gpu": 1, "cpu": 100, "memory": 1 << 20}[resource]
        low, high = 0, (ask.get(resource) - 1) // step
        if high < 1:
            return None
        while low < high:
            middle = (low + high + 1) // 2
            if self.judge(ask.with_amount(resource, middle * step)).wait is None:
                low = middle
            else:
                high = middle - 1
        return low * step if low else None

    def _impossible(self, ask: ResourceRequest) -> Verdict | None:
        """Return a verdict if not even an empty node could run the task."""
        if not self.nodes or any(not node.lacks(ask) for node in self.nodes):
            return None
        best = max(self.nodes, key=lambda n: (len(n.total_gpus), n.total_memory, n.total_cpus))
        lacking = best.lacks(ask)[0]
        return Verdict(
            Wait.IMPOSSIBLE,
            facts={
                "resource": lacking,
                "ask": ask.get(lacking),
                "node": best.name,
                "unit": unit_of(lacking),
                "largest": _total(best, lacking, ask.gpu_type),
                "type": ask.gpu_type,
            },
        )

    def _over_quota(self, ask: ResourceRequest) -> Verdict | None:
        amounts = _meters(ask)
        meter = first_full_meter(self.limits, amounts)
        if meter is None:
            return None
        now, amount = self.limits[meter], amounts[meter]
        kept = now.promised - freed_by(meter, self.limits, amounts)
        return Verdict(
            QUOTA_WAITS[meter.scope],
            facts={
                "scope": meter.scope,
                "resource": meter.resource,
                "ask": amount,
                "used": now.used,
                "limit": now.limit,
                "unit": unit_of(meter.resource),
            }
            | ({"kept": kept} if kept else {}),
        )

    def _no_room(self, ask: ResourceRequest) -> Verdict:
        """Return the verdict for a full cluster, or for capacity that no single node has."""
        for name in ("gpu", "cpu", "memory"):
            free = [_free(node, name, ask.gpu_type) for node in self.nodes]
            if ask.get(name) > max(free, default=0):
                total = sum(_total(node, name, ask.gpu_type) for node in self.nodes)
                wait = Wait.SCATTERED if sum(free) >= ask.get(name) else Wait.CAPACITY
                return Verdict(
                    wait,
                    facts={
                        "resource": name,
                        "ask": ask.get(name),
                        "free": sum(free),
                        "total": total,
                        "most_on_one_node": max(free, default=0),
                        "unit": unit_of(name),
                    },
                )
        return Verdict(
            Wait.SCATTERED if self.nodes else Wait.CAPACITY,
            facts={"apart": [n for n in ("gpu", "cpu", "memory") if ask.get(n)]}
            if self.nodes
            else {},
        )


def _meters(ask: ResourceRequest) -> Mapping[Meter, int]:
    return _moved(ask.org_id, ask.team_id, ask.user_id, tuple(ask.resources.items()))


@lru_cache(256)  # a batch mostly has few users with few shapes of requests
def _moved(
    org_id: UUID, team_id: UUID, user_id: UUID, resources: tuple[tuple[str, int], ...]
) -> Mapping[Meter, int]:
    return MappingProxyType(meters(org_id, team_id, user_id, checked_resources(dict(resources))))


def _free(node: NodeAvailability, resource: str, gpu_type: str) -> int:
    if resource == "gpu":
        return sum(gpu_type in ("", g[2]) for g in node.gpus)
    return node.cpus if resource == "cpu" else node.memory


def _total(node: NodeAvailability, resource: str, gpu_type: str) -> int:
    if resource == "gpu":
        return sum(gpu_type in ("", g[2]) for g in node.total_gpus)
    return node.total_cpus if resource == "cpu" else node.total_memory


def plan(
    room: ClusterSnapshot, asks: Sequence[ResourceRequest]
) -> Iterator[tuple[ResourceRequest, Verdict]]:
    """Judge in order and book what is admitted; backfill without reservations."""
    for ask in asks:
        verdict = room.judge(ask)
        if verdict.wait is None:
            room.take(ask, verdict.place)
        yield ask, verdict
