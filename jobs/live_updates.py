"""Telling live viewers, after the commit, that a job's row changed. What they miss they read again from the rows."""

from __future__ import annotations

from collections.abc import Sequence

from django.db import transaction

from jobs.bulk import attach
from jobs.models import Job
from jobs.representations import job_row
from portal.core import streams
from workspaces.tenancy.scope import platform_scope

MOST = 200  # rows of one transaction that are shown live; who watches a longer list reads it again


def jobs_changed(jobs: Sequence[Job]) -> None:
    """After this transaction, each of these as it is now to those who watch it or its organization's list."""
    watched = [
        job
        for job in jobs
        if streams.is_watched(f"job:{job.id.hex}") or streams.is_watched(f"jobs:{job.team_id.hex}")
    ]
    if watched:
        transaction.on_commit(lambda: _publish(watched[:MOST]))


def job_added(job: Job) -> None:
    """After this transaction, a new job to who watches the lists that it comes into. Nobody can watch it by its id yet."""
    topic = f"jobs:{job.team_id.hex}"
    if streams.is_watched(topic):
        transaction.on_commit(lambda: streams.publish(topic, job_row(job)))


def _publish(jobs: Sequence[Job]) -> None:
    with platform_scope("live rows go to topics that are authorised one by one"):
        attach(jobs, "org", "team", "owner", "cluster")
        streams.publish_all(
            ((f"job:{job.id.hex}", f"jobs:{job.team_id.hex}"), job_row(job)) for job in jobs
        )
