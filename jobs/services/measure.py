"""Store metrics that a job reports about itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from jobs.metrics import task_labels, unit_of
from jobs.models import Attempt, Job
from portal import series
from portal.core import clock, streams
from portal.core.errors import NotPermitted
from portal.core.messages import Message
from workspaces.access.actors import Actor, authorize
from workspaces.access.permissions import Permission


def record_points(*, actor: Actor, job: Job, points: Sequence[Mapping[str, Any]]) -> int:
    """Store the points, publish them to live viewers and return their number.

    A job's own token reports for that job only. Points of a task of an array are labelled with its
    index. Raises NotPermitted.
    """
    authorize(actor, Permission.JOBS_WRITE_METRICS, job.team_id)
    labels: dict[str, str] = {}
    if actor.token and actor.token.attempt_id:
        attempt = Attempt.objects.filter(id=actor.token.attempt_id, job=job).first()
        if attempt is None:
            raise NotPermitted(Message("A job can report only its own metrics."))
        labels = task_labels(job, attempt.index)
    now = clock.now_ms()
    rows = [
        series.Point(
            name=p["name"],
            labels=labels,
            at_ms=p["at"] or now,
            value=p["value"],
            step=p["step"],
            unit=unit_of(p["name"]),
        )
        for p in points
    ]
    series.append(f"job:{job.id.hex}", rows, org_id=job.org_id)
    topic = f"metrics:job:{job.id.hex}"
    for row in rows:
        streams.publish(topic, {"t": row.at_ms, "step": row.step, "values": {row.key: row.value}})
    return len(rows)
