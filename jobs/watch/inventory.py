"""Nodes and GPUs as the backend describes them. Observed, never typed in; what did not change is not written."""

from __future__ import annotations

from collections.abc import Sequence

from django.db import transaction

from clusters.models import Cluster, Gpu, Node
from jobs.backends.base import Backend, GpuFacts, NodeFacts
from portal.core import clock
from portal.core.hints import hint


def take_inventory(cluster: Cluster, backend: Backend) -> None:
    """Bring the rows up to what the backend says now; nodes it no longer names are kept as not ready. Raises Unavailable."""
    facts = {node.name: node for node in backend.inventory()}
    with transaction.atomic():
        known = {node.name: node for node in Node.objects.filter(cluster=cluster)}
        changed = [_write_node(cluster, known.get(name), node) for name, node in facts.items()]
        gone = Node.objects.filter(cluster=cluster, is_ready=True).exclude(name__in=facts)
        gone.update(is_ready=False, note="The cluster no longer names this node.")
        Node.objects.filter(cluster=cluster, name__in=facts).update(seen_at=clock.now())
        if any(changed):
            hint("jobs.dispatch")


def _write_node(cluster: Cluster, node: Node | None, facts: NodeFacts) -> bool:
    """True when something changed."""
    values = {"cpus": round(facts.cpus * 1000), "memory": facts.memory, "labels": dict(facts.labels),
              "is_ready": facts.is_ready, "note": facts.note[:300]}
    changed = node is None or any(getattr(node, name) != value for name, value in values.items())
    if node is None:
        node = Node.objects.create(cluster=cluster, name=facts.name, **values)
    elif changed:
        Node.objects.filter(id=node.id).update(**values)
    return _write_gpus(node, facts.gpus) or changed


def _write_gpus(node: Node, facts: Sequence[GpuFacts]) -> bool:
    known = {gpu.uuid: gpu for gpu in Gpu.objects.filter(node=node)}
    wanted = {gpu.uuid: gpu for gpu in facts}
    gone = known.keys() - wanted.keys()
    if gone:
        Gpu.objects.filter(node=node, uuid__in=gone).delete()
    fresh = [Gpu(node=node, index=g.index, uuid=g.uuid, model=g.model, type=g.type, memory=g.memory)
             for g in wanted.values() if g.uuid not in known]
    Gpu.objects.bulk_create(fresh)
    return bool(gone or fresh)
