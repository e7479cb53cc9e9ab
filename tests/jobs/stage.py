"""Test helpers: a cluster with given nodes, and jobs of the team Vision, without a scheduler."""

from __future__ import annotations

from typing import Any

from clusters.models import Cluster, Gpu, Node
from jobs import services
from jobs.dispatch.claims import claim_due, dispatch_cluster
from jobs.dispatch.submission import Claim, SubmissionPool
from jobs.models import Attempt, Job
from schedulers.spec import parse_mapping
from tests.story import Story
from workspaces.tenancy.scope import org_scope, platform_scope

GIB = 1 << 30


def cluster_with(cpus: float = 8, memory: int = 32 * GIB, gpus: int = 0, nodes: int = 1) -> Cluster:
    """Create a cluster of the local backend with this inventory."""
    cluster, _ = Cluster.objects.get_or_create(name="local", defaults={"backend": "local"})
    for n in range(nodes):
        node = Node.objects.create(
            cluster=cluster, name=f"n{n}", cpus=round(cpus * 1000), memory=memory
        )
        Gpu.objects.bulk_create(
            Gpu(
                node=node,
                index=i,
                uuid=f"GPU-{n}-{i}",
                model="NVIDIA H100",
                type="h100",
                memory=80 * GIB,
            )
            for i in range(gpus)
        )
    return cluster


def submit(story: Story, person: Any = None, **spec: Any) -> Job:
    """Submit a job to Vision as Ada, or as another person."""
    actor = story.actor(person or story.ada)
    with org_scope(story.atlas.id):
        return services.submit_job(
            actor=actor, team=story.vision, spec=parse_mapping({"run": "true", **spec})
        )


def claim_all(cluster: Cluster) -> list[Attempt]:
    """Claim until nothing more can start, as the dispatcher does."""
    taken: list[Attempt] = []
    while claim := claim_due(cluster.id):
        taken += claim.attempts
    return taken


def dispatch_all() -> int:
    """Dispatch every cluster until nothing more can start; return how many were handed over."""
    with platform_scope("dispatch"):
        return sum(dispatch_cluster(cluster) for cluster in Cluster.objects.all())


def hand_over(claim: Claim, workers: int = 8) -> None:
    """Submit one claim and apply the results."""
    with SubmissionPool(workers) as handover:
        handover.finish(handover.begin(claim))


def only_attempt(job: Job, index: int = 0) -> Attempt:
    """Return the current attempt of a task. Call it in a scope."""
    return Attempt.objects.select_related("job").get(job=job, index=index, is_current=True)
