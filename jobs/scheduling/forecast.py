"""Play the queue of a cluster forward: when each pending task starts if running ones use their time.

Pure. Tasks start by the planner's rules: in the order of the queue, each as soon as its quotas and the
nodes have room for it (`docs/design/jobs.md`, "Expected start").
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from heapq import heapify, heappop, heappush
from itertools import count
from uuid import UUID

from schedulers.capacity import Candidates, NodeCapacity, ReservedGpus, ResourceRequest
from workspaces.quotas.limits import Meter, QuotaUsage, first_full_meter, meters_after

MOST_ENDS = 3_000  # ends that are played
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


@dataclass
class _Playing:
    """The free resources and the meters at one time."""

    nodes: Sequence[NodeCapacity]
    limits: Mapping[Meter, QuotaUsage]
    reserved: Mapping[str, Sequence[ReservedGpus]]
    free: dict[str, Counter[str]]
    lacks_nodes: set[Hashable] = field(default_factory=set)  # shapes that only wait for nodes

    def has_quota(self, task: PendingTask) -> bool:
        return first_full_meter(self.limits, task.checked) is None

    def room_for(self, task: PendingTask, names: set[str] | None) -> list[NodeCapacity]:
        """Return the nodes for it among these, or among all; empty without room."""
        open_to_it = [
            node
            for node in self.nodes
            if (task.nodes is None or node.name in task.nodes)
            and (names is None or node.name in names)
        ]
        found = Candidates(open_to_it).first_fit(
            task.need, lambda node: self._open(node, task.team_id)
        )
        return found if len(found) == task.need.nodes else []

    def _open(self, node: NodeCapacity, team_id: UUID) -> Mapping[str, int]:
        """Return what is free on a node without what is reserved for other teams."""
        if not node.is_up:
            return {}
        free = self.free[node.name]
        for hold in self.reserved.get(node.name, ()):
            if hold.team_id == team_id:
                continue
            if hold.is_whole:
                return {}
            free = free.copy()
            free[f"gpu.{hold.gpu_type}"] -= hold.gpus
            free["gpu"] -= hold.gpus
        return free

    def move(self, held: Held, meters: Mapping[Meter, int], sign: int) -> None:
        """Take (-1) or give back (1) what a task holds."""
        for name, amounts in held.items():
            for resource, amount in amounts.items():
                if name in self.free:
                    self.free[name][resource] += sign * amount
        moved = {meter: -sign * amount for meter, amount in meters.items()}
        self.limits = {**self.limits, **meters_after(self.limits, moved)}


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
    by_node: dict[str, list[ReservedGpus]] = defaultdict(list)
    for hold in reserved:
        by_node[hold.node].append(hold)
    state = _Playing(nodes, limits, by_node, {node.name: Counter(node.free) for node in nodes})
    order = count()
    ends = [(max(one.ends, now), next(order), one) for one in running if one.ends is not None]
    heapify(ends)
    found: dict[Hashable, float] = {}
    waiting, at, freed = list(queue), now, None
    for _ in range(MOST_ENDS):
        waiting = _start(state, waiting, found, at, freed, ends, order)
        if not waiting or not ends:
            break
        at, freed = ends[0][0], set[str]()
        while ends and ends[0][0] <= at + 60:
            at, _n, ended = heappop(ends)
            state.move(ended.nodes, ended.meters, 1)
            freed |= ended.nodes.keys()
    return found


def _start(
    state: _Playing,
    waiting: Sequence[PendingTask],
    found: dict[Hashable, float],
    at: float,
    freed: set[str] | None,
    ends: list[tuple[float, int, RunningTask]],
    order: count[int],
) -> list[PendingTask]:
    """Start what can start, and return what still waits. Equal tasks are refused together.

    `freed`: the nodes that have more room than when everything was tried last; None for the first time.
    """
    left, refused = list[PendingTask](), set[Hashable]()
    for task in waiting:
        shape = (task.need, task.team_id, task.nodes, tuple(task.checked.items()))
        if shape in refused:
            left.append(task)
            continue
        place = list[NodeCapacity]()
        if state.has_quota(task):
            is_narrow = shape in state.lacks_nodes and task.need.nodes == 1
            place = state.room_for(task, freed if is_narrow else None)
            state.lacks_nodes.add(shape)
        else:
            state.lacks_nodes.discard(shape)
        if not place:
            refused.add(shape)
            left.append(task)
            continue
        found[task.key] = at
        held = {name: _amounts(task.need, place, name) for name in {node.name for node in place}}
        state.move(held, task.meters, -1)
        if task.seconds is not None:
            started = RunningTask(at + task.seconds, held, task.meters)
            heappush(ends, (at + task.seconds, next(order), started))
    return left


def _amounts(need: ResourceRequest, place: Sequence[NodeCapacity], name: str) -> dict[str, int]:
    """Return what the nodes of a job that share one node take of it."""
    times = sum(node.name == name for node in place)
    gpu_types = [kind for kind in place[0].total if kind.startswith("gpu.")]
    amounts = {resource: amount * times for resource, amount in need.each}
    if need.gpu and need.gpu_type:
        amounts["gpu"] = need.gpu * times
    elif need.gpu and len(gpu_types) == 1:
        amounts[gpu_types[0]] = need.gpu * times
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
