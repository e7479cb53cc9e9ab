"""Store why an attempt waits and the history of its reasons. Writes only changes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from jobs.dispatch import job_status
from jobs.models import Attempt, PendingSpell
from jobs.scheduling.admission import AdmissionDecision
from portal.core import clock
from portal.core.bulk_updates import write_rows
from workspaces.quotas.limits import GPU_HOURS


def note(judged: Sequence[tuple[Attempt, AdmissionDecision]]) -> None:
    """Store changed reasons; a new reason opens a new spell, new numbers alone do not."""
    at = clock.now()
    turned, renewed = [], []
    for attempt, decision in judged:
        facts = dict(decision.facts)
        if attempt.wait != decision.wait:
            turned.append(attempt)
            attempt.wait_since = at
        elif _has_changed(attempt.wait_facts, facts):
            renewed.append(attempt)
        attempt.wait, attempt.wait_facts = str(decision.wait), facts
    write_rows(turned + renewed, ("wait", "wait_facts", "wait_since"))
    if turned:
        close(turned)
        PendingSpell.objects.bulk_create(
            PendingSpell(org_id=a.org_id, attempt=a, wait=a.wait, facts=a.wait_facts, since=at)
            for a in turned
        )
        job_status.refresh_jobs({a.job_id for a in turned}, turned)


def _has_changed(before: Mapping[str, Any], facts: Mapping[str, Any]) -> bool:
    """Return whether the facts changed, except used GPU-hours, which are computed when shown."""
    if facts.get("resource") == GPU_HOURS == before.get("resource"):
        return {**before, "used": 0} != {**facts, "used": 0}
    return before != facts


def settle(attempts: Sequence[Attempt]) -> None:
    """Clear the scheduler's reasons of attempts that left its queue but have not started."""
    stale = [attempt for attempt in attempts if attempt.wait]
    for attempt in stale:
        attempt.wait, attempt.wait_facts, attempt.wait_since = "", {}, None
    if stale:
        write_rows(stale, ("wait", "wait_facts", "wait_since"))
        close(stale)
        job_status.refresh_jobs({a.job_id for a in stale}, stale)


def close(attempts: Sequence[Attempt]) -> None:
    """End the current spell of these attempts."""
    PendingSpell.objects.filter(attempt__id__among=[a.id for a in attempts], until=None).update(
        until=clock.now()
    )
