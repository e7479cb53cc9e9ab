"""What a scheduler's own queue tells: why it keeps an attempt, and which of those that it acknowledged it has forgotten since."""

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
from jobs.dispatch.lifecycle import Change, transition
from jobs.dispatch.submission import submitted
from jobs.models import Attempt
from jobs.scheduling import pending_history
from jobs.scheduling.admission import Verdict
from jobs.scheduling.pending_summary import IN_CLUSTER_QUEUE
from portal.core import clock
from portal.core.events import Fact, record
from schedulers import capabilities_of
from schedulers.contract import Backend, Capability, Poll, Rejected, Unavailable, Waiting
from schedulers.states import State

if TYPE_CHECKING:
    from jobs.dispatch.watch.observations import Watched

log = logging.getLogger(__name__)
CONFIRMED_AFTER = timedelta(
    seconds=10
)  # an acknowledged submission is durable once it was seen this long afterwards
FORGOTTEN_AFTER = timedelta(
    seconds=5
)  # one that was not is sent again when a healthy scheduler does not know it for this long
AT_ONCE = (
    1000  # attempts whose reasons are written in one transaction: a first look may bring 50,000
)
RESEND_LEASE = 15.0  # seconds


def confirm(cluster: Cluster, seen: Iterable[Watched]) -> None:
    """These were seen again: once that is long enough after they came, they can only be lost, not forgotten."""
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


def is_forgotten(cluster: Cluster, attempt: Watched) -> bool:
    """Acknowledged, never confirmed, not asked to stop, and unknown to a healthy scheduler for long enough."""
    return (
        _may_forget(cluster)
        and attempt.confirmed_at is None
        and State.SUBMITTED <= attempt.state < State.STOPPING
        and attempt.missing_since is not None
        and attempt.missing_since < clock.now() - FORGOTTEN_AFTER
    )


def _may_forget(cluster: Cluster) -> bool:
    return Capability.CONFIRM in capabilities_of(cluster.backend)


def send_again(cluster: Cluster, backend: Backend, missing: Sequence[Watched]) -> None:
    """Submit what was forgotten under its key, outside of any transaction; the backend adopts what is there after all."""
    for attempt in missing:
        if attempt.state != State.SUBMITTED or not is_forgotten(cluster, attempt):
            continue
        lease = uuid4()
        is_free = Q(lease=None) | Q(
            lease_until__lt=clock.now()
        )  # or the watcher that began to send it is gone
        mine = Attempt.objects.filter(is_free, id=attempt.id, state=State.SUBMITTED)
        if not mine.update(lease=lease, lease_until=clock.after(RESEND_LEASE)):
            continue
        fresh = Attempt.objects.select_related(
            "job__owner", "job__team", "job__org", "job__pool"
        ).get(id=attempt.id)
        try:
            handle = submitted(backend, *build_launches([fresh], {fresh.id}))
        except Rejected as error:
            transition(
                [
                    Change(
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
                "cluster %s forgot %s and does not take it again yet: %s",
                cluster.name,
                attempt.key,
                error,
            )
            Attempt.objects.filter(id=attempt.id, lease=lease).update(lease=None, lease_until=None)
        else:
            _note_sent_again(cluster, fresh, handle.native_id)


@transaction.atomic
def _note_sent_again(cluster: Cluster, attempt: Attempt, native_id: str) -> None:
    Attempt.objects.filter(id=attempt.id, lease=attempt.lease).update(
        native_id=native_id,
        state_at=clock.now(),
        missing_since=None,
        stop_sent_at=None,
        lease=None,
        lease_until=None,
    )
    record(
        Fact(
            "attempt.sent_again",
            attempt.org_id,
            "job",
            attempt.job_id,
            "muster",
            {
                "attempt": str(attempt.id),
                "index": attempt.index,
                "ordinal": attempt.ordinal,
                "evidence": f"{cluster.name} had acknowledged it as {attempt.native_id} and forgot it.",
            },
        )
    )


class Reasons:
    """The scheduler's own reasons, kept like ours, with their history. Writes nothing while nothing changes."""

    def __init__(self) -> None:
        self._told: dict[UUID, Waiting] = {}

    def keeps(self, attempt_id: UUID) -> bool:
        """Whether the scheduler gave a reason for it in the last look: it has not begun, and has no output."""
        return attempt_id in self._told

    def note(self, by_key: Mapping[str, Watched], poll: Poll) -> None:
        """What the scheduler said in this look."""
        told = {
            by_key[seen.key].id: seen.waiting
            for seen in poll.observations
            if seen.waiting and seen.key in by_key and by_key[seen.key].state in IN_CLUSTER_QUEUE
        }
        before, self._told = self._told, told
        news = {
            pk: why for pk, why in told.items() if (old := before.get(pk)) is not why and old != why
        }
        changed = [*news, *(before.keys() - told.keys())]
        for at in range(0, len(changed), AT_ONCE):
            _write(changed[at : at + AT_ONCE], news)


@transaction.atomic
def _write(ids: Sequence[UUID], news: Mapping[UUID, Waiting]) -> None:
    """Of these, what is told anew, and that the others are told nothing any more."""
    rows = _there(ids)
    pending_history.note(
        [
            (row, Verdict(news[row.id].wait, facts=_facts(news[row.id])))
            for row in rows
            if row.id in news
        ]
    )
    pending_history.settle([row for row in rows if row.id not in news])


def _there(ids: Sequence[UUID]) -> list[Attempt]:
    rows = (
        Attempt.objects.select_for_update(of=("self",))
        .select_related("job")
        .filter(id__in=ids, state__in=IN_CLUSTER_QUEUE)
    )
    return list(rows.order_by("id"))


def _facts(told: Waiting) -> dict[str, object]:
    """As it is stored beside the attempt."""
    return {**told.facts, "said": told.said, "text": told.text, "advice": told.advice}
