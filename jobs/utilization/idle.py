"""Idle GPUs: running jobs whose GPUs have been below 10% for half an hour or longer."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Annotated, TypedDict, cast
from uuid import UUID

from django.db import transaction

from jobs.models import AttemptUtilization, Job
from jobs.ports.activity import last_uses
from jobs.selectors import visible_jobs
from jobs.utilization.recording import IDLE_FOR, is_idle_gpu
from jobs.utilization.selectors import FRESH, HOUR_MS
from jobs.workload_kinds import page_of
from portal.core import clock
from portal.core.errors import Conflict
from portal.core.events import EventRecord, record
from portal.core.messages import Message
from portal.core.models import Event
from portal.core.shapes import PersonShape, Time
from schedulers.states import State
from workspaces.access.actors import Actor, authorize
from workspaces.access.permissions import Permission

NOTIFIED = "job.idle_notified"
NOTIFY_AGAIN = timedelta(hours=1)
MOST = 500


class IdleJobShape(TypedDict):
    number: int
    name: str
    page: str
    team: str
    owner: PersonShape
    gpus: Annotated[int, "Idle ones."]
    gpus_total: int
    hours: Annotated[float, "The number of idle GPUs times the hours for which each was idle."]
    since: Time
    gpu_utilization: float
    is_own: bool
    notified_at: Time | None
    notified_by: str
    may_notify: bool
    may_cancel: bool


def idle_jobs(actor: Actor, job: Job | None = None) -> list[IdleJobShape]:
    """Return running jobs with idle GPUs that the actor may see, the greatest waste first.

    A job whose ports are used is not idle. Four statements.
    """
    rows = AttemptUtilization.objects.filter(
        idle_since__isnull=False,
        at__gt=clock.now() - FRESH,
        job__in=visible_jobs(actor) if job is None else [job.id],
        job__state__lt=State.SUCCEEDED,
    ).select_related("job__owner", "job__team", "job__org")
    by_job: dict[UUID, list[AttemptUtilization]] = defaultdict(list)
    for row in rows[:MOST]:
        by_job[row.job_id].append(row)
    for pk in last_uses(by_job, _long_ago()):
        del by_job[pk]
    notified = _notified(by_job)
    found = [_idle_row(some, actor, notified.get(pk)) for pk, some in by_job.items()]
    return sorted(found, key=lambda row: -row["hours"])


def last_use_beside_idle_gpus(job: Job) -> datetime | None:
    """Return when the ports of a job were last used, if only that keeps it from being idle."""
    rows = AttemptUtilization.objects.filter(
        job=job, idle_since__isnull=False, at__gt=clock.now() - FRESH
    )
    return last_uses([job.id], _long_ago()).get(job.id) if rows.exists() else None


def _long_ago() -> datetime:
    return clock.now() - timedelta(milliseconds=IDLE_FOR)


def _idle_row(rows: list[AttemptUtilization], actor: Actor, notice: Event | None) -> IdleJobShape:
    now, job = clock.now_ms(), rows[0].job
    idle = [
        gpu["idle_since"]
        for row in rows
        for gpu in row.gpus.values()
        if is_idle_gpu(gpu, round(row.at.timestamp() * 1000))
    ]
    total = int(job.resources.get("gpu", 0)) * len(rows)
    is_own = job.owner_id == actor.user_id
    may_admin = actor.may(Permission.JOBS_ADMIN, job.team_id)
    return {
        "number": job.number,
        "name": job.name,
        "page": page_of(job),
        "team": job.team.slug,
        "owner": {"email": job.owner.email, "name": job.owner.display_name},
        "gpus": len(idle),
        "gpus_total": max(total, len(idle)),
        "hours": round(sum(now - since for since in idle) / HOUR_MS, 1),
        "since": datetime.fromtimestamp(min(idle) / 1000, UTC),
        "gpu_utilization": max((row.utilization or 0.0) for row in rows),
        "is_own": is_own,
        "notified_at": notice.at if notice else None,
        "notified_by": notice.actor if notice else "",
        "may_notify": may_admin and not is_own and job.owner.is_active,
        "may_cancel": may_admin or (is_own and actor.may(Permission.JOBS_CANCEL, job.team_id)),
    }


def _notified(jobs: Iterable[UUID]) -> dict[UUID, Event]:
    """Return the last notice of each job."""
    rows = Event.objects.filter(subject_id__in=list(jobs), kind=NOTIFIED).order_by("position")
    return {row.subject_id: row for row in rows if row.subject_id}


@transaction.atomic
def notify_owner(*, actor: Actor, job: Job) -> None:
    """Ask the owner of a job with idle GPUs to look at it: by a notification, and on their home.

    Raises NotPermitted, and Conflict if the GPUs are not idle or somebody has asked within the last
    hour.
    """
    authorize(actor, Permission.JOBS_ADMIN, job.team_id)
    Job.objects.select_for_update().get(id=job.id)
    found = next(iter(idle_jobs(actor, job)), None)
    if found is None:
        raise Conflict(Message("The GPUs of #{number} are in use again.", number=job.number))
    notified_at = cast("datetime | None", found["notified_at"])
    if notified_at and notified_at > clock.now() - NOTIFY_AGAIN:
        raise Conflict(
            Message(
                "{email} was already notified about #{number} within the last hour.",
                email=job.owner.email,
                number=job.number,
            )
        )
    facts = {"number": job.number, "gpus": found["gpus"], "hours": found["hours"]}
    record(EventRecord(NOTIFIED, job.org_id, "job", job.id, actor.email, facts))
