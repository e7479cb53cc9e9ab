"""Nodes with their total and used capacity."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from uuid import UUID

from django.db.models import Count

from clusters.models import Cluster, Gpu, Node
from clusters.workload import workload
from schedulers import backends, capabilities_of
from schedulers.contract import Capability


@dataclass(frozen=True)
class NodeRequirements:
    """The request of each node of a job in quota units, and the number of nodes."""

    cpus: int
    memory: int
    gpus: int
    gpu_type: str
    nodes: int


@dataclass(frozen=True)
class NodeUsage:
    """A node with its total and used capacity. `gpus`: count by type."""

    node: Node
    gpus: Mapping[str, int]
    used_cpus: int
    used_memory: int
    used_gpus: int

    def has(self, need: NodeRequirements) -> int:
        """Count the GPUs of the requested type."""
        return sum(n for kind, n in self.gpus.items() if need.gpu_type in ("", kind))

    def free_gpus(self, need: NodeRequirements) -> int:
        """Count the free GPUs of the requested type.

        Schedulers do not say which GPUs are used, so a node with two types assumes the worst.
        """
        return max(min(self.has(need), self.has(need) - self.used_gpus), 0)

    def could(self, need: NodeRequirements) -> int:
        """Count how many of the job's nodes it could be if idle."""
        return _times(need, self.node.cpus, self.node.memory, self.has(need))

    def can(self, need: NodeRequirements) -> int:
        """Count how many of the job's nodes it could be now."""
        free = (
            self.node.cpus - self.used_cpus,
            self.node.memory - self.used_memory,
            self.free_gpus(need),
        )
        return _times(need, *free) if self.node.state == "ready" else 0


def _times(need: NodeRequirements, cpus: int, memory: int, gpus: int) -> int:
    asked = ((need.cpus, cpus), (need.memory, memory), (need.gpus, gpus))
    return max(min(has // ask for ask, has in asked if ask), 0)


def node_usage_in(clusters: Iterable[Cluster]) -> dict[UUID, list[NodeUsage]]:
    """Return the nodes of these clusters, by cluster, with their usage."""
    wanted = {cluster.id: cluster for cluster in clusters}
    found = _machines(
        {pk: cluster for pk, cluster in wanted.items() if cluster.backend in backends()}
    )
    return {pk: found.get(pk, []) for pk in wanted}


def node_usage_of(cluster: Cluster) -> list[NodeUsage]:
    """Return the nodes of one cluster with their usage."""
    return node_usage_in([cluster])[cluster.id]


def _machines(clusters: Mapping[UUID, Cluster]) -> dict[UUID, list[NodeUsage]]:
    """Return the current nodes by cluster.

    Usage is what the portal reserved if it places jobs, else what the scheduler reports.
    """
    kinds: dict[UUID, dict[str, int]] = defaultdict(dict)
    for node_id, kind, n in (
        Gpu.objects.filter(node__cluster__in=clusters)
        .values_list("node_id", "type")
        .annotate(n=Count("id"))
    ):
        kinds[node_id][kind] = n
    placing = {c.id for c in clusters.values() if Capability.PLACES in capabilities_of(c.backend)}
    held = workload().reserved_by_node(placing)
    found: dict[UUID, list[NodeUsage]] = defaultdict(list)
    for node in Node.objects.filter(cluster__in=clusters, is_gone=False):
        cpus, memory, gpus = (
            held.get((node.cluster_id, node.name), (0, 0, 0))
            if node.cluster_id in placing
            else (node.used_cpus, node.used_memory, node.used_gpus)
        )
        found[node.cluster_id].append(NodeUsage(node, kinds[node.id], cpus, memory, gpus))
    return found
