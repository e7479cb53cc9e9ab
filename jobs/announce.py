"""Telling live viewers, after the commit, that a job's row changed. What they miss they read again from the rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING
from uuid import UUID

from django.db import transaction

from portal.core import streams

if TYPE_CHECKING:
    from jobs.models import Job


def jobs_changed(jobs: Sequence[Job]) -> None:
    """After this transaction, each of these to those who watch it or its organization's list."""
    ids = [job.id for job in jobs]
    if ids:
        transaction.on_commit(lambda: _publish(ids))


def _publish(ids: list[UUID]) -> None:
    from jobs.models import Job
    from jobs.present import job_row, listed
    from workspaces.tenancy.scope import platform_scope

    wanted = [pk for pk in ids if streams.is_watched(f"job:{pk.hex}")] or ids[:200]
    with platform_scope("live rows go to topics that are authorised one by one"):
        for job in listed(Job.objects.filter(id__in=wanted)):
            row = job_row(job)
            streams.publish(f"job:{job.id.hex}", row)
            streams.publish(f"jobs:{job.team_id.hex}", row)
