"""Sum what attempts reserve: those of one owner that hold the same are counted once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from jobs.models import Attempt, Job
from portal.core.bulk_updates import attach
from workspaces.quotas.reservations import Meter, meters


def meters_of(attempts: Iterable[Attempt]) -> Counter[Meter]:
    """Return the meters and amounts that attempts hold; their jobs are loaded."""
    alike: Counter[tuple[Any, ...]] = Counter()
    for attempt in attempts:
        job = attempt.job
        alike[(job.org_id, job.team_id, job.owner_id, *attempt.resources.items())] += 1
    total: Counter[Meter] = Counter()
    for (org_id, team_id, owner_id, *resources), count in alike.items():
        for meter, amount in meters(org_id, team_id, owner_id, dict(resources)).items():
            total[meter] += amount * count
    return total


def with_jobs(
    attempts: Sequence[Attempt], *related: str, is_locked: bool = False
) -> Sequence[Attempt]:
    """Attach each attempt's job and the named relations; each job is loaded once.

    `is_locked`: lock the jobs until the transaction ends, in the order of ids.
    """
    rows = Job.objects.filter(id__among=list({attempt.job_id for attempt in attempts}))
    found = {
        job.id: job for job in (rows.select_for_update().order_by("id") if is_locked else rows)
    }
    attach(list(found.values()), *related)
    for attempt in attempts:
        attempt.job = found[attempt.job_id]
    return attempts
