"""Name the jobs that made versions. For `datasets.origins`."""

from __future__ import annotations

from collections.abc import Collection
from uuid import UUID

from datasets.origins import VersionOrigin
from jobs.kinds.workload_kinds import page_of
from jobs.selectors.jobs import visible_jobs
from workspaces.access.actors import Actor


def origins_for(actor: Actor, jobs: Collection[UUID]) -> dict[UUID, VersionOrigin]:
    """Return those of the jobs that the actor may see."""
    rows = visible_jobs(actor).filter(id__in=list(jobs)).select_related("org")
    return {job.id: VersionOrigin(f"#{job.number} {job.name}", page_of(job)) for job in rows}
