"""Load the snapshot that `admission` judges by."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from uuid import UUID

from django.db.models import Count, Q

from clusters.models import Cluster, Node
from clusters.sharing import not_served_text, only_org_id
from jobs.models import Attempt
from jobs.scheduling.admission import ClusterSnapshot, NodeAvailability, ResourceRequest
from schedulers import capabilities_of
from schedulers.contract import Capability, Unavailable
from schedulers.states import State
from workspaces.models import Quota
from workspaces.quotas.gpu_hours import used_on
from workspaces.quotas.limits import GPU_HOURS, Meter, QuotaUsage
from workspaces.quotas.reservations import meter_of, quota_usage_of
from workspaces.tenancy.scope import platform_scope


def snapshot_of(
    cluster: Cluster, asks: Sequence[ResourceRequest], *, is_empty: bool = False
) -> ClusterSnapshot:
    """Load limits of these requests, free node capacity, and running tasks of their jobs.

    `is_empty`: capacity as if nothing ran.
    """
    places, trouble, only = Capability.PLACES in capabilities_of(cluster.backend), "", None
    try:
        only = only_org_id(cluster)
    except Unavailable as error:
        trouble = str(error)
    return ClusterSnapshot(
        limits=limits_of(asks),
        nodes=_nodes(cluster, is_empty) if places else (),
        places=places,
        trouble=trouble if cluster.is_enabled else "An operator has switched this cluster off.",
        running=running_of(ask.job_id for ask in asks if ask.max_parallel and ask.job_id),
        only_org=only,
        only_text=not_served_text(cluster) if only else "",
    )


def limits_of(asks: Iterable[ResourceRequest]) -> dict[Meter, QuotaUsage]:
    """Return the limits and guarantees that concern these requests."""
    subjects = {subject for ask in asks for subject in (ask.org_id, ask.team_id, ask.user_id)}
    rows = Quota.objects.filter(
        Q(limit__isnull=False) | Q(guaranteed__gt=0), subject_id__in=subjects
    )
    found = {meter_of(row): quota_usage_of(row) for row in rows}
    if of_hours := [meter for meter in found if meter.resource == GPU_HOURS]:
        used = used_on(of_hours)
        found |= {meter: found[meter].moved(used[meter]) for meter in of_hours}
    return found


def _nodes(cluster: Cluster, is_empty: bool) -> list[NodeAvailability]:
    rooms = {
        node.name: _empty(node)
        for node in Node.objects.filter(cluster=cluster, is_ready=True, is_drained=False)
        .order_by("name")
        .prefetch_related("gpus")
    }
    if is_empty:
        return list(rooms.values())
    with platform_scope("node capacity is shared by all organizations"):
        held = Attempt.objects.filter(
            cluster=cluster, has_reservation=True, state__gt=State.QUEUED, state__lt=State.SUCCEEDED
        )
        places = list(held.values_list("placement", flat=True))
    for place in places:
        if place and place["node"] in rooms:
            room = rooms[place["node"]]
            room.cpus -= place["cpus"]
            room.memory -= place["memory"]
            room.gpus = [g for g in room.gpus if g[1] not in place["uuids"]]
    return list(rooms.values())


def _empty(node: Node) -> NodeAvailability:
    gpus = sorted((g.index, g.uuid, g.type) for g in node.gpus.all())
    return NodeAvailability(
        node.name, node.cpus, node.memory, list(gpus), node.cpus, node.memory, gpus
    )


def running_of(job_ids: Iterable[UUID]) -> dict[UUID, int]:
    """Return how many tasks of each job have resources reserved."""
    wanted = set(job_ids)
    running: dict[UUID, int] = defaultdict(int)
    if wanted:
        rows = (
            Attempt.objects.filter(job__in=wanted, has_reservation=True)
            .values("job_id")
            .annotate(n=Count("id"))
        )
        running.update({row["job_id"]: row["n"] for row in rows})
    return running
