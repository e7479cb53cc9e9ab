"""Derive a job's state from its attempts, and release or cancel the jobs that depend on it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from uuid import UUID

from django.db.models import Count, Max, Min

from jobs.dispatch import live_updates
from jobs.models import Attempt, Dependency, Job
from portal.core import clock
from portal.core.bulk_updates import write_rows
from portal.core.events import EventRecord, record_all
from portal.core.messages import Message
from portal.core.wakeups import wake_worker
from schedulers.exit_reasons import missing_program
from schedulers.states import State

_FIELDS = (
    "state",
    "state_at",
    "reason",
    "evidence",
    "exit_code",
    "node",
    "nodes",
    "wait",
    "attempt_count",
    "started_at",
    "finished_at",
)
Cancellations = list[tuple[UUID, str]]


def refresh_jobs(
    jobs: Iterable[UUID],
    changed: Sequence[Attempt] = (),
    locked: Iterable[Job] = (),
    *,
    is_live: bool = True,
) -> Cancellations:
    """Update the derived columns; return attempts to cancel because a dependency failed.

    `changed` and `locked` are attempts and jobs that the caller has locked and written, so they are
    not read again. Without `is_live` no live update is sent: the next change follows in a moment.
    """
    known = {job.id: job for job in locked}
    unknown_jobs = [pk for pk in jobs if pk not in known]
    rows = (
        list(Job.objects.select_for_update().filter(id__in=unknown_jobs).order_by("id"))
        if unknown_jobs
        else []
    )
    rows = sorted([*rows, *known.values()], key=lambda job: job.id)
    before = {job.id: State(job.state) for job in rows}
    single = [job for job in rows if job.array_size is None]
    current = {attempt.job_id: attempt for attempt in changed if attempt.is_current}
    if unknown := [job for job in single if job.id not in current]:
        current.update(
            (a.job_id, a) for a in Attempt.objects.filter(job__in=unknown, is_current=True)
        )
    for job in single:
        _from_attempt(job, current[job.id])
    for job in rows:
        if job.array_size is not None:
            _from_tasks(job)
    write_rows(rows, _FIELDS)
    if is_live:
        live_updates.jobs_changed(rows)
    ended = [job for job in rows if State(job.state).is_final and not before[job.id].is_final]
    record_all(
        EventRecord(
            f"job.{State(job.state).label}",
            job.org_id,
            "job",
            job.id,
            "muster",
            {"number": job.number, "reason": job.reason}
            | ({"evidence": job.evidence} if missing_program(job.evidence) else {}),
        )
        for job in ended
    )
    return _free_dependents(ended) if ended else []


def _from_attempt(job: Job, attempt: Attempt) -> None:
    job.state, job.state_at, job.reason, job.evidence = (
        attempt.state,
        attempt.state_at,
        attempt.reason,
        attempt.evidence,
    )
    job.exit_code, job.node, job.nodes = attempt.exit_code, attempt.node, attempt.nodes
    job.wait, job.attempt_count = attempt.wait, attempt.ordinal
    job.started_at, job.finished_at = attempt.started_at or job.started_at, attempt.finished_at


def _from_tasks(job: Job) -> None:
    """Derive the state of an array: running while any task runs, failed if any task failed."""
    tasks = Attempt.objects.filter(job=job, is_current=True)
    counts = {
        State(row["state"]): row["n"] for row in tasks.values("state").annotate(n=Count("id"))
    }
    state = array_state(counts)
    times = Attempt.objects.filter(job=job).aggregate(
        first=Min("started_at"), last=Max("finished_at"), n=Count("id")
    )
    if state != job.state:
        job.state_at = clock.now()
    job.state, job.started_at, job.attempt_count = state, times["first"], times["n"]
    job.finished_at = times["last"] if state.is_final else None
    worst = (
        tasks.filter(state=state).exclude(reason="").order_by("index").first()
        if state.is_final
        else None
    )
    job.reason, job.evidence = (worst.reason, worst.evidence) if worst else ("", "")
    job.exit_code = worst.exit_code if worst else None
    waiting = tasks.filter(state=State.QUEUED).exclude(wait="").order_by("index").first()
    job.wait = waiting.wait if waiting and state == State.QUEUED else ""


def array_state(counts: Mapping[State, int]) -> State:
    """Return one state for many tasks: the furthest live state, else the worst final one."""
    live = [state for state, n in counts.items() if n and not state.is_final]
    if live:
        moving = [state for state in live if state != State.QUEUED]
        return max(moving, key=lambda s: (s != State.STOPPING, s)) if moving else State.QUEUED
    for state in (State.FAILED, State.CANCELED):
        if counts.get(state):
            return state
    return State.SUCCEEDED


def _free_dependents(ended: Sequence[Job]) -> Cancellations:
    """Make dependents due whose dependencies are met; return those whose dependency failed."""
    waiting = set(Dependency.objects.filter(needs__in=ended).values_list("job_id", flat=True))
    if not waiting:
        return []
    verdicts = verdict_of(Job.objects.filter(id__in=waiting, state=State.QUEUED))
    why = {
        job.id: Message(
            "#{number} {name} ended {word}.",
            context="text, jobs",
            number=failed.number,
            name=failed.name,
            word=State(failed.state).label,
        )
        for job, (_, failed) in verdicts.items()
        if failed
    }
    ready = {
        job.id
        for job, (is_ready, failed) in verdicts.items()
        if is_ready and not failed and not job.is_held
    }
    locked = _lock_queued(why.keys() | ready)
    if ready:
        Attempt.objects.filter(
            job__in=ready, job__is_held=False, state=State.QUEUED, due_at=None
        ).update(due_at=clock.now(), queued_at=clock.now())
        wake_worker("jobs.dispatch")
    return [(pk, why[job_id]) for pk, job_id in locked if job_id in why]


def _lock_queued(jobs: Collection[UUID]) -> list[tuple[UUID, UUID]]:
    """Lock the queued attempts of these jobs, in the order of ids to avoid deadlocks."""
    rows = (
        Attempt.objects.select_for_update().filter(job__in=jobs, state=State.QUEUED).order_by("id")
    )
    return list(rows.values_list("id", "job_id")) if jobs else []


def verdict_of(jobs: Iterable[Job]) -> dict[Job, tuple[bool, Job | None]]:
    """Return for each job whether its dependencies are met, and the first that never can be."""
    waiting = list(jobs)
    needs: dict[UUID, list[Dependency]] = defaultdict(list)
    for row in Dependency.objects.filter(job__in=waiting).select_related("needs"):
        needs[row.job_id].append(row)
    return {job: _judge(needs[job.id]) for job in waiting}


def _judge(needs: Sequence[Dependency]) -> tuple[bool, Job | None]:
    for need in needs:
        if State(need.needs.state).is_final and not is_met(need.condition, State(need.needs.state)):
            return False, need.needs
    return all(State(need.needs.state).is_final for need in needs), None


def is_met(condition: str, state: State) -> bool:
    """Return whether a final state satisfies the condition of a dependency."""
    return {"any": True, "failed": state == State.FAILED}.get(condition, state == State.SUCCEEDED)
