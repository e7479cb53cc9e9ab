"""Reruns: jobs whose origin is another job."""

from __future__ import annotations

from jobs.kinds.origins import Origin
from jobs.models import Job

NAME = "rerun"


def rerun_of(job: Job) -> Origin:
    return Origin(NAME, job.id, f"#{job.number}")


def parent_of(job: Job) -> Job | None:
    """Return the job that this one reruns; None if it reruns none, or that was deleted."""
    if job.origin_kind != NAME:
        return None
    return Job.objects.filter(id=job.origin_id).first()
