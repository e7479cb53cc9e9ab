"""GPUs by class: what is provisioned, what is free now, and when more becomes free.

A class is what a job asks for: a model ("h100"), or a MIG profile ("mig-1g.10gb").
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db.models.fields.json import KeyTextTransform, KeyTransform

from clusters.capacity import inside_of
from clusters.free_capacity import FreeGpus, free_by_model
from clusters.health.selectors import OUT, HealthShape, finding_text, unhealthy_nodes
from clusters.models import Cluster, Device, Pool
from clusters.node_capacity import NodeUsage, node_usage_in
from clusters.pools import pools_visible_to
from jobs.models import Attempt
from portal.core import clock
from portal.core.messages import Message
from schedulers.shares import share_of
from schedulers.spec.grammar import parse_duration
from schedulers.states import State
from workspaces.access.actors import Actor
from workspaces.tenancy.scope import platform_scope

MOST_RUNNING = 20_000
MOST_ENDS = 3  # times that are told for each class
MOST_REASONS = 3
DOWN = Message("The node doesn't respond.")


@dataclass
class Supply:
    """The GPUs of one class in a cluster, or in one of its pools.

    `ends` are the next times at which running jobs reach their limit, with the GPUs that become
    free at each; jobs without a limit are not among them. `out` are the reasons of nodes that are out
    of service with their number, most first.
    """

    type: str
    cluster: Cluster
    pool: Pool | None
    gpus: FreeGpus
    unhealthy: int = 0
    out: list[tuple[str, int]] = field(default_factory=list)
    ends: list[tuple[datetime, int]] = field(default_factory=list)

    @property
    def is_mig(self) -> bool:
        return self.type.startswith("mig-")

    @property
    def is_share(self) -> bool:
        return bool(share_of(self.type))

    def as_dict(self) -> dict[str, Any]:
        gpus = self.gpus
        return {
            "type": self.type,
            "is_mig": self.is_mig,
            "is_share": self.is_share,
            "cluster": self.cluster.name,
            "pool": self.pool.name if self.pool else None,
            "total": gpus.total,
            "allocated": gpus.used,
            "reserved": gpus.reserved,
            "free": gpus.free,
            "out_of_service": gpus.off,
            "unhealthy": self.unhealthy,
            "out_reasons": [{"reason": reason, "nodes": n} for reason, n in self.out],
            "largest_on_one_node": gpus.largest,
            "next_free": [{"at": at, "gpus": n} for at, n in self.ends],
        }


def supply_of(actor: Actor) -> list[Supply]:
    """Return the GPUs of every enabled cluster, and of the pools that the actor may see."""
    clusters = list(Cluster.objects.filter(is_enabled=True).order_by("name"))
    machines = node_usage_in(clusters)
    ends, lost, sick = expected_ends(clusters), _lost_devices(), unhealthy_nodes(OUT)
    pools: dict[UUID, list[Pool]] = defaultdict(list)
    for pool in pools_visible_to(actor):
        pools[pool.cluster_id].append(pool)
    found = []
    for cluster in clusters:
        nodes = machines[cluster.id]
        for place in (None, *pools[cluster.id]):
            inside = inside_of(place, nodes) if place else nodes
            names = {machine.node.name for machine in inside}
            for kind, gpus in free_by_model(inside).items():
                if place and place.gpu_type not in ("", kind):
                    continue
                found.append(
                    Supply(
                        kind,
                        cluster,
                        place,
                        gpus,
                        sum(lost.get((m.node.id, kind), 0) for m in inside),
                        _out_reasons(kind, inside, sick),
                        next_free(ends[cluster.id], kind, names),
                    )
                )
    return sorted(found, key=lambda s: (s.type, s.cluster.name, s.pool.name if s.pool else ""))


def _out_reasons(
    kind: str, machines: Iterable[NodeUsage], sick: Mapping[UUID, HealthShape]
) -> list[tuple[str, int]]:
    """Return why nodes with these GPUs take no new jobs: the finding, or else the note."""
    counts: Counter[str] = Counter()
    for machine in machines:
        if machine.node.state == "ready" or not machine.gpus.get(kind):
            continue
        health = sick.get(machine.node.id)
        counts[finding_text(health) if health else machine.node.note or DOWN] += 1
    return counts.most_common(MOST_REASONS)


@dataclass(frozen=True)
class JobEnd:
    """When a running job reaches its limit. `type` is empty if it asked for any GPU."""

    at: datetime
    nodes: frozenset[str]
    type: str
    gpus: int


def expected_ends(clusters: Iterable[Cluster]) -> dict[UUID, list[JobEnd]]:
    """Return the ends of running jobs with GPUs and a time limit, of every organization."""
    found: dict[UUID, list[JobEnd]] = defaultdict(list)
    with platform_scope("what becomes free is free for every organization"):
        rows = Attempt.objects.filter(
            cluster__in=list(clusters),
            state__gt=State.QUEUED,
            state__lt=State.SUCCEEDED,
            started_at__isnull=False,
            job__resources__has_key="gpu",
        ).annotate(limit=KeyTextTransform("max_runtime", KeyTransform("policy", "job__spec")))
        taken = rows.values_list(
            "cluster_id", "started_at", "node", "nodes", "job__resources", "limit"
        )
        for cluster, since, node, nodes, resources, limit in taken[:MOST_RUNNING]:
            if not limit:
                continue
            at = since + timedelta(seconds=parse_duration(limit))
            types = [name[4:] for name in resources if name.startswith("gpu.")]
            where = frozenset(nodes or [node])
            found[cluster].append(JobEnd(at, where, types[0] if types else "", resources["gpu"]))
    return found


def next_free(ends: Sequence[JobEnd], kind: str, nodes: set[str]) -> list[tuple[datetime, int]]:
    """Return the next times when GPUs of a class become free on these nodes."""
    now = clock.now()
    due = sorted(
        (max(end.at, now), end.gpus)
        for end in ends
        if end.type in ("", kind) and not end.nodes.isdisjoint(nodes)
    )
    return due[:MOST_ENDS]


def _lost_devices() -> dict[tuple[UUID, str], int]:
    """Return the number of GPUs that do not respond, by node and class."""
    found: dict[tuple[UUID, str], int] = defaultdict(int)
    for node, kind in Device.objects.filter(is_lost=True).values_list("node_id", "type"):
        found[node, kind] += 1
    return found
