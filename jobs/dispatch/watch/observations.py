"""Turn what a backend reports into state changes.

Not seen is not failed: an attempt is LOST only after a healthy scheduler has not known it twice,
beyond a grace period.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import datetime, timedelta
from uuid import UUID

from django.db.models import Count, Q

from clusters.models import Cluster
from jobs.dispatch import gpu_errors
from jobs.dispatch.lifecycle import StateChange, transition
from jobs.dispatch.watch import native_queue
from jobs.models import Attempt
from jobs.models.attempt import key_of
from jobs.specs.stored import spec_of
from portal.core import clock
from portal.core.messages import Message
from schedulers.contract import Backend, Observation, Poll
from schedulers.states import FINAL_FLOOR, Reason, State

LOST_AFTER = timedelta(seconds=30)
RESEND_STOP = timedelta(seconds=10)
STOPS_REFUSED = 3  # Failed stop requests per poll, before the rest waits for the next one.


@dataclass(slots=True)
class WatchedAttempt:
    """The columns of an attempt that a poll needs; there may be 50,000."""

    id: UUID
    state: int
    state_at: datetime
    native_id: str
    started_at: datetime | None
    lease_until: datetime | None
    confirmed_at: datetime | None
    missing_since: datetime | None
    stop_sent_at: datetime | None
    key: str = field(init=False)

    def __post_init__(self) -> None:
        self.key = key_of(self.id)


COLUMNS = tuple(one.name for one in fields(WatchedAttempt) if one.init)


def active_attempts(cluster: Cluster, least: State = State.DISPATCHING) -> list[WatchedAttempt]:
    """Return the attempts to ask the backend about: handed over and not ended.

    `least`: the lowest state to include.
    """
    rows = Attempt.objects.filter(cluster=cluster, state__gte=least, state__lt=State.SUCCEEDED)
    return [WatchedAttempt(*row) for row in rows.order_by("id").values_list(*COLUMNS)]


def has_work(cluster_id: UUID) -> bool:
    """Tell whether an attempt is active or has an unsealed log; idle watchers ask every second."""
    own = Attempt.objects.filter(cluster=cluster_id)
    # Each condition has its own partial index: attempt_active and attempt_unforgotten.
    active = own.filter(state__gt=State.QUEUED, state__lt=State.SUCCEEDED)
    unsealed = own.filter(is_forgotten=False, state__gte=State.SUCCEEDED, is_log_sealed=False)
    return active.exists() or unsealed.exists()


def has_news(cluster_id: UUID, known: Sequence[WatchedAttempt]) -> bool:
    """Tell whether the cluster has unknown attempts or a cancel waits to be sent."""
    there = Attempt.objects.filter(
        cluster=cluster_id, state__gt=State.DISPATCHING, state__lt=State.SUCCEEDED
    )
    found = there.aggregate(
        count=Count("id"), unsent=Count("id", filter=Q(state=State.STOPPING, stop_sent_at=None))
    )
    return bool(found["unsent"]) or found["count"] != sum(
        one.state > State.DISPATCHING for one in known
    )


def still_active(
    watched: Sequence[WatchedAttempt], moved: Sequence[Attempt]
) -> list[WatchedAttempt]:
    """Return the watched attempts that are active after these changes, without a query."""
    states = {attempt.id: attempt.state for attempt in moved}
    for one in watched if moved else ():
        one.state = states.get(one.id, one.state)
    return [one for one in watched if one.state < FINAL_FLOOR]


def apply_poll(cluster: Cluster, attempts: Sequence[WatchedAttempt], poll: Poll) -> list[Attempt]:
    """Store what was seen and return the attempts that changed state; write only changes."""
    by_key = {attempt.key: attempt for attempt in attempts}
    changes = [
        _change(cluster, attempt, seen)
        for seen in poll.observations
        if (attempt := by_key.get(seen.key)) and _is_new(attempt, seen)
    ]
    failed = {c.attempt_id: c.finished_at for c in changes if c.reason in gpu_errors.EXPLAINED}
    if failed and (later := gpu_errors.awaiting_agents(failed)):
        changes = [change for change in changes if change.attempt_id not in later]
    changes += _missing(cluster, [by_key[key] for key in poll.missing if key in by_key])
    _mark_seen(cluster, by_key, poll)
    return transition(changes) if changes else []


def send_stops(backend: Backend, attempts: Sequence[WatchedAttempt]) -> None:
    """Ask the backend to stop these attempts, again every few seconds.

    A request may arrive before the job does, so it is repeated. One failure does not delay the
    other requests. The error is raised at the end, or early after STOPS_REFUSED failures, when the
    backend is probably down.
    """
    due = [
        a
        for a in attempts
        if a.state == State.STOPPING
        and (a.stop_sent_at is None or clock.now() - a.stop_sent_at > RESEND_STOP)
    ]
    rows = Attempt.objects.select_related("job").filter(id__in=[a.id for a in due]) if due else ()
    tried: list[UUID] = []
    failed: list[Exception] = []
    for attempt in rows:
        tried.append(attempt.id)
        try:
            backend.cancel(attempt.key, float(spec_of(attempt.job).policy.grace))
        except Exception as error:
            failed.append(error)
            if len(failed) == STOPS_REFUSED:
                break
    if tried:
        Attempt.objects.filter(id__in=tried).update(stop_sent_at=clock.now())
    if failed:
        raise failed[0]


def _is_new(attempt: WatchedAttempt, seen: Observation) -> bool:
    """Tell whether an observation changes the attempt.

    During a hand-over only running or ended jobs count, because the worker may be gone. A pending
    one does not: it may be incomplete, and the next owner of the claim completes it.
    """
    return seen.state > attempt.state and (
        attempt.state != State.DISPATCHING or seen.state >= State.RUNNING
    )


def _change(cluster: Cluster, attempt: WatchedAttempt, seen: Observation) -> StateChange:
    return StateChange(
        attempt.id,
        seen.state,
        cluster.backend,
        seen.reason,
        seen.evidence,
        seen.exit_code,
        seen.signal,
        seen.peak_memory,
        seen.started_at,
        seen.finished_at,
        seen.node,
        seen.native_id,
        image_digest=seen.image_digest,
        nodes=seen.nodes,
    )


def _missing(cluster: Cluster, unknown: Sequence[WatchedAttempt]) -> Iterator[StateChange]:
    """Yield the changes for attempts that a healthy backend does not know."""
    first: list[UUID] = []
    at = clock.now()
    for attempt in unknown:
        if attempt.state == State.DISPATCHING or (attempt.lease_until and attempt.lease_until > at):
            continue  # the hand-over is in progress
        if attempt.state == State.STOPPING and not attempt.native_id:
            yield StateChange(
                attempt.id,
                State.CANCELED,
                "muster",
                Reason.CANCELED,
                Message("Canceled before it reached the cluster."),
            )
        elif attempt.missing_since is None:
            first.append(attempt.id)
        elif native_queue.is_forgotten(cluster, attempt):
            if attempt.state > State.SUBMITTED:  # a SUBMITTED one is resubmitted under its key
                yield StateChange(
                    attempt.id,
                    State.FAILED,
                    cluster.backend,
                    Reason.LOST_BY_SCHEDULER,
                    Message(
                        "{name} had started it as {native_id} but no longer knows it.",
                        name=cluster.name,
                        native_id=attempt.native_id,
                    ),
                )
        elif attempt.state == State.STOPPING and at - attempt.missing_since > LOST_AFTER:
            yield StateChange(
                attempt.id,
                State.CANCELED,
                cluster.backend,
                Reason.CANCELED,
                Message("The cluster no longer knows it."),
            )
        elif at - attempt.missing_since > LOST_AFTER:
            yield StateChange(
                attempt.id,
                State.FAILED,
                cluster.backend,
                Reason.LOST,
                Message(
                    "The cluster is healthy but has not known {key} for {seconds} s.",
                    key=attempt.key,
                    seconds=LOST_AFTER.seconds,
                ),
            )
    if first:
        Attempt.objects.filter(id__in=first, missing_since=None).update(missing_since=at)


def _mark_seen(cluster: Cluster, by_key: Mapping[str, WatchedAttempt], poll: Poll) -> None:
    known = [by_key[seen.key] for seen in poll.observations if seen.key in by_key]
    native_queue.confirm(cluster, known)
    back = [attempt.id for attempt in known if attempt.missing_since is not None]
    if back:
        Attempt.objects.filter(id__in=back).update(missing_since=None)
