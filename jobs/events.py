"""How the events of jobs read."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any
from uuid import UUID

from jobs.kinds.workload_kinds import page_of
from jobs.models import Job
from portal.core.event_texts import EventKind, Subject
from portal.core.messages import Message
from portal.core.states import Mark
from schedulers.exit_reasons import headline_of, missing_program
from schedulers.states import Reason


def _jobs(ids: Collection[UUID]) -> Mapping[UUID, tuple[str, str]]:
    rows = Job.objects.select_related("org").filter(id__in=ids)
    return {row.id: (f"#{row.number} {row.name}", page_of(row)) for row in rows}


def _change(data: Mapping[str, Any]) -> Mapping[str, Any]:
    before, after = data.get("before") or {}, data.get("after") or {}
    return {"new_name": after.get("name")} if "name" in before else {}


def _ended(data: Mapping[str, Any]) -> Mapping[str, Any]:
    try:
        reason = Reason(str(data.get("reason")))
    except ValueError:
        return {}
    said = {Reason.COMPLETED, Reason.CANCELED}  # as the state says already
    evidence = str(data.get("evidence", ""))
    if reason in said:
        return {}
    facts = {"headline": headline_of(reason, evidence)}
    return {**facts, "evidence": ""} if missing_program(evidence) else facts


def _attempt(data: Mapping[str, Any]) -> Mapping[str, Any]:
    facts = _ended(data)
    if ordinal := data.get("ordinal"):
        if data.get("index"):
            attempt = Message("Attempt {n} of task {index}", n=ordinal, index=data["index"])
        else:
            attempt = Message("Attempt {n}", context="text, jobs", n=ordinal)
        facts = {"attempt": attempt, **facts}
    return facts


EVENTS = (
    EventKind("job.submitted", (Message("{actor} submitted {subject}", context="event"),)),
    EventKind(
        "job.cancel_asked",
        (
            Message("{actor} canceled {subject}: {why}", context="event"),
            Message("{actor} canceled {subject}", context="event"),
        ),
        mark=Mark.BAR,
    ),
    EventKind(
        "job.held", (Message("{actor} put {subject} on hold", context="event"),), mark=Mark.BAR
    ),
    EventKind("job.released", (Message("{actor} released {subject}", context="event"),)),
    EventKind(
        "job.changed",
        (
            Message("{actor} renamed {subject} from {was_name} to {new_name}"),
            Message("{actor} changed the priority of {subject} from {was_priority} to {priority}"),
            Message("{actor} changed {subject}", context="event"),
        ),
        facts=_change,
    ),
    EventKind(
        "job.command_run",
        (
            Message("{actor} ran {program} in {subject} of {owner}", context="event"),
            Message("{actor} ran {program} in {subject}", context="event"),
            Message("{actor} ran a command in {subject}"),
        ),
    ),
    EventKind("job.log_deleted", (Message("{actor} deleted the log of {subject}"),), mark=Mark.BAR),
    EventKind(
        "job.port_opened",
        (
            Message("{actor} opened the port {port} of {subject}"),
            Message("{actor} opened {subject}", context="event"),
        ),
    ),
    EventKind("job.queued", (Message("{subject} is queued", context="event"),)),
    EventKind("job.dispatching", (Message("{subject} is handed to the cluster"),), mark=Mark.HALF),
    EventKind("job.starting", (Message("{subject} is starting", context="event"),), mark=Mark.HALF),
    EventKind(
        "job.running", (Message("{subject} started running", context="event"),), mark=Mark.PULSE
    ),
    EventKind(
        "job.stopping", (Message("{subject} is stopping", context="event"),), mark=Mark.SQUARE
    ),
    EventKind("job.succeeded", (Message("{subject} succeeded", context="event"),), mark=Mark.CHECK),
    EventKind(
        "job.failed",
        (
            Message("{subject} failed. {headline}", context="event"),
            Message("{subject} failed", context="event"),
        ),
        facts=_ended,
        mark=Mark.CROSS,
    ),
    EventKind(
        "job.canceled",
        (
            Message("{subject} was canceled. {headline}"),
            Message("{subject} was canceled", context="event"),
        ),
        facts=_ended,
        mark=Mark.BAR,
    ),
    EventKind(
        "job.output_saved",
        (
            Message("{subject} saved its output {output} as version {version}"),
            Message("{subject} saved an output", context="event"),
        ),
        mark=Mark.CHECK,
    ),
    EventKind(
        "job.output_failed",
        (
            Message("{subject} could not save its output {output}: {why}"),
            Message("{subject} could not save an output"),
        ),
        mark=Mark.CROSS,
    ),
    EventKind(
        "job.metrics_skipped",
        (
            Message("{subject} wrote metrics that could not be read: {file}: {why}"),
            Message("{subject} wrote metrics that could not be read"),
        ),
        mark=Mark.SQUARE,
    ),
    EventKind(
        "job.pending_long", (Message("{subject} has been pending for an hour"),), mark=Mark.SQUARE
    ),
    EventKind(
        "job.gpus_idle",
        (
            Message("{subject} does not use its {gpus} GPUs"),
            Message("{subject} does not use its GPUs"),
        ),
        mark=Mark.SQUARE,
    ),
    EventKind(
        "job.extended",
        (
            Message("{actor} raised the time limit of {subject} to {time_limit}"),
            Message("{actor} raised the time limit of {subject}"),
        ),
        mark=Mark.SQUARE,
    ),
    EventKind(
        "job.idle_notified",
        (Message("{actor} asked the owner of {subject} to check its idle GPUs"),),
        mark=Mark.SQUARE,
    ),
    EventKind(
        "job.idle_warned",
        (
            Message("{actor} of pool {pool} warned about {subject}, which is idle"),
            Message("{actor} warned about {subject}, which is idle"),
        ),
        mark=Mark.SQUARE,
    ),
    EventKind(
        "job.idle_stopped",
        (
            Message("{actor} of pool {pool} stopped {subject}, which was idle"),
            Message("{actor} stopped {subject}, which was idle"),
        ),
        mark=Mark.BAR,
    ),
    EventKind(
        "job.idle_lowered",
        (
            Message("{actor} of pool {pool} lowered the priority of {subject}, which is idle"),
            Message("{actor} lowered the priority of {subject}, which is idle"),
        ),
        mark=Mark.BAR,
    ),
    EventKind(
        "job.idle_kept",
        (
            Message("{actor} keeps {subject} for {hours} hours although it is idle"),
            Message("{actor} keeps {subject} although it is idle"),
        ),
    ),
    EventKind(
        "job.idle_ended", (Message("{subject} is busy again", context="event"),), mark=Mark.CHECK
    ),
    EventKind(
        "attempt.dispatching",
        (
            Message("{attempt} of {subject} is handed to the cluster, on {node}"),
            Message("{attempt} of {subject} is handed to the cluster"),
            Message("{subject} is handed to the cluster"),
        ),
        facts=_attempt,
        mark=Mark.HALF,
    ),
    EventKind(
        "attempt.submitted",
        (
            Message("{attempt} of {subject} was accepted by the cluster"),
            Message("{subject} was accepted by the cluster"),
        ),
        facts=_attempt,
        mark=Mark.HALF,
    ),
    EventKind(
        "attempt.starting",
        (
            Message("{attempt} of {subject} is starting on {node}"),
            Message("{attempt} of {subject} is starting", context="event"),
            Message("{subject} is starting", context="event"),
        ),
        facts=_attempt,
        mark=Mark.HALF,
    ),
    EventKind(
        "attempt.running",
        (
            Message("{attempt} of {subject} started running on {node}"),
            Message("{attempt} of {subject} started running"),
            Message("{subject} started running", context="event"),
        ),
        facts=_attempt,
        mark=Mark.PULSE,
    ),
    EventKind(
        "attempt.stopping",
        (
            Message("{attempt} of {subject} is stopping", context="event"),
            Message("{subject} is stopping", context="event"),
        ),
        facts=_attempt,
        mark=Mark.SQUARE,
    ),
    EventKind(
        "attempt.queued",
        (
            Message("{attempt} of {subject} is queued again"),
            Message("{subject} is queued again", context="event"),
        ),
        facts=_attempt,
    ),
    EventKind(
        "attempt.succeeded",
        (
            Message("{attempt} of {subject} succeeded", context="event"),
            Message("{subject} succeeded", context="event"),
        ),
        facts=_attempt,
        mark=Mark.CHECK,
    ),
    EventKind(
        "attempt.failed",
        (
            Message("{attempt} of {subject} failed on {node}. {headline} {evidence}"),
            Message("{attempt} of {subject} failed. {headline} {evidence}"),
            Message("{attempt} of {subject} failed. {headline}"),
            Message("{attempt} of {subject} failed", context="event"),
            Message("{subject} failed", context="event"),
        ),
        facts=_attempt,
        mark=Mark.CROSS,
    ),
    EventKind(
        "attempt.canceled",
        (
            Message("{attempt} of {subject} was canceled. {evidence}"),
            Message("{attempt} of {subject} was canceled"),
            Message("{subject} was canceled", context="event"),
        ),
        facts=_attempt,
        mark=Mark.BAR,
    ),
    EventKind(
        "attempt.explained",
        (
            Message("The end of {attempt} of {subject} is explained now. {headline} {evidence}"),
            Message("The end of {attempt} of {subject} is explained now. {headline}"),
            Message("The end of {subject} is explained now"),
        ),
        facts=_attempt,
    ),
    EventKind(
        "attempt.retry_planned",
        (
            Message("{attempt} of {subject} begins in {in_seconds} s and avoids {avoids}"),
            Message("{attempt} of {subject} begins in {in_seconds} s"),
            Message("Another attempt of {subject} is planned"),
        ),
        facts=_attempt,
    ),
    EventKind(
        "attempt.sent_again",
        (
            Message("{attempt} of {subject} is sent again: {evidence}"),
            Message("{subject} is sent again", context="event"),
        ),
        facts=_attempt,
    ),
    EventKind(
        "pool.idle_rule_changed", (Message("{actor} changed the idle rule of pool {subject}"),)
    ),
    EventKind(
        "pool.idle_rule_deleted",
        (Message("{actor} deleted the idle rule of pool {subject}"),),
        mark=Mark.BAR,
    ),
)
GROUPS = {
    "job": Message("Jobs", context="way to group"),
    "attempt": Message("Attempts", context="way to group"),
}
SUBJECTS = (Subject("job", Message("the job", context="subject of an event"), _jobs),)
