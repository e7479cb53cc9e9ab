"""Nodes as people see them: what there is, what is taken, how it goes right now."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any
from uuid import UUID

from clusters.models import Node
from jobs.models import Attempt
from jobs.selectors import visible_jobs
from jobs.states import State
from portal import series
from portal.core import clock
from workspaces.actors import Actor
from workspaces.tenancy.scope import platform_scope

FRESH_MS = 60_000


def node_rows(actor: Actor) -> list[dict[str, Any]]:
    """All nodes by cluster and name, with the jobs on them that the actor may see."""
    return _rows(list(Node.objects.select_related("cluster").prefetch_related("gpus").order_by("cluster__name", "name")), actor)


def node_row(node: Node, actor: Actor) -> dict[str, Any]:
    """One node."""
    return _rows([node], actor)[0]


def _rows(nodes: Sequence[Node], actor: Actor) -> list[dict[str, Any]]:
    taken, mine = _taken(), _jobs_seen_by(actor)
    latest = series.latest_of([_owner(node) for node in nodes])
    return [_row(node, taken[node.name], mine[node.name], latest[_owner(node)]) for node in nodes]


def _owner(node: Node) -> str:
    return f"node:{node.id.hex}"


def _row(node: Node, taken: list[dict[str, Any]], jobs: list[dict[str, Any]], latest: dict[str, Any]) -> dict[str, Any]:
    used = {gpu for place in taken for gpu in place["uuids"]}
    return {
        "id": str(node.id), "name": node.name, "cluster": node.cluster.name, "is_ready": node.is_ready and not node.cluster.trouble,
        "note": node.note, "trouble": node.cluster.trouble, "seen_at": node.seen_at, "labels": node.labels,
        "cpus": {"total": node.cpus / 1000, "held": sum(p["cpus"] for p in taken) / 1000},
        "memory": {"total": node.memory, "held": sum(p["memory"] for p in taken)},
        "gpus": [{"index": g.index, "uuid": g.uuid, "model": g.model, "type": g.type, "memory": g.memory, "is_held": g.uuid in used}
                 for g in sorted(node.gpus.all(), key=lambda g: g.index)],
        "jobs": jobs, "latest": latest, "now": clock.now(),
    }


def _taken() -> dict[str, list[dict[str, Any]]]:
    """Placements by node, of every organization: what is taken is taken."""
    found: dict[str, list[dict[str, Any]]] = defaultdict(list)
    with platform_scope("what is taken on a node is taken for every organization"):
        for place in Attempt.objects.filter(is_held=True).exclude(placement=None).values_list("placement", flat=True):
            found[place["node"]].append(place)
    return found


def _jobs_seen_by(actor: Actor) -> dict[str, list[dict[str, Any]]]:
    """Running jobs of the organization entered that the actor may see, by node."""
    found: dict[str, list[dict[str, Any]]] = defaultdict(list)
    rows = (Attempt.objects.filter(state__gt=State.DISPATCHING, state__lt=State.SUCCEEDED, job__in=visible_jobs(actor))
            .select_related("job").order_by("job__number"))
    seen: set[tuple[str, UUID]] = set()
    for attempt in rows[:500]:
        if (attempt.node, attempt.job_id) not in seen:
            seen.add((attempt.node, attempt.job_id))
            found[attempt.node].append({"number": attempt.job.number, "name": attempt.job.name, "team_id": str(attempt.job.team_id)})
    return found
