"""Report which GPUs are in use, by whom and since when."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from datetime import datetime
from uuid import UUID

from jobs.models import Attempt
from schedulers.states import State
from workspaces.quotas.gpu_hours import GpuUsage, register_running_usage


def register() -> None:
    """Register with the GPU-hour accounting at start-up."""
    register_running_usage(running)


def ran_of(attempt: Attempt, end: datetime | None) -> GpuUsage | None:
    """Return how long the attempt used GPUs on all nodes; None if it has none or never started.

    The attempt's job must be loaded.
    """
    gpus = attempt.job.resources.get("gpu", 0)
    if not gpus or attempt.started_at is None or end is None:
        return None
    return GpuUsage(
        attempt.org_id, attempt.job.team_id, attempt.job.owner_id, gpus, attempt.started_at, end
    )


def running(org_ids: Collection[UUID] | None, at: datetime) -> Iterator[GpuUsage]:
    """Yield the GPU use of running attempts until `at`."""
    where = {} if org_ids is None else {"org_id__in": org_ids}
    rows = Attempt.objects.filter(
        has_reservation=True,
        state__gt=State.QUEUED,
        state__lt=State.SUCCEEDED,
        started_at__isnull=False,
        job__resources__gpu__gt=0,
        **where,
    )
    for org, team, user, gpus, since in rows.values_list(
        "org_id", "job__team_id", "job__owner_id", "job__resources__gpu", "started_at"
    ):
        yield GpuUsage(org, team, user, int(gpus), since, at)
