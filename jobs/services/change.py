"""Change an existing job: cancel, hold, release, edit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.db import transaction

from jobs.dispatch import job_status, live_updates
from jobs.dispatch.lifecycle import StateChange, transition
from jobs.models import Attempt, Job
from jobs.models.job import PRIORITIES
from portal.core import clock
from portal.core.errors import Conflict, InvalidInput
from portal.core.events import EventRecord, changes, record
from portal.core.messages import Message
from portal.core.wakeups import wake_worker
from schedulers.spec import parse_mapping
from schedulers.spec.errors import SpecErrors
from schedulers.states import Reason, State, Wait
from workspaces.access.actors import Actor, authorize
from workspaces.access.permissions import Permission


@transaction.atomic
def cancel_job(*, actor: Actor, job: Job, why: str = "") -> Job:
    """Cancel a job: queued attempts end at once, running ones are stopped.

    A running attempt is terminated, and killed after its grace period. Idempotent: a job that
    has ended or is already being canceled is returned unchanged. Raises NotPermitted.
    """
    authorize_change(actor, job, Permission.JOBS_CANCEL)
    job = _lock(job)
    if State(job.state).is_final or job.cancel_asked_at:
        return job
    if not isinstance(why, Message):
        why = "".join(c for c in why if c.isprintable())[:200]
    job.cancel_asked_at, job.cancel_asked_by, job.cancel_why = clock.now(), actor.email, why
    job.save(update_fields=["cancel_asked_at", "cancel_asked_by", "cancel_why"])
    record(
        EventRecord(
            "job.cancel_asked",
            job.org_id,
            "job",
            job.id,
            actor.email,
            {"number": job.number, "why": why, "before": {"state": State(job.state).label}},
        )
    )
    live = dict(
        Attempt.objects.filter(job=job, state__lt=State.STOPPING).values_list("id", "state")
    )
    transition(
        [
            StateChange(pk, State.CANCELED, actor.email, Reason.CANCELED)
            if state == State.QUEUED
            else StateChange(pk, State.STOPPING, actor.email)
            for pk, state in live.items()
        ]
    )
    wake_worker("jobs.watch")
    return Job.objects.get(id=job.id)


@transaction.atomic
def hold_job(*, actor: Actor, job: Job) -> Job:
    """Prevent queued attempts from starting until the job is released.

    Raises NotPermitted, Conflict.
    """
    authorize_change(actor, job, Permission.JOBS_CANCEL)
    job = _lock_active(job)
    if not job.is_held:
        job.is_held = True
        job.save(update_fields=["is_held"])
        Attempt.objects.filter(job=job, state=State.QUEUED).update(
            due_at=None, wait=Wait.HELD, wait_facts={}, wait_since=clock.now()
        )
        record(
            EventRecord(
                "job.held",
                job.org_id,
                "job",
                job.id,
                actor.email,
                {"number": job.number, "before": {"is_held": False}, "after": {"is_held": True}},
            )
        )
        job_status.refresh_jobs([job.id])
    return Job.objects.get(id=job.id)


@transaction.atomic
def release_job(*, actor: Actor, job: Job) -> Job:
    """Release a held job; it goes to the end of the queue.

    Raises NotPermitted, Conflict.
    """
    authorize_change(actor, job, Permission.JOBS_CANCEL)
    job = _lock_active(job)
    if job.is_held:
        job.is_held = False
        job.save(update_fields=["is_held"])
        is_ready, _ = job_status.verdict_of([job])[job]
        at = clock.now()
        Attempt.objects.filter(job=job, state=State.QUEUED).update(
            due_at=at if is_ready else None,
            queued_at=at,
            wait="" if is_ready else Wait.DEPENDENCY,
            wait_facts={},
            wait_since=None if is_ready else at,
        )
        record(
            EventRecord(
                "job.released",
                job.org_id,
                "job",
                job.id,
                actor.email,
                {"number": job.number, "before": {"is_held": True}, "after": {"is_held": False}},
            )
        )
        job_status.refresh_jobs([job.id])
        wake_worker("jobs.dispatch")
    return Job.objects.get(id=job.id)


@transaction.atomic
def change_job(
    *,
    actor: Actor,
    job: Job,
    name: str | None = None,
    priority: str | None = None,
    labels: Mapping[str, str] | None = None,
) -> Job:
    """Change the name or labels at any time, or the priority of queued attempts.

    Raises InvalidInput, NotPermitted, Conflict.
    """
    authorize_change(actor, job, Permission.JOBS_CANCEL)
    job = _lock(job)
    before = {"name": job.name, "priority": job.priority, "labels": job.labels}
    if name is not None:
        job.name = _validated("name", name)
    if labels is not None:
        job.labels = _validated("labels", dict(labels))
    if priority is not None:
        _set_priority(actor, job, priority)
    job.save(update_fields=["name", "labels", "priority"])
    record(
        EventRecord(
            "job.changed",
            job.org_id,
            "job",
            job.id,
            actor.email,
            {
                "number": job.number,
                **changes(
                    before, {"name": job.name, "priority": job.priority, "labels": job.labels}
                ),
            },
        )
    )
    live_updates.jobs_changed([job])
    return job


def authorize_change(actor: Actor, job: Job, permission: Permission) -> None:
    """Require `permission` for the actor's own job, jobs:admin for anyone else's.

    Raises NotPermitted.
    """
    authorize(actor, _needed(actor, job, permission), job.team_id)


def may_change(actor: Actor, job: Job) -> bool:
    """Return whether the actor may cancel the job and delete its logs."""
    return actor.may(_needed(actor, job, Permission.JOBS_CANCEL), job.team_id)


def _needed(actor: Actor, job: Job, permission: Permission) -> Permission:
    return permission if job.owner_id == actor.user_id else Permission.JOBS_ADMIN


def _set_priority(actor: Actor, job: Job, priority: str) -> None:
    if priority not in PRIORITIES:
        raise InvalidInput.at(
            "priority",
            Message(
                "must be one of {names}", context="error of a field", names=", ".join(PRIORITIES)
            ),
        )
    if PRIORITIES[priority] > PRIORITIES["normal"]:
        authorize(actor, Permission.JOBS_ADMIN, job.team_id)
    job.priority = PRIORITIES[priority]
    Attempt.objects.filter(job=job, state=State.QUEUED).update(priority=job.priority)
    wake_worker("jobs.dispatch")


def _validated(field: str, value: object) -> Any:
    """Validate one field by the rules of the job spec."""
    try:
        return getattr(parse_mapping({"run": "true", field: value}), field)
    except SpecErrors as error:
        first = error.errors[0]
        raise InvalidInput.at(first.field, first.message) from error


def _lock(job: Job) -> Job:
    """Lock and return the job, attempts first.

    `lifecycle` and `claims` lock in the same order, so concurrent changes cannot deadlock.
    """
    list(
        Attempt.objects.select_for_update()
        .filter(job=job, state__lt=State.SUCCEEDED)
        .order_by("id")
        .values_list("id")
    )
    return Job.objects.select_for_update().get(id=job.id)


def _lock_active(job: Job) -> Job:
    job = _lock(job)
    if State(job.state).is_final or job.cancel_asked_at:
        raise Conflict(
            Message("#{number} has ended or is ending. Rerun it instead.", number=job.number)
        )
    return job
