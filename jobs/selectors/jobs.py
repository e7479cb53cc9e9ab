"""Query jobs within what the actor may see."""

from __future__ import annotations

import re
from uuid import UUID

from django.db.models import QuerySet

from jobs.models import Attempt, Job
from jobs.selectors.representations import listed
from portal.core.errors import NotFound
from portal.core.messages import Message
from workspaces.access.actors import Actor
from workspaces.access.permissions import Permission


def visible_jobs(actor: Actor) -> QuerySet[Job]:
    """Return the jobs of the current organization that the actor may read."""
    teams = actor.teams_where(Permission.JOBS_READ)
    rows = Job.objects.all()
    return rows if teams is None else rows.filter(team_id__in=teams)


def find_job(actor: Actor, name: str) -> Job:
    """Return a job by number ("12", "#12") or id.

    Raises NotFound, also for a job that the actor may not see.
    """
    by: dict[str, object] | None = None
    if re.fullmatch(r"#?[0-9]{1,18}", name):
        by = {"number": int(name.removeprefix("#"))}
    elif re.fullmatch(r"[0-9a-fA-F-]{32,36}", name):
        try:
            by = {"id": UUID(name)}
        except ValueError:
            by = None
    job = listed(visible_jobs(actor)).filter(**by).first() if by else None
    if job is None:
        raise NotFound(Message("There is no job {x} that you can see.", x=name[:40]))
    return job


def find_attempt(job: Job, index: int = 0, ordinal: int | None = None) -> Attempt:
    """Return an attempt of one task: the current one, or the one with this ordinal.

    Raises NotFound.
    """
    rows = Attempt.objects.select_related("cluster").filter(job=job, index=index)
    attempt = (
        rows.filter(is_current=True) if ordinal is None else rows.filter(ordinal=ordinal)
    ).first()
    if attempt is None:
        raise NotFound(Message("Job #{number} has no such attempt.", number=job.number))
    attempt.job = job
    return attempt
