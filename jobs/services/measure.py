"""Store metrics that a job reports about itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from django.db import transaction

from jobs.models import Attempt, Job
from jobs.selectors.metrics import series_of, unit_of
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
    targets, _ = targets_of(actor, job)
    now = clock.now_ms()
    rows = [
        series.Point(
            name=p["name"],
            labels={},
            at_ms=p["at"] or now,
            value=p["value"],
            step=p["step"],
            unit=unit_of(p["name"]),
        )
        for p in points
    ]
    store_points(targets, rows, org_id=job.org_id)
    return len(rows)


def targets_of(actor: Actor, job: Job) -> tuple[list[tuple[str, dict[str, str]]], Attempt | None]:
    """Return owner and labels of the series that an actor may write, and the attempt of its token.

    Raises NotPermitted.
    """
    authorize(actor, Permission.JOBS_WRITE_METRICS, job.team_id)
    if not (actor.token and actor.token.attempt_id):
        return [(f"job:{job.id.hex}", {})], None
    attempt = Attempt.objects.filter(id=actor.token.attempt_id, job=job).first()
    if attempt is None:
        raise NotPermitted(Message("A job can report only its own metrics."))
    return series_of(job, attempt.index), attempt


@transaction.atomic
def store_points(
    targets: Sequence[tuple[str, dict[str, str]]],
    points: Sequence[series.Point],
    *,
    org_id: UUID,
    most_live: int | None = None,
) -> None:
    """Store points with the owners and labels of `jobs.selectors.metrics.series_of`, and publish them.

    Only the last `most_live` reach viewers at once. Raises what `series.append` raises.
    """
    news = []
    for owner, labels in targets:
        rows = [point.labelled(labels) for point in points] if labels else points
        series.append(owner, rows, org_id=org_id)
        news += [
            ((f"metrics:{owner}",), {"t": p.at_ms, "step": p.step, "values": {p.key: p.value}})
            for p in (rows if most_live is None else rows[-most_live:])
        ]
    transaction.on_commit(lambda: streams.publish_all(news))
