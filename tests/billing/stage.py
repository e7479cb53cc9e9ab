"""Attempts that ran at given times, with their events, without a scheduler."""

from __future__ import annotations

from itertools import count
from uuid import UUID

from billing.amounts import at_ms
from clusters.models import Pool, PoolRequest
from jobs.models import Attempt, Job
from portal.core import clock
from portal.core.events import EventRecord, record
from schedulers.states import State
from workspaces.tenancy.scope import platform_scope

GIB = 1 << 30
_numbers = count(1_000_000)  # apart from those of submitted jobs


def run(
    story,
    cluster,
    start,
    end=None,
    *,
    team=None,
    pool=None,
    gpu_type="h100",
    kind="batch",
    **amounts,
):
    """Create a job of one attempt that ran from `start` to `end` (Unix ms; None: still runs)."""
    team = team or story.vision
    resources = {"cpu": 1000, "memory": GIB, **amounts}
    if resources.get("gpu") and gpu_type:
        resources[f"gpu.{gpu_type}"] = resources["gpu"]
    with platform_scope("test"):
        job = Job.objects.create(
            org_id=team.org_id,
            number=next(_numbers),
            team=team,
            owner=story.ben,
            cluster=cluster,
            pool=pool,
            name="train",
            kind=kind,
            spec={"run": "true"},
            resources=resources,
            state=State.RUNNING,
        )
        attempt = Attempt.objects.create(
            org_id=team.org_id,
            job=job,
            cluster=cluster,
            state=State.RUNNING,
            started_at=at_ms(start),
            node="n0",
            has_reservation=True,
        )
        if end is not None:
            finish(attempt, end)
    return attempt


def finish(attempt, end, state=State.SUCCEEDED):
    """End an attempt, as `jobs.dispatch.lifecycle` does."""
    attempt.state, attempt.finished_at = state, at_ms(end)
    attempt.has_reservation = False
    with platform_scope("test"):
        attempt.save()
        Job.objects.filter(id=attempt.job_id).update(
            state=state, started_at=attempt.started_at, finished_at=attempt.finished_at
        )
        say_ended(attempt.org_id, attempt.job_id, attempt.id, state)


def say_ended(org: UUID, job: UUID, attempt: UUID, state=State.SUCCEEDED):
    record(
        EventRecord(f"attempt.{state.label}", org, "job", job, "watcher", {"attempt": str(attempt)})
    )


def granted(story, cluster, gpus, start, end, team=None):
    """Promise GPUs of a pool to a team."""
    with platform_scope("test"):
        pool, _ = Pool.objects.get_or_create(
            name="h100", defaults={"cluster": cluster, "gpu_type": "h100"}
        )
        return PoolRequest.objects.create(
            org=story.atlas,
            team=team or story.vision,
            asker=story.ben,
            gpu_type="h100",
            gpus=gpus,
            starts_at=at_ms(start),
            ends_at=at_ms(end),
            state="approved",
            pool=pool,
        )


def now_ms():
    return clock.now_ms()
