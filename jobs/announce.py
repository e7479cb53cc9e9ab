"""Telling live viewers, after the commit, that a job's row changed. What they miss they read again from the rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING
from uuid import UUID

from django.db import transaction

from portal.core import streams

if TYPE_CHECKING:
    from jobs.models import Job

MOST = 200      # rows of one transaction that are shown live; who watches a longer list reads it again


def jobs_changed(jobs: Sequence[Job]) -> None:
    """After this transaction, each of these to those who watch it or its organization's list."""
    watched = [job.id for job in jobs
               if streams.is_watched(f"job:{job.id.hex}") or streams.is_watched(f"jobs:{job.team_id.hex}")]
    if watched:
        transaction.on_commit(lambda: _publish(watched[:MOST]))


def _publish(wanted: list[UUID]) -> None:
    from jobs.models import Job
    from jobs.present import job_row, listed
    from workspaces.tenancy.scope import platform_scope

    with platform_scope("live rows go to topics that are authorised one by one"):
        for job in listed(Job.objects.filter(id__in=wanted)):
            row = job_row(job)
            streams.publish(f"job:{job.id.hex}", row)
            streams.publish(f"jobs:{job.team_id.hex}", row)
