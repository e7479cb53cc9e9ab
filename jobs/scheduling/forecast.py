"""Play the queue of a cluster forward: when each pending task starts if running ones use their time.

Pure. Tasks start by the planner's rules: in the order of the queue, each as soon as its quotas and the
nodes have room for it (`docs/design/jobs.md`, "Expected start").
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from heapq import heapify, heappop, heappush
from itertools import count
from uuid import UUID

from schedulers.capacity import NodeCapacity, ReservedGpus, ResourceRequest
from schedulers.shares import share_of
from workspaces.quotas.limits import Meter, QuotaUsage, first_full_meter, meters_after

COARSE = 0.02  # ends that are nearer to each other than this part of the time until then are one
Held = Mapping[str, Mapping[str, int]]  # amounts by node


@dataclass(frozen=True)
class RunningTask:
    """A task that runs. `ends` is Unix time, None without a time limit; `meters` is what it holds."""

    ends: float | None
    nodes: Held
    meters: Mapping[Meter, int] = field(default_factory=dict)


@dataclass(frozen=True)
class PendingTask:
    """A task that waits. `seconds` is its time limit; `nodes` are those of its pool, None for all.

    `checked` is what its start requests of each meter, `meters` what it holds while it runs.
    """

    key: Hashable
    need: ResourceRequest
    team_id: UUID
    seconds: float | None = None
    nodes: frozenset[str] | None = None
    checked: Mapping[Meter, int] = field(default_factory=dict)
    meters: Mapping[Meter, int] = field(default_factory=dict)

    @cached_property
    def shape(self) -> Hashable:
        """What decides on which nodes it fits."""
        return self.need, self.team_id, self.nodes

    @cached_property
    def holder(self) -> Hashable:
        """What decides whether its quotas have room."""
        return tuple(self.checked.items())


class _Playing:
    """The free resources and the meters at one time.

    What fits where is kept for each shape of request, and only looked at again on nodes that changed.
    """

    def __init__(
        self,
        nodes: Sequence[NodeCapacity],
        limits: Mapping[Meter, QuotaUsage],
        reserved: Iterable[ReservedGpus],
    ) -> None:
        self.nodes = [node for node in nodes if node.is_up]
        self.limits = dict(limits)
        self.free = [Counter(node.free) for node in self.nodes]
        self.at = {node.name: n for n, node in enumerate(self.nodes)}
        self.reserved: dict[int, list[ReservedGpus]] = defaultdict(list)
        for hold in reserved:
            if hold.node in self.at:
                self.reserved[self.at[hold.node]].append(hold)
        self.changed: list[int] = []
        self.fitting: dict[Hashable, tuple[int, dict[int, int]]] = {}

    def has_quota(self, task: PendingTask) -> bool:
        return first_full_meter(self.limits, task.checked) is None

    def room_for(self, task: PendingTask) -> list[int]:
        """Return the node for each node of the task; empty without room."""
        seen, fitting = self.fitting.get(task.shape, (-1, {}))
        for n in range(len(self.nodes)) if seen < 0 else set(self.changed[seen:]):
            fitting.pop(n, None)
            if times := self._times(task, n):
                fitting[n] = times
        self.fitting[task.shape] = len(self.changed), fitting
        place: list[int] = []
        for n in sorted(fitting) if len(fitting) >= task.need.nodes or task.need.packs else ():
            place += [n] * fitting[n]
            if len(place) >= task.need.nodes:
                return place[: task.need.nodes]
        return []

    def _times(self, task: PendingTask, n: int) -> int:
        """Return how many nodes of the task fit on a node, without what others have reserved."""
        if task.nodes is not None and self.nodes[n].name not in task.nodes:
            return 0
        free: Mapping[str, int] = self.free[n]
        if n in self.reserved:
            left = self.free[n].copy()
            for hold in self.reserved[n]:
                if hold.team_id == task.team_id:
                    continue
                if hold.is_whole:
                    return 0
                left[f"gpu.{hold.gpu_type}"] -= hold.gpus
                left["gpu"] -= hold.gpus
            free = left
        times = task.need.nodes if task.need.packs else 1
        for resource, amount in task.need.each:
            times = min(times, free.get(resource, 0) // amount)
        return max(times, 0)

    def move(self, held: Held, meters: Mapping[Meter, int], sign: int) -> None:
        """Take (-1) or give back (1) what a task holds."""
        for name, amounts in held.items():
            if (n := self.at.get(name)) is None:
                continue
            self.changed.append(n)
            for resource, amount in amounts.items():
                self.free[n][resource] += sign * amount
        moved = {meter: -sign * amount for meter, amount in meters.items() if meter in self.limits}
        self.limits.update(meters_after(self.limits, moved))


def starts(
    nodes: Sequence[NodeCapacity],
    limits: Mapping[Meter, QuotaUsage],
    running: Iterable[RunningTask],
    queue: Sequence[PendingTask],
    now: float,
    reserved: Iterable[ReservedGpus] = (),
) -> dict[Hashable, float]:
    """Return when each task of the queue starts; those that never do are missing.

    A task that runs longer than its limit ends now. Tasks without a limit do not end.
    """
    state = _Playing(nodes, limits, reserved)
    order = count()
    ends = [(max(one.ends, now), next(order), one) for one in running if one.ends is not None]
    heapify(ends)
    found: dict[Hashable, float] = {}
    waiting, at = list(queue), now
    while True:
        waiting = _start(state, waiting, found, at, ends, order)
        if not waiting or not ends:
            return found
        until = ends[0][0] + max(60, (ends[0][0] - now) * COARSE)
        while ends and ends[0][0] <= until:
            at, _n, ended = heappop(ends)
            state.move(ended.nodes, ended.meters, 1)


def _start(
    state: _Playing,
    waiting: Sequence[PendingTask],
    found: dict[Hashable, float],
    at: float,
    ends: list[tuple[float, int, RunningTask]],
    order: count[int],
) -> list[PendingTask]:
    """Start what can start, and return what still waits. Equal tasks are refused together."""
    left, refused = list[PendingTask](), set[Hashable]()
    for task in waiting:
        alike = (task.shape, task.holder)
        place = list[int]()
        if alike not in refused and state.has_quota(task):
            place = state.room_for(task)
        if not place:
            refused.add(alike)
            left.append(task)
            continue
        found[task.key] = at
        held = {
            state.nodes[n].name: _amounts(task.need, state.nodes[n], place.count(n))
            for n in set(place)
        }
        state.move(held, task.meters, -1)
        if task.seconds is not None:
            started = RunningTask(at + task.seconds, held, task.meters)
            heappush(ends, (at + task.seconds, next(order), started))
    return left


def _amounts(need: ResourceRequest, node: NodeCapacity, times: int) -> dict[str, int]:
    """Return what this many nodes of a job take of a node."""
    amounts = {resource: amount * times for resource, amount in need.each}
    types = [resource for resource in node.total if resource.startswith("gpu.")]
    if share_of(need.gpu_type):
        return amounts
    if need.gpu and need.gpu_type:
        amounts["gpu"] = need.gpu * times
    elif need.gpu and len(types) == 1:
        amounts[types[0]] = need.gpu * times
    return amounts


def held_on(
    resources: Mapping[str, int], nodes: Sequence[str], types: Mapping[str, Sequence[str]]
) -> Held:
    """Return the amounts that a task holds on each of its nodes. `types`: GPU types by node."""
    held: dict[str, dict[str, int]] = {}
    for name in nodes:
        amounts = {
            resource: amount // len(nodes)
            for resource, amount in resources.items()
            if resource in ("cpu", "memory", "gpu") or resource.startswith("gpu.")
        }
        is_typed = any(resource.startswith("gpu.") for resource in amounts)
        here = types.get(name, ())
        if "gpu" in amounts and not is_typed and len(here) == 1:
            amounts[f"gpu.{here[0]}"] = amounts["gpu"]
        held[name] = amounts
    return held
