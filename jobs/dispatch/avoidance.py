"""Keep retries off nodes and GPUs that failed, as long as the job could run without them."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from clusters.models import Cluster
from clusters.node_capacity import NodeUsage, node_usage_of
from clusters.pools import is_in
from jobs.models import Attempt
from schedulers import capabilities_of
from schedulers.capacity import Candidates, ResourceRequest, idle
from schedulers.contract import Capability


def excluded_nodes(cluster: Cluster, attempts: Sequence[Attempt]) -> dict[UUID, tuple[str, ...]]:
    """Return the nodes that the scheduler must not use, by attempt.

    Empty where the portal places jobs itself, and for jobs that only these nodes could run.
    """
    due = [a for a in attempts if a.avoid and a.avoid.get("nodes")]
    if not due or Capability.PLACES in capabilities_of(cluster.backend):
        return {}
    machines = node_usage_of(cluster)
    found = {a.id: tuple(a.avoid["nodes"]) for a in due if a.avoid}
    return {a.id: found[a.id] for a in due if _could_run(cluster, a, machines, found[a.id])}


def _could_run(
    cluster: Cluster, attempt: Attempt, machines: Sequence[NodeUsage], excluded: Sequence[str]
) -> bool:
    job = attempt.job
    need = ResourceRequest.of_totals(job.resources, job.spec.get("num_nodes", 1))
    left = [
        machine.capacity
        for machine in machines
        if machine.node.name not in excluded
        and (job.pool is None or is_in(job.pool, machine.node, machine.gpus))
    ]
    return len(Candidates(left).first_fit(need, idle)) == need.nodes
