"""Figures of the home page: what runs, waits, failed and was used, as far as the actor may see."""

from __future__ import annotations

from datetime import timedelta
from hashlib import sha256
from statistics import median
from typing import Any
from urllib.parse import urlencode

from django.core.cache import cache
from django.db.models import Case, Count, Q, QuerySet, Value, When

from clusters.models import Cluster
from jobs.models import Job
from jobs.selectors import representations
from jobs.selectors.jobs import visible_jobs
from jobs.selectors.representations import JobShape
from jobs.utilization.selectors import running_utilization_of
from portal.core import clock
from schedulers.states import State
from workspaces.access.actors import Actor
from workspaces.access.permissions import Permission
from workspaces.approvals.selectors import cards_of, open_requests
from workspaces.models import AccessToken, Team

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

    First the requests that the actor may decide. Jobs are those of the actor and of the teams in
    which the actor may act on jobs of others; `failed_url` and `waiting_url` are lists of them.
    """
    rows, whose = _responsible_for(actor)
    now = clock.now()
    failed = rows.filter(state=State.FAILED, finished_at__gte=now - DAY)
    waiting = rows.filter(state=State.QUEUED, created_at__lt=now - LONG_WAIT)
    asks = [ask for ask in cards_of(actor, open_requests(actor)) if "approve" in ask["may"]]
    return {
        "count": len(asks) + failed.count() + waiting.count(),
        "requests": asks[:SHOWN],
        "request_count": len(asks),
        "failed": _rows(failed.order_by("-finished_at")),
        "failed_count": failed.count(),
        "failed_url": urlencode({"state": "failed", "ended": "24h"} | whose),
        "waiting": _rows(waiting.order_by("created_at")),
        "waiting_count": waiting.count(),
        "waiting_url": urlencode({"state": "queued", "until": "1h"} | whose),
    }


def _rows(rows: QuerySet[Job]) -> list[JobShape]:
    return [representations.job_row(job) for job in representations.listed(rows)[: SHOWN // 2]]


def _responsible_for(actor: Actor) -> tuple[QuerySet[Job], dict[str, str]]:
    """Return the jobs that the actor looks after, and the filters of the list that has them."""
    rows, teams = visible_jobs(actor), actor.teams_where(Permission.JOBS_ADMIN)
    if teams is None:
        return rows, {}
    if not teams:
        return rows.filter(owner_id=actor.user_id), {"owner": "me"}
    slugs = Team.objects.filter(id__in=teams).order_by("slug").values_list("slug", flat=True)
    return rows.filter(team_id__in=teams), {"team": ",".join(slugs)}


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
