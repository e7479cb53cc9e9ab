"""What a backend reports becomes changes of state. Not seen is not failed: only a healthy scheduler that twice does not know an
attempt, past a grace, makes it LOST."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta
from uuid import UUID

from clusters.models import Cluster
from jobs.backends.base import Backend, Observation, Poll
from jobs.lifecycle import Change, transition
from jobs.models import Attempt
from jobs.states import Reason, State
from jobs.watch import queue
from portal.core import clock

LOST_AFTER = timedelta(seconds=30)
RESEND_STOP = timedelta(seconds=10)


def active_attempts(cluster: Cluster) -> list[Attempt]:
    """What the backend is to be asked about: everything handed over or being handed over, and not ended."""
    return list(Attempt.objects.filter(cluster=cluster, state__gt=State.QUEUED, state__lt=State.SUCCEEDED).order_by("id"))


def apply_poll(cluster: Cluster, attempts: Sequence[Attempt], poll: Poll) -> list[Attempt]:
    """Bring what was seen into the rows; the attempts that moved. Writes nothing when nothing changed."""
    by_key = {attempt.key: attempt for attempt in attempts}
    changes = [change for seen in poll.observations if seen.key in by_key
               for change in _change(cluster, by_key[seen.key], seen)]
    changes += _missing(cluster, [by_key[key] for key in poll.missing if key in by_key])
    _seen_again(cluster, by_key, poll)
    moved = transition(changes) if changes else []
    queue.note_waits({key: attempt for key, attempt in by_key.items() if attempt.id not in {m.id for m in moved}}, poll)
    return moved


def send_stops(backend: Backend, attempts: Sequence[Attempt]) -> None:
    """Ask the backend to end what is to end; again every few seconds, for the first word may have come before the job did."""
    due = [a for a in attempts if a.state == State.STOPPING
           and (a.stop_sent_at is None or clock.now() - a.stop_sent_at > RESEND_STOP)]
    for attempt in due:
        backend.cancel(attempt.key, _grace(attempt))
    if due:
        Attempt.objects.filter(id__in=[a.id for a in due]).update(stop_sent_at=clock.now())


def _grace(attempt: Attempt) -> float:
    from jobs.specs import spec_of

    return float(spec_of(attempt.job).policy.grace)


def _change(cluster: Cluster, attempt: Attempt, seen: Observation) -> Iterator[Change]:
    """An observation of an attempt still being handed over counts too: the worker that submitted it may be gone."""
    if seen.state <= attempt.state:
        return
    yield Change(
        attempt.id, seen.state, cluster.backend, seen.reason, seen.evidence, seen.exit_code, seen.signal, seen.peak_memory,
        seen.started_at, seen.finished_at, seen.node, seen.native_id)


def _missing(cluster: Cluster, unknown: Sequence[Attempt]) -> Iterator[Change]:
    """The backend is well and does not know these."""
    first: list[UUID] = []
    at = clock.now()
    for attempt in unknown:
        if attempt.state == State.DISPATCHING or (attempt.lease_until and attempt.lease_until > at):
            continue                                      # not there yet: it is being handed over
        if attempt.state == State.STOPPING and not attempt.native_id:
            yield Change(attempt.id, State.CANCELED, "muster", Reason.CANCELED, "Canceled before the cluster had it.")
        elif attempt.missing_since is None:
            first.append(attempt.id)
        elif queue.is_forgotten(cluster, attempt):
            if attempt.state > State.SUBMITTED:           # else it is sent again under its key
                yield Change(attempt.id, State.FAILED, cluster.backend, Reason.FORGOTTEN,
                             f"{cluster.name} had started it as {attempt.native_id} and does not know it any more.")
        elif attempt.state == State.STOPPING and at - attempt.missing_since > LOST_AFTER:
            yield Change(attempt.id, State.CANCELED, cluster.backend, Reason.CANCELED, "The cluster does not know it any more.")
        elif at - attempt.missing_since > LOST_AFTER:
            yield Change(attempt.id, State.FAILED, cluster.backend, Reason.LOST,
                         f"The cluster is healthy and has not known {attempt.key} for {LOST_AFTER.seconds} s.")
    if first:
        Attempt.objects.filter(id__in=first, missing_since=None).update(missing_since=at)


def _seen_again(cluster: Cluster, by_key: Mapping[str, Attempt], poll: Poll) -> None:
    known = [by_key[seen.key] for seen in poll.observations if seen.key in by_key]
    queue.confirm(cluster, known)
    back = [attempt.id for attempt in known if attempt.missing_since is not None]
    if back:
        Attempt.objects.filter(id__in=back).update(missing_since=None)
