"""What runs and waits on clusters: counts by organization and team, and jobs by node.

Only operators see the names of other organizations.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable
from typing import Any
from uuid import UUID

from django.db.models import Count, F, IntegerField, Q, QuerySet, Sum
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import Cast

from clusters.models import Cluster, Gpu, Pool
from clusters.workload import JobsByNode, NodeKey
from jobs.models import Attempt, Job
from jobs.models.attempt import placed_on
from jobs.selectors.jobs import visible_jobs
from schedulers.states import State
from workspaces.access.actors import Actor, authorize
from workspaces.access.permissions import Permission
from workspaces.models import Organization
from workspaces.tenancy.scope import platform_scope

MOST_JOBS = 2000  # running tasks that are named on nodes
_RUNS = Q(state__gte=State.STARTING)
# Written as the conditions of two partial indexes: `attempt_due` and `attempt_active`.
_UNFINISHED = Q(state=State.QUEUED) | Q(state__gt=State.QUEUED, state__lt=State.SUCCEEDED)


def load_of(actor: Actor, cluster: Cluster, pool: Pool | None = None) -> list[dict[str, Any]]:
    """Return the load of every organization's teams, most GPUs first.

    Operators only. Raises NotPermitted.
    """
    authorize(actor, Permission.CLUSTERS_READ)
    with platform_scope("operators see who uses a cluster"):
        rows = Attempt.objects.filter(_UNFINISHED, cluster=cluster)
        return _by_team(rows.filter(job__pool=pool) if pool else rows)


def counts_in(actor: Actor) -> dict[tuple[UUID, UUID | None], dict[str, int]]:
    """Return `runs` and `waits` of the organization's visible jobs, by (cluster, pool)."""
    rows = (
        visible_jobs(actor)
        .filter(state__lt=State.SUCCEEDED)
        .values("cluster_id", "pool_id")
        .annotate(
            runs=Count("id", filter=Q(state__gte=State.STARTING)),
            waits=Count("id", filter=Q(state__lt=State.STARTING)),
        )
    )
    return {
        (row["cluster_id"], row["pool_id"]): {"runs": row["runs"], "waits": row["waits"]}
        for row in rows.order_by()
    }


def load_in(actor: Actor, org: Organization, pool: Pool) -> list[dict[str, Any]]:
    """Return the load of one organization's teams, from the jobs that the actor may see."""
    jobs = visible_jobs(actor).filter(pool=pool, state__lt=State.SUCCEEDED)
    held = Sum(
        Cast(KeyTextTransform("gpu", F("resources")), IntegerField()),
        filter=Q(state__gte=State.STARTING),
    )
    rows = (
        jobs.order_by()
        .values("team__slug", "team__name")
        .annotate(
            runs=Count("id", filter=Q(state__gte=State.STARTING)),
            waits=Count("id", filter=Q(state__lt=State.STARTING)),
            gpus=held,
        )
    )
    return _sorted(
        [
            {
                "org": org.slug,
                "org_name": org.name,
                "team": row["team__slug"],
                "team_name": row["team__name"],
                "runs": row["runs"],
                "waits": row["waits"],
                "gpus": row["gpus"] or 0,
            }
            for row in rows
        ]
    )


def active_jobs_on(actor: Actor, cluster: Cluster) -> int:
    """Return how many jobs run or wait on the cluster. Operators only. Raises NotPermitted."""
    authorize(actor, Permission.CLUSTERS_READ)
    with platform_scope("operators see what depends on a cluster"):
        return Attempt.objects.filter(_UNFINISHED, cluster=cluster).values("job").distinct().count()


def active_attempts_on(cluster: Cluster) -> int:
    """Return how many attempts on the cluster have not ended."""
    return Attempt.objects.filter(_UNFINISHED, cluster=cluster).count()


def reserved_by_node(
    clusters: Iterable[UUID],
) -> dict[tuple[UUID, str], tuple[int, int, list[str]]]:
    """Return (millicores, bytes, UUIDs of GPUs) that the portal reserved, by (cluster, node)."""
    taken: dict[tuple[UUID, str], tuple[int, int, list[str]]] = {}
    with platform_scope("node capacity is shared by all organizations"):
        rows = list(
            Attempt.objects.filter(
                cluster__in=list(clusters),
                has_reservation=True,
                state__gt=State.QUEUED,
                state__lt=State.SUCCEEDED,
            )
            .exclude(placement=None)
            .values_list("cluster_id", "placement")
        )
    for cluster_id, placement in rows:
        for place in placed_on(placement):
            cpus, memory, gpus = taken.get((cluster_id, place["node"]), (0, 0, []))
            taken[cluster_id, place["node"]] = (
                cpus + place["cpus"],
                memory + place["memory"],
                [*gpus, *place["uuids"]],
            )
    return taken


def gpus_used_by(
    teams: Iterable[UUID], clusters: Iterable[UUID]
) -> dict[tuple[UUID, str, UUID], Counter[str]]:
    """Return the GPUs that jobs of these teams use, by (cluster, node, team) and type.

    The type is "" for a job that asked for any, unless the portal assigned its GPUs.
    """
    found: dict[tuple[UUID, str, UUID], Counter[str]] = defaultdict(Counter)
    with platform_scope("what a team uses counts against its reservation"):
        rows = list(
            Attempt.objects.filter(
                cluster__in=list(clusters),
                job__team__in=list(teams),
                job__resources__has_key="gpu",
                has_reservation=True,
                state__gt=State.QUEUED,
                state__lt=State.SUCCEEDED,
            ).values_list(
                "cluster_id", "job__team_id", "placement", "node", "nodes", "job__resources"
            )
        )
    uuids = {uuid for row in rows for part in placed_on(row[2]) for uuid in part["uuids"]}
    types = dict(Gpu.objects.filter(uuid__in=uuids).values_list("uuid", "type")) if uuids else {}
    for cluster_id, team_id, place, node, nodes, resources in rows:
        if place:
            for part in placed_on(place):
                counts = Counter(types.get(uuid, "") for uuid in part["uuids"])
                found[cluster_id, part["node"], team_id] += counts
            continue
        on = nodes or ([node] if node else [])
        kind = next((name[4:] for name in resources if name.startswith("gpu.")), "")
        for name in on:
            found[cluster_id, name, team_id][kind] += resources["gpu"] // len(on)
    return found


def jobs_visible_to(actor: Actor, names: Collection[str] | None = None) -> JobsByNode:
    """Return the organization's running jobs that the actor may see, by cluster and node.

    `names` limits them to jobs of these nodes, and to those of several nodes.
    """
    return _jobs_by_node(visible_jobs(actor), names)


def jobs_of_all(actor: Actor, names: Collection[str] | None = None) -> JobsByNode:
    """Return the running jobs of every organization by cluster and node. Raises NotPermitted."""
    authorize(actor, Permission.CLUSTERS_READ)
    with platform_scope("operators see what runs on a node"):
        return _jobs_by_node(Job.objects.all(), names)


def _jobs_by_node(jobs: QuerySet[Job], names: Collection[str] | None) -> JobsByNode:
    """Return rows of running jobs.

    `gpus` are indexes and `uuids` their UUIDs, None if the scheduler does not tell them.
    """
    found: dict[NodeKey, list[dict[str, Any]]] = defaultdict(list)
    there = Q() if names is None else Q(node__in=names) | Q(nodes__isnull=False)
    rows = (
        Attempt.objects.filter(
            there, state__gt=State.DISPATCHING, state__lt=State.SUCCEEDED, job__in=jobs
        )
        .order_by("job__number")
        .values_list(
            "cluster_id",
            "node",
            "nodes",
            "placement",
            "started_at",
            "job__number",
            "job__name",
            "job__team_id",
            "job__team__slug",
            "job__owner__name",
            "job__owner__email",
            "job__org__slug",
        )
    )
    known: dict[tuple[UUID, str, str, int], dict[str, Any]] = {}
    for cluster_id, first, several, placed, since, number, name, team_id, *who in rows[:MOST_JOBS]:
        team, owner, email, org = who
        parts = {part["node"]: part for part in placed_on(placed)}
        for node in several or [first]:
            part = parts.get(node)
            here, uuids = (part["gpus"], part["uuids"]) if part else (None, None)
            key = (cluster_id, node, org, number)
            if key in known:
                known[key]["gpus"] = [*(known[key]["gpus"] or ()), *(here or ())] or None
                known[key]["uuids"] = [*(known[key]["uuids"] or ()), *(uuids or ())] or None
                continue
            known[key] = {
                "number": number,
                "name": name,
                "team_id": str(team_id),
                "team": team,
                "owner": owner or email,
                "org": org,
                "started_at": since,
                "gpus": here,
                "uuids": uuids,
            }
            found[cluster_id, node].append(known[key])
    return found


def _by_team(rows: Any) -> list[dict[str, Any]]:
    held = Sum(Cast(KeyTextTransform("gpu", F("job__resources")), IntegerField()), filter=_RUNS)
    found = rows.values(
        "job__org__slug", "job__org__name", "job__team__slug", "job__team__name"
    ).annotate(
        runs=Count("job", distinct=True, filter=_RUNS),
        waits=Count("job", distinct=True, filter=~_RUNS),
        gpus=held,
    )
    made = [
        {
            "org": row["job__org__slug"],
            "org_name": row["job__org__name"],
            "team": row["job__team__slug"],
            "team_name": row["job__team__name"],
            "runs": row["runs"],
            "waits": row["waits"],
            "gpus": row["gpus"] or 0,
        }
        for row in found
    ]
    return _sorted(made)


def _sorted(made: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return sorted(
        made, key=lambda row: (-row["gpus"], -row["runs"], -row["waits"], row["org"], row["team"])
    )
