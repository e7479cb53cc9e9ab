"""What logs of jobs take, for the pages of storage."""

from __future__ import annotations

from django.db.models import Count, Sum

from jobs.data.log_storage import largest
from jobs.kinds.workload_kinds import page_at
from jobs.models import Attempt
from jobs.selectors.jobs import visible_jobs
from portal.core.messages import Message
from workspaces.quotas.space import SpaceQuery, SpaceSource, SpaceUse, Total


def _total(asked: SpaceQuery) -> Total:
    jobs = asked.narrow(visible_jobs(asked.actor))
    rows = Attempt.objects.filter(job__in=jobs, log_bytes__gt=0)
    sums = rows.aggregate(n=Count("job_id", distinct=True), bytes=Sum("log_bytes"))
    return Total(sums["n"], sums["bytes"] or 0)


def _largest(asked: SpaceQuery, most: int) -> list[SpaceUse]:
    jobs = asked.narrow(visible_jobs(asked.actor)).select_related("team", "owner")
    return [
        SpaceUse(
            f"#{job.number} {job.name}",
            size,
            job.team.slug,
            job.owner.email,
            f"{page_at(asked.org, job.kind, job.number)}?tab=logs",
        )
        for size, job in largest(jobs, most)
    ]


SOURCE = SpaceSource("log", Message("Job logs", context="what takes space"), 50, _total, _largest)
