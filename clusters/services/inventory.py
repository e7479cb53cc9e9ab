"""Store nodes and GPUs as the backend reports them, in few statements; write only changes."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, cast
from uuid import UUID

from django.db import transaction
from django.db.models import F

from clusters.models import Cluster, Gpu, Node
from portal.core import clock
from portal.core.messages import Message
from portal.core.wakeups import wake_worker
from schedulers.contract import (
    Backend,
    Capability,
    DiskSpace,
    NodeFacts,
    SupportsDisk,
    Unavailable,
)

log = logging.getLogger(__name__)

BATCH = 500  # rows per statement
_GONE = Message("The cluster no longer reports this node.")
# Fields that affect whether a pending job can start.
_ROOM = (
    "cpus",
    "memory",
    "labels",
    "is_ready",
    "is_drained",
    "is_gone",
    "partitions",
)
_FACTS = (*_ROOM, "note", "used_cpus", "used_memory", "used_gpus", "used_shares", "runs")
_GPU = ("index", "model", "type", "memory", "compute", "shares")


def take_inventory(cluster: Cluster, backend: Backend) -> None:
    """Store what the backend reports; missing nodes stay as not ready. Raises Unavailable."""
    facts = {node.name: node for node in backend.inventory()}
    disk = _disk_of(backend)
    now = clock.now()
    with transaction.atomic():
        known = {
            row["name"]: row
            for row in Node.objects.filter(cluster=cluster).values("id", "name", *_FACTS)
        }
        is_written, is_moved = _write_nodes(cluster, known, facts, now)
        is_written |= _mark_gone(
            [row["id"] for name, row in known.items() if name not in facts and not row["is_gone"]]
        )
        if _write_gpus(cluster, facts):
            is_written = is_moved = True
        Cluster.objects.filter(id=cluster.id).update(
            counted_at=now,
            inventory=F("inventory") + int(is_written),
            disk_used=disk.used if disk else None,
            disk_free=disk.free if disk else None,
        )
        if is_moved:
            wake_worker("jobs.dispatch")


def _disk_of(backend: Backend) -> DiskSpace | None:
    if Capability.DISK not in backend.capabilities:
        return None
    try:
        return cast(SupportsDisk, backend).disk_space()
    except Unavailable as error:
        log.warning("it is not known how full the disk with the files of jobs is: %s", error)
        return None


def _write_nodes(
    cluster: Cluster,
    known: Mapping[str, Mapping[str, Any]],
    facts: Mapping[str, NodeFacts],
    now: datetime,
) -> tuple[bool, bool]:
    """Write changed nodes; return whether any changed, and whether pending jobs are affected."""
    fresh, changed, is_moved = [], [], False
    for name, node in facts.items():
        values, before = _values(node), known.get(name)
        if before is None:
            fresh.append(Node(cluster=cluster, name=name, seen_at=now, **values))
        elif any(before[field] != value for field, value in values.items()):
            changed.append(Node(id=before["id"], cluster=cluster, name=name, seen_at=now, **values))
            is_moved |= any(before[field] != values[field] for field in _ROOM)
    Node.objects.bulk_create(fresh, batch_size=BATCH)
    Node.objects.bulk_create(
        changed,
        batch_size=BATCH,
        update_conflicts=True,
        unique_fields=["cluster", "name"],
        update_fields=[*_FACTS, "seen_at"],
    )
    return bool(fresh or changed), bool(fresh) or is_moved


def _values(facts: NodeFacts) -> dict[str, Any]:
    return {
        "cpus": round(facts.cpus * 1000),
        "memory": facts.memory,
        "labels": dict(facts.labels),
        "is_ready": facts.is_ready,
        "is_drained": facts.is_drained,
        "is_gone": False,
        "partitions": sorted(facts.partitions),
        "note": facts.note[:300],
        "used_cpus": round(facts.used_cpus * 1000),
        "used_memory": facts.used_memory,
        "used_gpus": facts.used_gpus,
        "used_shares": facts.used_shares,
        "runs": {
            k: v[:30]
            for k, v in (("arch", facts.arch), ("driver", facts.driver), ("cuda", facts.cuda))
            if v
        },
    }


def _mark_gone(ids: list[UUID]) -> bool:
    for some in _batches(ids):
        Node.objects.filter(id__in=some).update(
            is_ready=False,
            is_gone=True,
            note=_GONE,
            used_cpus=0,
            used_memory=0,
            used_gpus=0,
            used_shares=0,
        )
    return bool(ids)


def _write_gpus(cluster: Cluster, facts: Mapping[str, NodeFacts]) -> bool:
    """Write changed GPUs; return whether any changed. GPUs of missing nodes stay."""
    nodes = dict(Node.objects.filter(cluster=cluster, is_gone=False).values_list("name", "id"))
    wanted = {
        (nodes[name], gpu.uuid): (
            gpu.index,
            gpu.model,
            gpu.type,
            gpu.memory,
            gpu.compute[:10],
            gpu.shares or None,
        )
        for name, node in facts.items()
        for gpu in node.gpus
    }
    rows = Gpu.objects.filter(node__cluster=cluster, node__is_gone=False).values_list(
        "id", "node_id", "uuid", *_GPU
    )
    known = {(node, uuid): (gpu_id, tuple(rest)) for gpu_id, node, uuid, *rest in rows}
    gone = [gpu_id for key, (gpu_id, _) in known.items() if key not in wanted]
    for some in _batches(gone):
        Gpu.objects.filter(id__in=some).delete()
    written = [
        Gpu(node_id=node, uuid=uuid, **dict(zip(_GPU, values, strict=True)))
        for (node, uuid), values in wanted.items()
        if known.get((node, uuid), (None, None))[1] != values
    ]
    Gpu.objects.bulk_create(
        written,
        batch_size=BATCH * 4,
        update_conflicts=True,
        unique_fields=["node", "uuid"],
        update_fields=_GPU,
    )
    return bool(gone or written)


def _batches(ids: list[UUID]) -> Iterable[list[UUID]]:
    return (ids[at : at + BATCH] for at in range(0, len(ids), BATCH))
