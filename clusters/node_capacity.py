"""Nodes with their total and used capacity."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import Any, NamedTuple
from uuid import UUID

from django.db.models import Sum, TextField
from django.db.models.functions import Cast, Coalesce

from clusters.models import Cluster, Gpu, Node, node_state
from clusters.reserved_gpus import reserved_in
from clusters.workload import workload
from portal.core import messages
from schedulers import backends, capabilities_of
from schedulers.capacity import (
    GpuId,
    NodeCapacity,
    ReservedGpus,
    gpu_amounts,
    reported_capacity,
    withhold,
)
from schedulers.contract import Capability


class NodeRow(NamedTuple):
    """The fields of a `Node` that capacity needs: clusters have thousands of nodes."""

    id: UUID
    cluster_id: UUID
    name: str
    cpus: int
    memory: int
    labels: dict[str, str]
    is_ready: bool
    is_drained: bool
    is_gone: bool
    note: str
    partitions: list[str]
    used_cpus: int
    used_memory: int
    used_gpus: int
    used_shares: int

    @property
    def state(self) -> str:
        return node_state(self.is_ready, self.is_drained)


@dataclass(frozen=True)
class NodeUsage:
    """A node with its total and free capacity, and what is reserved for single teams."""

    node: NodeRow | Node
    capacity: NodeCapacity
    reserved_gpus: tuple[ReservedGpus, ...] = ()

    @cached_property
    def gpus(self) -> dict[str, int]:
        """The number of GPUs by type."""
        total = self.capacity.total
        return {name[4:]: n for name, n in total.items() if name.startswith("gpu.")}

    def used(self, resource: str) -> int:
        return self.capacity.total[resource] - self.capacity.free[resource]

    @cached_property
    def open_capacity(self) -> NodeCapacity:
        """The capacity without what is reserved."""
        return withhold(self.capacity, self.reserved_gpus) if self.reserved_gpus else self.capacity

    def reserved(self, resource: str) -> int:
        """Return how much of what is free is reserved."""
        return self.capacity.free[resource] - self.open_capacity.free[resource]

    def seen_by(self, team_id: UUID) -> NodeUsage:
        """Return the node as a team may use it: without its own reservations."""
        if not self.reserved_gpus:
            return self
        return replace(
            self, reserved_gpus=tuple(h for h in self.reserved_gpus if h.team_id != team_id)
        )


def node_usage_in(
    clusters: Iterable[Cluster], *, is_idle: bool = False
) -> dict[UUID, list[NodeUsage]]:
    """Return the nodes of these clusters, by cluster and in the order of names, with their usage.

    Usage is what the portal reserved if it places jobs, else what the scheduler reports. `is_idle`:
    as if the portal had reserved nothing.
    """
    clusters = list(clusters)
    found: dict[UUID, list[NodeUsage]] = {cluster.id: [] for cluster in clusters}
    known = {c.id: c.backend for c in clusters if c.backend in backends()}
    placing = {pk for pk, backend in known.items() if Capability.PLACES in capabilities_of(backend)}
    held = {} if is_idle or not placing else workload().reserved_by_node(placing)
    gpus, counts = _gpus(placing, known.keys() - placing)
    kept = {} if is_idle else reserved_in(known)
    for node in _rows(known):
        capacity = capacity_of_node(node, counts.get(node.id, {}))
        if node.cluster_id in placing:
            capacity = replace(capacity, free=capacity.total, free_gpus=gpus[node.id])
            if taken := held.get((node.cluster_id, node.name)):
                capacity = capacity.without(*taken)
        reserved = tuple(kept.get((node.cluster_id, node.name), ())) if kept else ()
        found[node.cluster_id].append(NodeUsage(node, capacity, reserved))
    return found


def _rows(clusters: Collection[UUID]) -> Iterator[NodeRow]:
    """Yield the nodes in the order of names.

    Many nodes are alike, so each text of labels, partitions and notes is decoded once, and rows
    share the result.
    """
    decode: dict[str, Callable[[str], Any]] = {
        "labels": cache(json.loads),
        "partitions": cache(json.loads),
        "note": cache(messages.loads),
    }
    names = [f"{name}_text" if name in decode else name for name in NodeRow.__annotations__]
    decoders = [decode.get(name) for name in NodeRow.__annotations__]
    rows = Node.objects.filter(cluster__in=clusters, is_gone=False).order_by("name")
    rows = rows.annotate(**{f"{name}_text": Cast(name, TextField()) for name in decode})
    for values in rows.values_list(*names):
        yield NodeRow(
            *(decoder(v) if decoder else v for v, decoder in zip(values, decoders, strict=True))
        )


def node_usage_of(cluster: Cluster, *, is_idle: bool = False) -> list[NodeUsage]:
    """Return the nodes of one cluster with their usage."""
    return node_usage_in([cluster], is_idle=is_idle)[cluster.id]


def capacity_of_node(node: NodeRow | Node, gpus: Mapping[str, int]) -> NodeCapacity:
    """Return the capacity with the usage that the scheduler reports. `gpus`: count by type."""
    total = {"cpu": node.cpus, "memory": node.memory, **gpu_amounts(gpus)}
    used = {"cpu": node.used_cpus, "memory": node.used_memory, "gpu": node.used_gpus}
    used["shares"] = node.used_shares
    return reported_capacity(node.name, total, used, is_up=node.state == "ready")


def _gpus(
    placing: Collection[UUID], others: Collection[UUID]
) -> tuple[dict[UUID, list[GpuId]], dict[UUID, dict[str, int]]]:
    """Return the GPUs by node where the portal assigns them, and the counts of all by type."""
    ids: dict[UUID, list[GpuId]] = defaultdict(list)
    counts: dict[UUID, dict[str, int]] = defaultdict(Counter)
    rows = Gpu.objects.order_by()
    if placing:
        named = rows.filter(node__cluster__in=placing).order_by("index", "uuid")
        for node_id, index, uuid, kind in named.values_list("node_id", "index", "uuid", "type"):
            ids[node_id].append(GpuId(index, uuid, kind))
            counts[node_id][kind] += 1
    if others:
        alike = rows.filter(node__cluster__in=others).values_list("node_id", "type")
        for node_id, kind, n in alike.annotate(n=Sum(Coalesce("shares", 1))):
            counts[node_id][kind] = n
    return ids, counts
