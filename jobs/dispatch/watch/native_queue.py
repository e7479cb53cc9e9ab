"""Read the scheduler's own queue: why an attempt is pending, and which submissions it forgot."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING
from uuid import UUID, uuid4

from django.db import transaction
from django.db.models import Q

from clusters.models import Cluster
from jobs.dispatch.launch import build_launches
from jobs.dispatch.lifecycle import StateChange, transition
from jobs.dispatch.submission import submit_launch
from jobs.models import Attempt
from jobs.scheduling import pending_history
from jobs.scheduling.admission import AdmissionDecision
from jobs.scheduling.pending_summary import IN_CLUSTER_QUEUE
from portal.core import clock
from portal.core.events import EventRecord, record
from portal.core.messages import Message
from schedulers import capabilities_of
from schedulers.contract import Backend, Capability, PendingReason, Poll, Rejected, Unavailable
from schedulers.states import State

if TYPE_CHECKING:
    from jobs.dispatch.watch.observations import WatchedAttempt

log = logging.getLogger(__name__)
# An acknowledged submission counts as durable once it is seen this long afterwards.
CONFIRMED_AFTER = timedelta(seconds=10)
# An unconfirmed one is resubmitted when a healthy scheduler does not know it for this long.
FORGOTTEN_AFTER = timedelta(seconds=5)
AT_ONCE = 1000  # Reasons written per transaction; the first poll may bring 50,000.
RESEND_LEASE = 15.0  # seconds


def confirm(cluster: Cluster, seen: Iterable[WatchedAttempt]) -> None:
    """Mark attempts still known some time after submission; they can no longer be forgotten."""
    if not _may_forget(cluster):
        return
    since = clock.now() - CONFIRMED_AFTER
    ids = [
        a.id
        for a in seen
        if a.confirmed_at is None and a.state >= State.SUBMITTED and a.state_at < since
    ]
    if ids:
        Attempt.objects.filter(id__in=ids, confirmed_at=None).update(confirmed_at=clock.now())


def is_forgotten(cluster: Cluster, attempt: WatchedAttempt) -> bool:
    """Return whether a healthy scheduler has lost an acknowledged but unconfirmed submission."""
    return (
        _may_forget(cluster)
        and attempt.confirmed_at is None
        and State.SUBMITTED <= attempt.state < State.STOPPING
        and attempt.missing_since is not None
        and attempt.missing_since < clock.now() - FORGOTTEN_AFTER
    )


def _may_forget(cluster: Cluster) -> bool:
    return Capability.CONFIRM in capabilities_of(cluster.backend)


def resubmit(cluster: Cluster, backend: Backend, missing: Sequence[WatchedAttempt]) -> None:
    """Resubmit forgotten attempts under their key; the backend adopts a job that still exists.

    The backend is called outside of any transaction.
    """
    for attempt in missing:
        if attempt.state != State.SUBMITTED or not is_forgotten(cluster, attempt):
            continue
        lease = uuid4()
        # Or the watcher that claimed it is gone.
        is_free = Q(lease=None) | Q(lease_until__lt=clock.now())
        claimable = Attempt.objects.filter(is_free, id=attempt.id, state=State.SUBMITTED)
        if not claimable.update(lease=lease, lease_until=clock.after(RESEND_LEASE)):
            continue
        fresh = Attempt.objects.select_related(
            "job__owner", "job__team", "job__org", "job__pool"
        ).get(id=attempt.id)
        try:
            handle = submit_launch(backend, *build_launches([fresh], {fresh.id}))
        except Rejected as error:
            transition(
                [
                    StateChange(
                        attempt.id,
                        error.reason.final_state,
                        cluster.backend,
                        error.reason,
                        str(error),
                        lease=lease,
                    )
                ]
            )
        except Unavailable as error:
            log.warning(
                "cluster %s: resubmission of forgotten %s failed: %s",
                cluster.name,
                attempt.key,
                error,
            )
            Attempt.objects.filter(id=attempt.id, lease=lease).update(lease=None, lease_until=None)
        else:
            _note_resubmission(cluster, fresh, handle.native_id)


@transaction.atomic
def _note_resubmission(cluster: Cluster, attempt: Attempt, native_id: str) -> None:
    Attempt.objects.filter(id=attempt.id, lease=attempt.lease).update(
        native_id=native_id,
        state_at=clock.now(),
        missing_since=None,
        stop_sent_at=None,
        lease=None,
        lease_until=None,
    )
    record(
        EventRecord(
            "attempt.sent_again",
            attempt.org_id,
            "job",
            attempt.job_id,
            "muster",
            {
                "attempt": str(attempt.id),
                "index": attempt.index,
                "ordinal": attempt.ordinal,
                "evidence": Message(
                    "{name} had acknowledged it as {native_id} but forgot it.",
                    name=cluster.name,
                    native_id=attempt.native_id,
                ),
            },
        )
    )


class Reasons:
    """Store the scheduler's pending reasons and their history; write only changes."""

    def __init__(self) -> None:
        self._reported: dict[UUID, PendingReason] = {}

    def keeps(self, attempt_id: UUID) -> bool:
        """Return whether the scheduler reported a pending reason in the last poll."""
        return attempt_id in self._reported

    def note(self, by_key: Mapping[str, WatchedAttempt], poll: Poll) -> None:
        """Store the reasons of this poll."""
        reported = {
            by_key[seen.key].id: seen.waiting
            for seen in poll.observations
            if seen.waiting and seen.key in by_key and by_key[seen.key].state in IN_CLUSTER_QUEUE
        }
        before, self._reported = self._reported, reported
        changes = {
            pk: why
            for pk, why in reported.items()
            if (old := before.get(pk)) is not why and old != why
        }
        changed = [*changes, *(before.keys() - reported.keys())]
        for at in range(0, len(changed), AT_ONCE):
            _write(changed[at : at + AT_ONCE], changes)


@transaction.atomic
def _write(ids: Sequence[UUID], changes: Mapping[UUID, PendingReason]) -> None:
    """Store the reasons in `news` and clear those of the other ids."""
    rows = _lock_pending(ids)
    pending_history.note(
        [
            (row, AdmissionDecision(changes[row.id].wait, facts=_facts(changes[row.id])))
            for row in rows
            if row.id in changes
        ]
    )
    pending_history.settle([row for row in rows if row.id not in changes])


def _lock_pending(ids: Sequence[UUID]) -> list[Attempt]:
    rows = (
        Attempt.objects.select_for_update(of=("self",))
        .select_related("job")
        .filter(id__in=ids, state__in=IN_CLUSTER_QUEUE)
    )
    return list(rows.order_by("id"))


def _facts(reported: PendingReason) -> dict[str, object]:
    """Return the reason as it is stored on the attempt."""
    return {
        **reported.facts,
        "said": reported.native_reason,
        "text": reported.text,
        "advice": reported.advice,
    }
