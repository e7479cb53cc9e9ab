"""The notifications of this app: their kinds, and which events notify whom.

A function gets an event and returns notices; it reads what the event is about, so that a deleted
object notifies nobody either.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from datetime import timedelta
from typing import Any

from jobs.kinds.workload_kinds import kind_of, page_of
from jobs.models import Job
from jobs.utilization.idle_rules import RULE
from portal.core.messages import Message
from portal.core.models import Event
from schedulers.exit_reasons import headline_of, missing_program
from schedulers.states import Reason
from workspaces.access.permissions import Permission as P
from workspaces.recipients import Notice, NoticeKind, active

KINDS = (
    NoticeKind(
        "job_failed",
        10,
        Message("Job failed", context="kind of notification"),
        Message("One of your jobs failed, or somebody else canceled it."),
        permissions=(P.JOBS_READ,),
        email=True,
        mark="failed",
        many=Message("{n} jobs named “{name}” did not succeed"),
    ),
    NoticeKind(
        "job_succeeded",
        20,
        Message("Job succeeded", context="kind of notification"),
        Message("One of your jobs that ran for at least a minute succeeded."),
        permissions=(P.JOBS_READ,),
        mark="succeeded",
        many=Message("{n} jobs named “{name}” succeeded"),
    ),
    NoticeKind(
        "job_pending",
        30,
        Message("Job pending for long"),
        Message("One of your jobs has been pending for more than an hour."),
        permissions=(P.JOBS_READ,),
        many=Message("{n} jobs named “{name}” have been pending for long"),
    ),
    NoticeKind(
        "idle_gpus",
        40,
        Message("Idle GPUs", context="kind of notification"),
        Message("A job of yours has idle GPUs, or is about to be stopped for it."),
        permissions=(P.JOBS_READ,),
        email=True,
        mark="unknown",
        many=Message("{n} jobs named “{name}” have idle GPUs"),
    ),
)

SHORT = timedelta(minutes=1)  # a job that succeeds sooner is not reported


def _job(event: Event) -> Job | None:
    rows = Job.objects.select_related("owner", "org", "team")
    return rows.filter(id=event.subject_id).first()


def _of_job(job: Job, kind: str, title: Message, body: Message, tab: str = "") -> Notice:
    return Notice(
        kind,
        job.org_id,
        active([job.owner]),
        title,
        f"{page_of(job)}{tab}",
        body,
        P.JOBS_READ,
        job.team_id,
    )


def _named(job: Job) -> dict[str, Any]:
    return {"number": job.number, "name": job.name}


def _of_end(job: Job, event: Event, kind: str, body: str) -> Iterable[Notice]:
    """Report an end of the job, if its kind has a title for it."""
    if title := kind_of(job).end_notices.get(event.kind):
        yield _of_job(job, kind, title.format(**_named(job)), Message.joined("", [body]))


def _job_failed(event: Event) -> Iterable[Notice]:
    if job := _job(event):
        why = "" if missing_program(job.evidence) else job.evidence
        why = why or _reason(str(event.data.get("reason", "")), job.evidence)
        yield from _of_end(job, event, "job_failed", why)


def _reason(reason: str, evidence: str) -> str:
    try:
        return headline_of(Reason(reason), evidence)
    except ValueError:
        return ""


def _job_canceled(event: Event) -> Iterable[Notice]:
    job = _job(event)
    if job and job.cancel_asked_by not in (job.owner.email, RULE.email):
        yield from _of_end(job, event, "job_failed", job.evidence)


def _job_succeeded(event: Event) -> Iterable[Notice]:
    job = _job(event)
    if not job or not job.started_at or not job.finished_at:
        return
    if job.finished_at - job.started_at >= SHORT:
        yield from _of_end(job, event, "job_succeeded", "")


def _job_pending(event: Event) -> Iterable[Notice]:
    if job := _job(event):
        title = Message("#{number} {name} is still pending", **_named(job))
        body = Message(
            "It has been pending for more than an hour. Its page says what it waits for."
        )
        yield _of_job(job, "job_pending", title, body)


def _job_idle(event: Event) -> Iterable[Notice]:
    if job := _job(event):
        title = Message("#{number} {name} has idle GPUs", **_named(job))
        yield _of_job(job, "idle_gpus", title, _idle_text(event))


def _idle_text(event: Event) -> Message:
    data = event.data
    if event.kind == "job.idle_notified":
        return Message(
            "{gpus} GPUs have been below 10% utilization, {hours} GPU-hours so far. {email} asks "
            "you to check it, and to cancel it if it no longer needs them.",
            gpus=data.get("gpus", "?"),
            hours=data.get("hours", "?"),
            email=event.actor,
        )
    return Message(
        "{gpus} GPUs have been below 10% utilization for more than an hour.",
        gpus=data.get("gpus", "?"),
    )


def _idle_warned(event: Event) -> Iterable[Notice]:
    if job := _job(event):
        facts = {"minutes": event.data.get("minutes", "?"), "pool": event.data.get("pool", "")}
        stops = event.data.get("action") == "stop"
        title = (
            Message("#{number} {name} will be stopped: it is idle", **_named(job))
            if stops
            else Message("#{number} {name} is idle", context="text, jobs", **_named(job))
        )
        words = (
            ["session", "keep", f"{kind_of(job).address_number(job)}"]
            if kind_of(job).is_interactive
            else ["job", "keep", f"{job.number}", "2h"]
        )
        command = shlex.join(["muster", *words])
        keep = Message("To keep it: {command}", context="notification", command=command)
        when = (
            Message("The rule of pool {pool} stops it in {minutes} minutes.", **facts)
            if stops
            else Message(
                "The rule of pool {pool} lowers its priority in {minutes} minutes.", **facts
            )
            if event.data.get("action") == "lower"
            else Message("The rule of pool {pool} warns only.", **facts)
        )
        yield _of_job(job, "idle_gpus", title, Message.joined(" ", (_measured(event), when, keep)))


def _measured(event: Event) -> Message:
    if event.data.get("metric") == "ports":
        window = event.data.get("window", "?")
        return Message("Its ports were not used for {window} minutes.", window=window)
    if event.data.get("metric") == "session":
        return Message(
            "Nobody used it, and nothing computed in it, for {window} minutes.",
            window=event.data.get("window", "?"),
        )
    return Message(
        "{metric} stayed below {threshold} for {window} minutes.",
        metric=Message(str(event.data.get("metric_title", "GPU utilization"))),
        threshold=event.data.get("threshold", "?"),
        window=event.data.get("window", "?"),
    )


def _idle_acted(event: Event) -> Iterable[Notice]:
    if job := _job(event):
        title = (
            Message("#{number} {name} was stopped: it was idle", **_named(job))
            if event.kind == "job.idle_stopped"
            else Message("#{number} {name} has low priority now: it was idle", **_named(job))
        )
        yield _of_job(job, "idle_gpus", title, _measured(event))


MAPPERS = {
    "job.failed": _job_failed,
    "job.canceled": _job_canceled,
    "job.succeeded": _job_succeeded,
    "job.pending_long": _job_pending,
    "job.gpus_idle": _job_idle,
    "job.idle_notified": _job_idle,
    "job.idle_warned": _idle_warned,
    "job.idle_stopped": _idle_acted,
    "job.idle_lowered": _idle_acted,
}
