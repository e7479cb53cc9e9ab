"""Figures of the home page: what runs, waits, failed and was used, as far as the actor may see."""

from __future__ import annotations

from datetime import timedelta
from hashlib import sha256
from statistics import median
from typing import Any

from django.core.cache import cache
from django.db.models import Case, Count, Q, QuerySet, Value, When

from clusters.models import Cluster
from jobs.models import Job
from jobs.selectors import gpu_use, representations
from jobs.selectors.jobs import visible_jobs
from jobs.selectors.representations import JobShape
from jobs.utilization.selectors import running_utilization_of
from portal.core import clock
from schedulers.states import State
from workspaces.access.actors import Actor
from workspaces.access.permissions import Permission
from workspaces.models import AccessToken, QuotaRequest
from workspaces.quotas.requests import request_row

SHOWN = 8
DAY, WEEK, LONG_WAIT = timedelta(days=1), timedelta(days=7), timedelta(hours=1)
STATS_FOR = 60  # seconds
COUNT_FOR = 10  # seconds
MOST_WAITS = 1000
_RUNNING = Q(state__gt=State.QUEUED, state__lt=State.SUCCEEDED)


def running_count(actor: Actor) -> int:
    """Return how many jobs of the actor run, at most ten seconds old."""
    if actor.user_id is None or actor.org_id is None:
        return 0
    key = f"running:{actor.org_id}:{actor.user_id}"
    found = cache.get(key)
    if found is None:
        found = Job.objects.filter(_RUNNING, owner_id=actor.user_id).count()
        cache.set(key, found, COUNT_FOR)
    return int(found)


def job_stats(actor: Actor) -> dict[str, Any]:
    """Return counts of the last day and week, at most a minute old.

    `wait` is the median wait in seconds of jobs that started in the last day; `success` is the
    share of succeeded among ended jobs of the last week. Both are None without such jobs.
    """
    teams = actor.teams_where(Permission.JOBS_READ)
    whose = "all" if teams is None else "-".join(sorted(team.hex for team in teams))
    key = f"job-stats:{actor.org_id}:{sha256(whose.encode()).hexdigest()[:32]}"
    found: dict[str, Any] | None = cache.get(key)
    if found is None:
        found = _job_stats(visible_jobs(actor))
        cache.set(key, found, STATS_FOR)
    return found


def _job_stats(rows: QuerySet[Job]) -> dict[str, Any]:
    now = clock.now()
    started = rows.filter(started_at__gte=now - DAY).order_by("-started_at")
    waits = [
        (start - created).total_seconds()
        for created, start in started.values_list("created_at", "started_at")[:MOST_WAITS]
        if start
    ]
    ended = dict(
        rows.filter(finished_at__gte=now - WEEK, state__in=(State.SUCCEEDED, State.FAILED))
        .order_by()
        .values_list("state")
        .annotate(n=Count("id"))
    )
    succeeded, total = ended.get(State.SUCCEEDED, 0), sum(ended.values())
    return {
        "wait": median(waits) if waits else None,
        "succeeded": succeeded,
        "ended": total,
        "success": succeeded / total if total else None,
    }


def allocated_gpus(actor: Actor) -> int:
    """Return the number of GPUs that running jobs of visible teams have now."""
    teams = actor.teams_where(Permission.JOBS_READ)
    return gpu_use.allocated(**({} if teams is None else {"job__team_id__in": teams}))


def running_jobs(actor: Actor) -> tuple[int, list[dict[str, Any]]]:
    """Return the number of running jobs, and the first of them with `recent` GPU use."""
    rows = visible_jobs(actor).filter(_RUNNING)
    shown = list(_mine_first(representations.listed(rows), actor)[:SHOWN])
    used = running_utilization_of(shown)
    nothing: dict[str, Any] = {"utilization": None, "recent": []}
    return rows.count(), [
        representations.job_row(job)
        | {"gpu_utilization": found["utilization"], "recent": found["recent"]}
        for job in shown
        for found in [used.get(job.id, nothing)]
    ]


def queued_jobs(actor: Actor) -> int:
    """Return the number of jobs that wait in the queue."""
    return visible_jobs(actor).filter(state=State.QUEUED).count()


def recent_jobs(actor: Actor) -> list[JobShape]:
    """Return the jobs that ended last."""
    rows = visible_jobs(actor).filter(finished_at__isnull=False).order_by("-finished_at")
    return [representations.job_row(job) for job in representations.listed(rows)[:SHOWN]]


def attention(actor: Actor) -> dict[str, Any]:
    """Return what the actor should look at, each with its real count and the first rows.

    Jobs are those of the actor and of the teams in which the actor may act on jobs of others.
    """
    rows, now = _responsible_for(actor), clock.now()
    failed = rows.filter(state=State.FAILED, finished_at__gte=now - DAY)
    waiting = rows.filter(state=State.QUEUED, created_at__lt=now - LONG_WAIT)
    asks = QuotaRequest.objects.filter(state=QuotaRequest.State.OPEN)
    asks = asks if actor.may(Permission.QUOTAS_WRITE) else asks.none()
    found: dict[str, Any] = {
        "failed_count": failed.count(),
        "failed": _rows(failed, actor),
        "waiting_count": waiting.count(),
        "waiting": _rows(waiting, actor),
        "request_count": asks.count(),
        "requests": [
            request_row(row) for row in asks.select_related("asker").order_by("created_at")[:SHOWN]
        ],
    }
    found["count"] = sum(found[f"{name}_count"] for name in ("failed", "waiting", "request"))
    return found


def _rows(rows: QuerySet[Job], actor: Actor) -> list[JobShape]:
    return [
        representations.job_row(job)
        for job in _mine_first(representations.listed(rows), actor)[: SHOWN // 2]
    ]


def _responsible_for(actor: Actor) -> QuerySet[Job]:
    rows, teams = visible_jobs(actor), actor.teams_where(Permission.JOBS_ADMIN)
    return rows if teams is None else rows.filter(Q(owner_id=actor.user_id) | Q(team_id__in=teams))


def _mine_first(rows: QuerySet[Job], actor: Actor) -> QuerySet[Job]:
    is_mine = Case(When(owner_id=actor.user_id, then=Value(0)), default=Value(1))
    return rows.order_by(is_mine, "-number")


def newcomer_steps(actor: Actor, has_cli: bool = False) -> dict[str, bool] | None:
    """Return which of the three first steps are done; None once the actor has finished a job.

    `has_cluster`: whether a job can run at all. The portal cannot see an installed CLI before it
    signs in: `has_cli` is what the actor says.
    """
    if actor.user_id is None or actor.teams_where(Permission.JOBS_SUBMIT) == frozenset():
        return None
    mine = Job.objects.filter(owner_id=actor.user_id)
    if mine.filter(state=State.SUCCEEDED).exists():
        return None
    has_signed_in = AccessToken.objects.filter(
        user_id=actor.user_id, attempt_id=None, last_used_at__isnull=False
    ).exists()
    return {
        "cli": has_cli or has_signed_in,
        "sign_in": has_signed_in,
        "job": False,
        "has_job": mine.exists(),
        "has_cluster": Cluster.objects.filter(is_enabled=True).exists(),
    }
