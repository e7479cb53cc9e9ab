"""Cache the nodes and GPUs that the GPU overview shows, one version per state of the inventory.

Reading and serializing 16,000 GPUs happens when the inventory changes, not for each viewer every
ten seconds.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

import orjson
from django.db.models import Count

from clusters.capacity import natural
from clusters.models import Cluster, Gpu, Node, Pool

Range = tuple[int, int]  # the first and the last index of neighbouring rows
Key = tuple[tuple[UUID, int, str], ...]
_kept: dict[Key, InventorySnapshot] = {}  # has one entry: the current inventory


@dataclass(frozen=True)
class ClusterRows:
    """The rows of one cluster, ordered by name.

    `text` is their JSON. Where it is known which GPUs are used, `rows` holds them without usage
    bits, and `bits` maps each GPU to its row and bit.
    """

    text: bytes
    rows: Sequence[list[Any]]
    bits: Mapping[str, tuple[int, int]]

    def with_used(self, uuids: Collection[str]) -> bytes:
        """Return the JSON with the bits of these GPUs set."""
        used: dict[int, int] = {}
        for at, bit in (self.bits[uuid] for uuid in uuids if uuid in self.bits):
            used[at] = used.get(at, 0) | 1 << bit
        return (
            _text([[*row[:4], used.get(at, 0), *row[5:]] for at, row in enumerate(self.rows)])
            if self.rows
            else self.text
        )


@dataclass(frozen=True)
class InventorySnapshot:
    """The serialized inventory.

    Rows refer to `types` and `partitions` by index; `places` maps each node to its index among all
    rows, as `ids` does by id. `racks` are the indexes of the nodes by the label "rack".
    """

    types: Sequence[str]
    partitions: Sequence[str]
    parts: Mapping[UUID, ClusterRows]
    places: Mapping[tuple[UUID, str], int]
    ids: Mapping[UUID, int]
    racks: Mapping[str, Sequence[Range]]
    members: Sequence[_Member]
    _pools: dict[tuple[Any, ...], Sequence[Range]] = field(default_factory=dict)

    def ranges_of(self, pool: Pool) -> Sequence[Range]:
        """Return the indexes of the pool's nodes; computed once per rule."""
        rule = (pool.cluster_id, pool.partition, pool.gpu_type, pool.labels_text)
        if rule not in self._pools:
            self._pools[rule] = _ranges(
                at for at, member in enumerate(self.members) if member.is_in(pool)
            )
        return self._pools[rule]


@dataclass(frozen=True)
class _Member:
    """What decides to which pools a node belongs."""

    cluster_id: UUID
    partitions: Sequence[str]
    types: Collection[str]
    labels: Mapping[str, str]

    def is_in(self, pool: Pool) -> bool:
        return (
            self.cluster_id == pool.cluster_id
            and (not pool.partition or pool.partition in self.partitions)
            and (not pool.gpu_type or pool.gpu_type in self.types)
            and all(self.labels.get(name) == value for name, value in pool.labels.items())
        )


def inventory_snapshot(clusters: Sequence[Cluster], exact: Collection[UUID]) -> InventorySnapshot:
    """Return the inventory of these clusters, in their order.

    Every change of a node or GPU increments `Cluster.inventory`, the cache key, so entries are
    never stale.
    """
    key = tuple(
        (cluster.id, cluster.inventory, "exact" if cluster.id in exact else "")
        for cluster in clusters
    )
    found = _kept.get(key)
    if found is None:
        found = _made(clusters, exact)
        _kept.clear()
        _kept[key] = found
    return found


def _made(clusters: Sequence[Cluster], exact: Collection[UUID]) -> InventorySnapshot:
    place = {cluster.id: at for at, cluster in enumerate(clusters)}
    types, partitions = _TextIndex(), _TextIndex()
    kinds, rows, places = _kinds(), {cluster.id: [] for cluster in clusters}, {}  # type: ignore[var-annotated]
    ids: dict[UUID, tuple[UUID, int]] = {}
    members: list[_Member] = []
    for node_id, cluster_id, name, is_ready, is_drained, used, parts, labels in _nodes(place):
        mine, state = kinds.get(node_id, []), 2 if not is_ready else 1 if is_drained else 0
        places[cluster_id, name] = len(places)
        ids[node_id] = (cluster_id, len(rows[cluster_id]))
        members.append(_Member(cluster_id, parts, {kind for kind, _ in mine}, labels))
        rows[cluster_id].append(
            [
                name,
                place[cluster_id],
                state,
                sum(n for _, n in mine),
                (1 << used) - 1,
                [types.at(kind) for kind, _ in mine],
                [partitions.at(part) for part in parts],
            ]
        )
    bits = _bits(exact, ids)
    return InventorySnapshot(
        types.all,
        partitions.all,
        places=places,
        ids={node_id: at for at, node_id in enumerate(ids)},
        racks=_racks(members),
        members=members,
        parts={
            pk: ClusterRows(_text(some), some if pk in exact else (), bits.get(pk, {}))
            for pk, some in rows.items()
        },
    )


def rack_of(labels: Mapping[str, str]) -> str:
    """Return the value of the label "rack", also of one such as "example.com/rack", else ""."""
    return next(
        (str(v) for name, v in labels.items() if name.rpartition("/")[2].lower() == "rack"), ""
    )


def _racks(members: Sequence[_Member]) -> dict[str, Sequence[Range]]:
    """Return the nodes by rack."""
    found: dict[str, list[int]] = {}
    for at, member in enumerate(members):
        if rack := rack_of(member.labels):
            found.setdefault(rack, []).append(at)
    return {rack: _ranges(found[rack]) for rack in sorted(found, key=natural)}


def _ranges(indexes: Iterable[int]) -> Sequence[Range]:
    """Return increasing indexes as ranges."""
    found: list[Range] = []
    for at in indexes:
        if found and found[-1][1] == at - 1:
            found[-1] = (found[-1][0], at)
        else:
            found.append((at, at))
    return found


class _TextIndex:
    """A list of unique words, referred to by index."""

    def __init__(self) -> None:
        self.all: list[str] = []
        self._places: dict[str, int] = {}

    def at(self, text: str) -> int:
        if text not in self._places:
            self._places[text] = len(self.all)
            self.all.append(text)
        return self._places[text]


def _nodes(clusters: Collection[UUID]) -> Any:
    return (
        Node.objects.filter(is_gone=False, cluster__in=list(clusters))
        .order_by("cluster__name", "name")
        .values_list(
            "id",
            "cluster_id",
            "name",
            "is_ready",
            "is_drained",
            "used_gpus",
            "partitions",
            "labels",
        )
    )


def _kinds() -> dict[UUID, list[tuple[str, int]]]:
    """Return the number of GPUs of each type, by node."""
    found: dict[UUID, list[tuple[str, int]]] = {}
    for node_id, kind, n in (
        Gpu.objects.filter(shares=None)
        .values_list("node_id", "type")
        .annotate(n=Count("id"))
        .order_by("type")
    ):
        found.setdefault(node_id, []).append((kind, n))
    return found


def _bits(
    exact: Collection[UUID], ids: Mapping[UUID, tuple[UUID, int]]
) -> dict[UUID, dict[str, tuple[int, int]]]:
    """Return the row and bit of each GPU, for clusters where the portal places jobs itself."""
    found: dict[UUID, dict[str, tuple[int, int]]] = {}
    order: dict[UUID, int] = {}
    for node_id, uuid in (
        Gpu.objects.filter(node__cluster__in=exact)
        .order_by("node_id", "index")
        .values_list("node_id", "uuid")
    ):
        at = order[node_id] = order.get(node_id, -1) + 1
        if node_id in ids:
            cluster_id, row = ids[node_id]
            found.setdefault(cluster_id, {})[uuid] = (row, at)
    return found


def _text(rows: Sequence[list[Any]]) -> bytes:
    """Serialize rows as JSON without the enclosing brackets."""
    return orjson.dumps(rows)[1:-1]
