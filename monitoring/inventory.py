"""Cache the nodes and GPUs that the GPU overview shows, one version per state of the inventory.

Reading and serializing 16,000 GPUs happens when the inventory changes, not for each viewer every
ten seconds.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import orjson
from django.db.models import Count

from clusters.models import Cluster, Gpu, Node

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
    rows.
    """

    types: Sequence[str]
    partitions: Sequence[str]
    parts: Mapping[UUID, ClusterRows]
    places: Mapping[tuple[UUID, str], int]


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
    place, types, partitions = (
        {cluster.id: at for at, cluster in enumerate(clusters)},
        _WordIndex(),
        _WordIndex(),
    )
    kinds, rows, places = _kinds(), {cluster.id: [] for cluster in clusters}, {}  # type: ignore[var-annotated]
    ids: dict[UUID, tuple[UUID, int]] = {}
    for node_id, cluster_id, name, is_ready, is_drained, used, parts in _nodes(place):
        mine, state = kinds.get(node_id, []), 2 if not is_ready else 1 if is_drained else 0
        places[cluster_id, name] = len(places)
        ids[node_id] = (cluster_id, len(rows[cluster_id]))
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
        parts={
            pk: ClusterRows(_text(some), some if pk in exact else (), bits.get(pk, {}))
            for pk, some in rows.items()
        },
    )


class _WordIndex:
    """A list of unique words, referred to by index."""

    def __init__(self) -> None:
        self.all: list[str] = []
        self._places: dict[str, int] = {}

    def at(self, word: str) -> int:
        if word not in self._places:
            self._places[word] = len(self.all)
            self.all.append(word)
        return self._places[word]


def _nodes(clusters: Collection[UUID]) -> Any:
    return (
        Node.objects.filter(is_gone=False, cluster__in=list(clusters))
        .order_by("cluster__name", "name")
        .values_list(
            "id", "cluster_id", "name", "is_ready", "is_drained", "used_gpus", "partitions"
        )
    )


def _kinds() -> dict[UUID, list[tuple[str, int]]]:
    """Return the number of GPUs of each type, by node."""
    found: dict[UUID, list[tuple[str, int]]] = {}
    for node_id, kind, n in (
        Gpu.objects.values_list("node_id", "type").annotate(n=Count("id")).order_by("type")
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
