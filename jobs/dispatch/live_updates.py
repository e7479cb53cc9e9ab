"""Publish changed job rows to live viewers after the commit; rows stay the source of truth."""

from __future__ import annotations

from collections.abc import Sequence

from django.db import transaction

from jobs.models import Job
from jobs.selectors.representations import job_row
from portal.core import streams
from portal.core.bulk_updates import attach
from workspaces.tenancy.scope import platform_scope

MOST = 200  # Rows per transaction that are published; viewers of a longer list reload it.


def jobs_changed(jobs: Sequence[Job]) -> None:
    """Publish these jobs after the commit to viewers of the job and of the organization's list."""
    watched = [
        job
        for job in jobs
        if streams.is_watched(f"job:{job.id.hex}") or streams.is_watched(f"jobs:{job.team_id.hex}")
    ]
    if watched:
        transaction.on_commit(lambda: _publish(watched[:MOST]))


def outputs_changed(job: Job) -> None:
    """Publish after the commit that an output of a job was saved, or could not be."""
    topic = f"job:{job.id.hex}"
    if streams.is_watched(topic):
        news = job_row(job) | {"has_new_outputs": True}
        transaction.on_commit(lambda: streams.publish(topic, news))


def job_added(job: Job) -> None:
    """Publish a new job to viewers of lists after the commit; no one watches it by id yet."""
    topic = f"jobs:{job.team_id.hex}"
    if streams.is_watched(topic):
        transaction.on_commit(lambda: streams.publish(topic, job_row(job)))


def _publish(jobs: Sequence[Job]) -> None:
    with platform_scope("live rows go to topics that are authorised one by one"):
        attach(jobs, "org", "team", "owner", "cluster")
        streams.publish_all(
            ((f"job:{job.id.hex}", f"jobs:{job.team_id.hex}"), job_row(job)) for job in jobs
        )
