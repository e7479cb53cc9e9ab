"""Jobs that wait for a quota, and when they are expected to start."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from jobs.models import Attempt
from jobs.scheduling.admission import QUOTA_WAITS
from jobs.scheduling.expected_start import expected_starts
from jobs.scheduling.pending_summary import wait_text
from jobs.selectors.jobs import visible_jobs
from schedulers.states import State, Wait
from workspaces.access.actors import Actor

MOST = 10
_SUBJECTS = {"org": "job__org", "team": "job__team", "user": "job__owner"}


def waiting_for(
    actor: Actor, scope: str = "", subject_id: UUID | None = None
) -> list[dict[str, Any]]:
    """Return the first jobs that the actor may see and that wait for a limit, of one subject or any."""
    waits = [QUOTA_WAITS[scope]] if scope else [*QUOTA_WAITS.values()]
    rows = Attempt.objects.filter(
        state=State.QUEUED, is_current=True, wait__in=waits, job__in=visible_jobs(actor)
    )
    if scope:
        rows = rows.filter(**{_SUBJECTS[scope]: subject_id})
    tasks: dict[UUID, Attempt] = {}
    found = rows.select_related("job__pool", "job__owner", "job__team", "cluster")
    for attempt in found.order_by("-priority", "queued_at", "id")[: 5 * MOST]:
        tasks.setdefault(attempt.job_id, attempt)
    first = list(tasks.values())[:MOST]
    starts = expected_starts(first)
    return [
        {
            "number": one.job.number,
            "name": one.job.name,
            "owner": one.job.owner.display_name,
            "team": one.job.team.slug,
            "text": wait_text(Wait(one.wait), one.wait_facts),
            "since": one.queued_at,
            "expected_start": starts[one.id].as_dict(),
        }
        for one in first
    ]
