"""GPU utilization of running jobs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from statistics import fmean
from uuid import UUID

from jobs.models import Attempt, Job
from portal import series
from portal.core import clock
from schedulers.states import State

GPU_UTILIZATION = "gpu.utilization"  # series of node agents: 0 to 1, per GPU
WINDOW_MS = 5 * 60_000


def gpu_utilization_of(jobs: Sequence[Job]) -> dict[UUID, float]:
    """Return the mean GPU utilization (0 to 1) of running jobs over the last five minutes.

    Jobs that do not run, have no GPU or are not measured are left out. Two statements.
    """
    active = [
        job.id
        for job in jobs
        if job.resources.get("gpu")
        and job.state > State.DISPATCHING
        and not State(job.state).is_final
    ]
    if not active:
        return {}
    rows = Attempt.objects.filter(
        job__in=active, is_current=True, state__gt=State.DISPATCHING, state__lt=State.SUCCEEDED
    )
    owners = {f"attempt:{pk.hex}": job for pk, job in rows.values_list("id", "job_id")[:2000]}
    values: dict[UUID, list[float]] = defaultdict(list)
    means = series.recent_means(owners, GPU_UTILIZATION, start_ms=clock.now_ms() - WINDOW_MS)
    for owner, by_gpu in means.items():
        values[owners[owner]] += by_gpu.values()
    return {job: round(fmean(some), 3) for job, some in values.items()}
