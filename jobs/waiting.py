"""Keeping the reason why an attempt waits, and the history of its reasons. Nothing is written while nothing changes."""

from __future__ import annotations

from collections.abc import Sequence

from jobs import derive
from jobs.admission import Verdict
from jobs.models import Attempt, PendingSpell
from jobs.rows import write_rows
from jobs.states import State
from portal.core import clock

THERE = frozenset({State.SUBMITTED, State.STARTING})         # with its cluster's scheduler, or on a node that has not begun it


def note(judged: Sequence[tuple[Attempt, Verdict]]) -> None:
    """Write what changed: a new reason opens a new spell; new numbers behind the same reason are taken over silently."""
    at = clock.now()
    turned, renewed = [], []
    for attempt, verdict in judged:
        facts = dict(verdict.facts)
        if attempt.wait != verdict.wait:
            turned.append(attempt)
            attempt.wait_since = at
        elif attempt.wait_facts != facts:
            renewed.append(attempt)
        attempt.wait, attempt.wait_facts = str(verdict.wait), facts
    write_rows(turned + renewed, ("wait", "wait_facts", "wait_since"))
    if turned:
        close(turned)
        PendingSpell.objects.bulk_create(
            PendingSpell(org_id=a.org_id, attempt=a, wait=a.wait, facts=a.wait_facts, since=at) for a in turned)
        derive.refresh_jobs({a.job_id for a in turned}, turned)


def settle(attempts: Sequence[Attempt]) -> None:
    """What their scheduler said of them is over, and they have not begun yet."""
    stale = [attempt for attempt in attempts if attempt.wait]
    for attempt in stale:
        attempt.wait, attempt.wait_facts, attempt.wait_since = "", {}, None
    if stale:
        write_rows(stale, ("wait", "wait_facts", "wait_since"))
        close(stale)
        derive.refresh_jobs({a.job_id for a in stale}, stale)


def close(attempts: Sequence[Attempt]) -> None:
    """These wait no more, or for another reason."""
    PendingSpell.objects.filter(attempt__in=attempts, until=None).update(until=clock.now())
