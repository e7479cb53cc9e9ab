"""Load the snapshot that `admission` judges by."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from uuid import UUID

from django.db.models import Count, Q

from clusters.models import Cluster, Gpu
from clusters.node_capacity import node_usage_of
from clusters.sharing import not_served_text, only_org_id
from jobs.models import Attempt
from jobs.scheduling.admission import AdmissionRequest, ClusterSnapshot
from portal.core.messages import Message
from schedulers import capabilities_of
from schedulers.contract import Capability, Unavailable
from workspaces.models import Quota
from workspaces.quotas.gpu_hours import used_on
from workspaces.quotas.limits import GPU_HOURS, Meter, QuotaUsage
from workspaces.quotas.reservations import meter_of, quota_usage_of


def snapshot_of(
    cluster: Cluster, requests: Sequence[AdmissionRequest], *, is_idle: bool = False
) -> ClusterSnapshot:
    """Load limits of these requests, free node capacity, and running tasks of their jobs.

    `is_idle`: capacity as if nothing ran.
    """
    able_to, trouble, only = capabilities_of(cluster.backend), "", None
    places = Capability.PLACES in able_to
    try:
        only = only_org_id(cluster)
    except Unavailable as error:
        trouble = str(error)
    machines = node_usage_of(cluster, is_idle=is_idle) if places else []
    return ClusterSnapshot(
        limits=limits_of(requests),
        nodes=[machine.capacity for machine in machines],
        reserved_gpus=[hold for machine in machines for hold in machine.reserved_gpus],
        places=places,
        has_gangs=Capability.GANG in able_to,
        trouble=trouble
        if cluster.is_enabled
        else Message("An operator has switched this cluster off."),
        running=running_of(
            request.job_id for request in requests if request.max_parallel and request.job_id
        ),
        only_org=only,
        only_text=not_served_text(cluster) if only else "",
        only_gpu_type="" if places else _only_gpu_type(cluster),
    )


def _only_gpu_type(cluster: Cluster) -> str:
    """Return the type that all GPUs of a cluster have; "" if there are several or none."""
    types = Gpu.objects.filter(node__cluster=cluster).order_by().values_list("type", flat=True)
    found = list(types.distinct()[:2])
    return found[0] if len(found) == 1 else ""


def limits_of(requests: Iterable[AdmissionRequest]) -> dict[Meter, QuotaUsage]:
    """Return the limits and guarantees that concern these requests."""
    subjects = {
        subject
        for request in requests
        for subject in (request.org_id, request.team_id, request.user_id)
    }
    rows = Quota.objects.filter(
        Q(limit__isnull=False) | Q(guaranteed__gt=0), subject_id__in=subjects
    )
    found = {meter_of(row): quota_usage_of(row) for row in rows}
    if of_hours := [meter for meter in found if meter.resource == GPU_HOURS]:
        used = used_on(of_hours)
        found |= {meter: found[meter].moved(used[meter]) for meter in of_hours}
    return found


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
