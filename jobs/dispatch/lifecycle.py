"""Change the state of attempts; no other module does.

`transition` takes what was decided or observed and applies what is still valid. The state of an
attempt never decreases and a final state never changes, so of two racing changes the higher one
wins and the other is dropped. The same transaction writes the events, releases the quota, plans the
retry, derives the job's state, and releases or cancels its dependents.

QUEUED → DISPATCHING → SUBMITTED → STARTING → RUNNING → STOPPING → SUCCEEDED | FAILED | CANCELED
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from django.db import transaction

from jobs.dispatch import gpu_errors, job_status
from jobs.images import failures
from jobs.models import Attempt, JobOutput, PendingSpell
from jobs.scheduling.reservations import meters_of, with_jobs
from jobs.selectors.gpu_use import ran_of
from jobs.specs.stored import spec_of
from portal.core import clock
from portal.core.bulk_updates import write_rows
from portal.core.events import EventRecord, record_all
from portal.core.messages import Message
from portal.core.wakeups import wake_worker
from schedulers.states import Reason, State, Wait
from workspaces.credentials.tokens import revoke_attempt_tokens
from workspaces.quotas import gpu_hour_counting
from workspaces.quotas.reservations import settle

log = logging.getLogger(__name__)
_FIELDS = (
    "state",
    "state_at",
    "reason",
    "evidence",
    "exit_code",
    "signal",
    "peak_memory",
    "started_at",
    "finished_at",
    "node",
    "nodes",
    "native_id",
    "has_reservation",
    "is_current",
    "lease",
    "lease_until",
    "wait",
    "missing_since",
)
# Resubmissions of a job that its scheduler lost: about eight minutes, whatever the policy says.
MOST_FORGOTTEN = 8
MAX_BACKOFF = 3600.0
_ENDS_OF_A_CANCEL = frozenset({Reason.COMPLETED, Reason.USER_ERROR, Reason.KILLED_BY_SIGNAL})


@dataclass(frozen=True)
class StateChange:
    """One state change of one attempt; None leaves a field unchanged.

    `lease`: apply only while this lease is valid. `source`: who reports the change.
    """

    attempt_id: UUID
    to: State
    source: str
    reason: Reason | None = None
    evidence: str = ""
    exit_code: int | None = None
    signal: int | None = None
    peak_memory: int | None = None
    started_at: datetime | None = None
    finished_at: datetime | None = None
    node: str = ""
    native_id: str = ""
    nodes: Sequence[str] = ()
    lease: UUID | None = None
    image_digest: str = ""


@transaction.atomic
def transition(changes: Iterable[StateChange]) -> list[Attempt]:
    """Apply each change that advances its attempt; return the attempts that changed.

    Runs in the current tenant scope.
    """
    wanted = {change.attempt_id: change for change in changes}
    rows = (
        Attempt.objects.select_for_update(of=("self",))
        .filter(id__among=list(wanted))
        .order_by("id")
    )
    at = clock.now()
    # The claim closes the spell itself.
    waited = {attempt.id for attempt in rows if attempt.state == State.QUEUED or attempt.wait}
    moved = [attempt for attempt in rows if _apply(attempt, wanted[attempt.id], at)]
    if moved:
        with_jobs(moved, is_locked=True)  # Same lock order as a claim: jobs before meters.
        _end_as_canceled(moved)
        gpu_errors.explain(moved)
        _settle_all(moved)
        write_rows(moved, _FIELDS)
        _record_events(moved, wanted)
        _close_spells([attempt.id for attempt in moved if attempt.id in waited])
        failures.remember(
            (a, wanted[a.id].image_digest) for a in moved if a.reason == Reason.NO_KERNEL_IMAGE
        )
        _follow_up(moved)
    return moved


@transaction.atomic
def explain_late(attempt_ids: Iterable[UUID]) -> list[Attempt]:
    """Explain ended attempts by GPU errors that arrived after their end; return those that changed.

    States stay: no retry is planned any more.
    """
    rows = list(
        Attempt.objects.select_for_update(of=("self",))
        .filter(id__among=list(attempt_ids))
        .order_by("id")
    )
    if not rows:
        return []
    with_jobs(rows, is_locked=True)
    changed = gpu_errors.explain(rows)
    if changed:
        write_rows(changed, ("reason", "evidence"))
        record_all(
            EventRecord(
                "attempt.explained",
                a.org_id,
                "job",
                a.job_id,
                "muster",
                {
                    "index": a.index,
                    "ordinal": a.ordinal,
                    "reason": str(a.reason),
                    "evidence": a.evidence[:500],
                },
            )
            for a in changed
        )
        current = [a for a in changed if a.is_current]
        job_status.refresh_jobs({a.job_id for a in current}, current, [a.job for a in current])
    return changed


def _apply(attempt: Attempt, change: StateChange, at: datetime) -> bool:
    """Set the fields on the object; return False if the change is stale."""
    state = State(attempt.state)
    if (
        state.is_final
        or change.to <= state
        or (change.lease is not None and change.lease != attempt.lease)
    ):
        return False
    attempt.state, attempt.state_at, attempt.wait, attempt.missing_since = change.to, at, "", None
    attempt.node = change.node or attempt.node
    attempt.nodes = list(change.nodes) or attempt.nodes
    attempt.native_id = change.native_id or attempt.native_id
    attempt.peak_memory = change.peak_memory or attempt.peak_memory
    if change.to >= State.RUNNING and (change.started_at or change.to == State.RUNNING):
        is_past = change.started_at is not None and change.started_at <= at
        # A start in the future is by a clock that is ahead of ours.
        attempt.started_at = change.started_at if is_past else attempt.started_at or at
    # A stop during the hand-over keeps the lease: a missing job then means nothing yet.
    if change.to > State.DISPATCHING and change.to != State.STOPPING:
        attempt.lease = attempt.lease_until = None
    if change.to.is_final:
        _end(attempt, change, at)
    return True


def _end(attempt: Attempt, change: StateChange, at: datetime) -> None:
    reason = change.reason or Reason.PLATFORM_ERROR
    if reason.final_state != change.to:
        log.error("attempt %s: reason %s does not end in %s", attempt.id, reason, change.to.label)
    attempt.reason = reason
    evidence = change.evidence
    if "\x00" in evidence:
        evidence = evidence.replace("\x00", "\N{REPLACEMENT CHARACTER}")
    attempt.evidence = evidence[:4000]
    attempt.exit_code, attempt.signal = change.exit_code, change.signal
    # A scheduler may report a projected end; what is billed never ends in the future
    ended = min(change.finished_at or at, at)
    attempt.finished_at = max(ended, min(attempt.started_at or ended, at))


def _end_as_canceled(moved: Sequence[Attempt]) -> None:
    """Mark jobs that ended after a cancel request as canceled, whatever the exit code, and say why.

    A job that had ended before the request keeps its result. Schedulers report whole seconds.
    """
    for attempt in moved:
        job, at = attempt.job, attempt.finished_at
        if (
            attempt.reason in _ENDS_OF_A_CANCEL
            and job.cancel_asked_at
            and at
            and at >= job.cancel_asked_at.replace(microsecond=0)
        ):
            attempt.state, attempt.reason = State.CANCELED, Reason.CANCELED
        if attempt.reason == Reason.CANCELED and job.cancel_asked_at:
            by = Message("Canceled by {email}.", email=job.cancel_asked_by)
            attempt.evidence = Message.joined(" ", (by, job.cancel_why))


def _settle_all(moved: Sequence[Attempt]) -> None:
    """Release the quota of ended attempts and count their GPU-hours.

    Only this function clears `has_reservation`, so both happen exactly once.
    """
    given_back = []
    for attempt in moved:
        if attempt.has_reservation and State(attempt.state).is_final:
            attempt.has_reservation = False
            given_back.append(attempt)
    if given_back:
        settle(meters_of(given_back))
        gpu_hour_counting.count(
            ran for attempt in given_back if (ran := ran_of(attempt, attempt.finished_at))
        )


def _record_events(moved: Sequence[Attempt], wanted: dict[UUID, StateChange]) -> None:
    record_all(
        EventRecord(
            kind=f"attempt.{State(a.state).label}",
            org_id=a.org_id,
            subject_type="job",
            subject_id=a.job_id,
            actor=wanted[a.id].source,
            data={"attempt": str(a.id), "index": a.index, "ordinal": a.ordinal}
            | (
                {"reason": str(a.reason), "evidence": a.evidence[:500], "exit_code": a.exit_code}
                if a.reason
                else {}
            )
            | ({"node": a.node} if a.node else {}),
        )
        for a in moved
    )


def _close_spells(attempts: Sequence[UUID]) -> None:
    if attempts:
        PendingSpell.objects.filter(attempt__id__among=attempts, until=None).update(
            until=clock.now()
        )


def _follow_up(moved: Sequence[Attempt]) -> None:
    """Follow up on the changes: retries, job states and dependents."""
    ended = [a for a in moved if State(a.state).is_final]
    retried = [a for a in ended if _may_retry(a)]
    _retry(retried)
    if ended:
        revoke_attempt_tokens(a.id for a in ended)
        wake_worker("jobs.dispatch")
    canceled = job_status.refresh_jobs({a.job_id for a in moved}, moved, [a.job for a in moved])
    if canceled:
        transition(
            StateChange(attempt_id, State.CANCELED, "muster", Reason.DEPENDENCY_FAILED, why)
            for attempt_id, why in canceled
        )


def _may_retry(attempt: Attempt) -> bool:
    job = attempt.job
    if attempt.state != State.FAILED or job.cancel_asked_at:
        return False
    policy = spec_of(job).policy
    if (
        attempt.reason == Reason.LOST_BY_SCHEDULER
        and attempt.ordinal <= policy.retries + MOST_FORGOTTEN
    ):
        return True  # it hardly ran, so it does not count as a try of the policy
    if attempt.ordinal > policy.retries:
        return False
    return (
        attempt.reason in policy.retry_on
        if policy.retry_on
        else Reason(attempt.reason).is_retryable
    )


def _retry(ended: Sequence[Attempt]) -> None:
    if not ended:
        return
    for attempt in ended:
        attempt.is_current = False
    write_rows(ended, ("is_current",))
    unsaved = _unsaved(ended)
    Attempt.objects.bulk_create(_next_of(attempt, attempt.id in unsaved) for attempt in ended)
    record_all(
        EventRecord(
            "attempt.retry_planned",
            a.org_id,
            "job",
            a.job_id,
            "muster",
            {
                "index": a.index,
                "ordinal": a.ordinal + 1,
                "after": str(a.reason),
                "in_seconds": backoff(a),
            }
            | ({"avoids": ", ".join(avoid["nodes"])} if (avoid := a.avoid_next or a.avoid) else {}),
        )
        for a in ended
    )


def _unsaved(ended: Sequence[Attempt]) -> set[UUID]:
    """Return the attempts with outputs to save; `jobs.saving` lets their retries start after that."""
    ids = [attempt.id for attempt in ended if attempt.job.spec.get("outputs")]
    if not ids:
        return set()
    rows = JobOutput.objects.filter(attempt__in=ids, is_over=False)
    return set(rows.values_list("attempt_id", flat=True))


def _next_of(attempt: Attempt, is_unsaved: bool) -> Attempt:
    at, is_held = clock.now(), attempt.job.is_held
    wait = Wait.HELD if is_held else Wait.BACKOFF if is_unsaved else ""
    return Attempt(
        org_id=attempt.org_id,
        job_id=attempt.job_id,
        cluster_id=attempt.cluster_id,
        index=attempt.index,
        ordinal=attempt.ordinal + 1,
        priority=attempt.job.priority,
        queued_at=at,
        state_at=at,
        due_at=None if wait else at + timedelta(seconds=backoff(attempt)),
        wait=wait,
        wait_since=at if wait else None,
        avoid=attempt.avoid_next or attempt.avoid,
    )


def backoff(attempt: Attempt) -> float:
    """Return the seconds before the next try.

    The policy's backoff doubles each time, up to an hour. An attempt that the scheduler lost is
    submitted again after seconds.
    """
    first = (
        2.0
        if attempt.reason == Reason.LOST_BY_SCHEDULER
        else float(spec_of(attempt.job).policy.backoff)
    )
    return min(first * 2.0 ** (attempt.ordinal - 1), MAX_BACKOFF)
