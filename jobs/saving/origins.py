"""Name the jobs that made versions. For `datasets.origins`."""

from __future__ import annotations

from collections.abc import Collection
from uuid import UUID

from datasets.origins import VersionOrigin
from jobs.kinds.workload_kinds import page_of
from jobs.models import Job
from jobs.selectors.jobs import visible_jobs
from portal.web.asset_actions import new_job_url
from workspaces.access.actors import Actor


def origins_for(actor: Actor, jobs: Collection[UUID]) -> dict[UUID, VersionOrigin]:
    """Return those of the jobs that the actor may see."""
    rows = visible_jobs(actor).filter(id__in=list(jobs)).select_related("org")
    return {
        job.id: VersionOrigin(f"#{job.number} {job.name}", page_of(job), resume_url(job))
        for job in rows
    }


def resume_url(job: Job) -> str:
    """Return the page that runs a job again from the newest versions of its checkpoints."""
    outputs = job.spec.get("outputs") or {}
    names = [name for name, output in outputs.items() if output.get("checkpoint")]
    if not names:
        return ""
    fields = {f"outputs.{name}.resume": "latest" for name in names}
    return new_job_url(job.org.slug, fields, **{"from": job.number})
