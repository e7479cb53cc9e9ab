"""One day of 100,000 jobs: the ledger, and pages of usage over 30 days of a large fleet.

Rollups of the pages are filled with random numbers of the size that recording would have. There is
no raw limit or peer.
"""

from __future__ import annotations

import random
import sys
import time
from datetime import timedelta
from statistics import quantiles
from typing import Any
from uuid import UUID

import psutil

from bench.setting import begin, make_nodes
from bench.table import Row, report, timed
from tests.rig.processes import Folder

JOBS, CALLS = 100_000, 30
NODES, GPUS, DAYS = 2000, 8, 30
LEDGER_BOUND, PAGE_BOUND = 60.0, 300.0  # seconds of a core, milliseconds


def main() -> int:
    folder = Folder()
    try:
        begin(folder)
        return _measure()
    finally:
        folder.close()


def _measure() -> int:
    from django.db import connection
    from django.test import Client

    from portal.process.parts import preload_web
    from tests.story import create_story
    from workspaces.models import User
    from workspaces.tenancy.scope import platform_scope

    User.objects.update(
        email="root@bench.example"
    )  # of the set-up; the story has an Ada of its own
    story = create_story()
    with platform_scope("bench"):
        cluster = _fleet()
        _jobs(story, cluster, JOBS)
    rows = [_ledger()]
    report(rows)
    with platform_scope("bench"):
        _rollups(story, cluster)
    with connection.cursor() as cursor:
        cursor.execute("VACUUM ANALYZE")  # as autovacuum does within minutes
    preload_web()  # as in a web process when it has started
    for person, path in (
        (story.dot, "/platform/usage?range=30d"),
        (story.dot, "/platform/usage?range=7d"),
        (story.dot, "/platform/usage/jobs?range=30d"),
        (story.ada, "/atlas/usage?range=30d"),
        (story.ada, "/atlas/usage?range=7d"),
        (story.ada, "/atlas/usage/jobs?range=30d"),
        (story.ada, "/atlas/usage/cost"),
    ):
        client = Client(headers={"host": "localhost"})
        client.force_login(person)
        took = [1000 * timed(lambda: _get(client, path)) for _ in range(CALLS)]  # noqa: B023
        middle, p95 = quantiles(took, n=2)[0], quantiles(took, n=20)[18]
        rows.append(
            Row(
                f"usage: {path}",
                "-",
                "-",
                f"p50 {middle:.0f} ms, p95 {p95:.0f} ms",
                f"p95 ≤ {PAGE_BOUND:.0f} ms",
                p95 <= PAGE_BOUND,
                "30 days of 1,000,000 jobs, 200 teams, 40 pools, 16,000 GPUs; without a network",
            )
        )
    report(rows[1:])
    return 0


def _get(client: Any, path: str) -> None:
    assert client.get(path).status_code == 200, path


def _fleet() -> Any:
    from clusters.models import Cluster

    cluster = Cluster.objects.create(name="big", backend="local")
    make_nodes(cluster, NODES, GPUS)
    return cluster


def _jobs(story: Any, cluster: Any, count: int) -> None:
    """Create ended jobs of one attempt each, with the event of each end."""
    from jobs.models import Attempt, Job
    from portal.core import clock
    from portal.core.events import EventRecord, record_all
    from schedulers.states import State

    rng, now = random.Random(1), clock.now() - timedelta(hours=1)
    for first in range(0, count, 2000):
        jobs = []
        for n in range(first, first + 2000):
            began = now - timedelta(seconds=rng.uniform(0, 86_400))
            jobs.append(
                Job(
                    org=story.atlas,
                    number=n + 1,
                    team=rng.choice((story.vision, story.speech)),
                    owner=story.ben,
                    cluster=cluster,
                    name="train",
                    spec={"run": "true", "image": f"img:{n % 40}"},
                    resources={
                        "cpu": 4000,
                        "memory": 16 << 30,
                        "gpu": 1 + n % 8,
                        "gpu.h200": 1 + n % 8,
                    },
                    state=State.SUCCEEDED,
                    created_at=began - timedelta(seconds=rng.uniform(0, 3600)),
                    started_at=began,
                    finished_at=began + timedelta(seconds=rng.uniform(10, 3000)),
                )
            )
        Job.objects.bulk_create(jobs)
        attempts = Attempt.objects.bulk_create(
            Attempt(
                org=story.atlas,
                job=job,
                cluster=cluster,
                state=State.SUCCEEDED,
                started_at=job.started_at,
                finished_at=job.finished_at,
                node=f"n{rng.randrange(NODES)}",
            )
            for job in jobs
        )
        with clock.frozen(now):  # settled
            record_all(
                EventRecord(
                    "attempt.succeeded", a.org_id, "job", a.job_id, "", {"attempt": str(a.id)}
                )
                for a in attempts
            )


def _ledger() -> Row:
    """Return the CPU time of this process and of PostgreSQL for a day of jobs."""
    from billing.models import LedgerLine
    from billing.services.ledger import update_ledger
    from workspaces.tenancy.scope import platform_scope

    before = time.process_time() + _postgres()
    wall = timed(update_ledger)
    spent = time.process_time() + _postgres() - before
    with platform_scope("bench"):
        lines = LedgerLine.objects.count()
    return Row(
        f"usage: ledger of {JOBS:,} jobs",
        "-",
        "-",
        f"{spent:.1f} s of CPU, {wall:.1f} s elapsed",
        f"≤ {LEDGER_BOUND:.0f} s of one core",
        spent <= LEDGER_BOUND,
        f"{lines:,} lines; Python and PostgreSQL together",
    )


def _postgres() -> float:
    """Return the CPU seconds of the server process of this connection."""
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        times = psutil.Process(cursor.fetchone()[0]).cpu_times()
    return float(times.user + times.system)


def _rollups(story: Any, cluster: Any) -> None:
    """Fill what recording would have after 30 days of 1,000,000 jobs, 40 pools, and 200 teams."""
    from billing.amounts import midnight
    from billing.models import (
        AttemptGpuTime,
        FleetGpuTime,
        FleetJobDay,
        FleetQueueHour,
        JobDay,
        QueueHour,
        TeamGpuTime,
    )
    from billing.recording import WORST, mark_top
    from portal.core import clock
    from portal.core.ids import uuid7
    from workspaces.models import Team

    rng, today = random.Random(2), clock.now().date()
    teams = [story.vision, story.speech] + [
        Team.objects.create(org=story.atlas, slug=f"t{n}", name=f"Team {n}") for n in range(198)
    ]
    pools = [f"p{n}" for n in range(40)]
    jobs: list[UUID] = list(_some_jobs())
    parts = ("used", "idle", "underused", "unmeasured")
    power = {"energy": 10**10, "metered": 10**10, "watts": 5000.0, "unhealthy": 10**8}
    for back in range(DAYS):
        day = midnight(today - timedelta(days=back))
        place = {"is_day": True, "hour": day, "cluster_id": cluster.id, "gpu_class": "gpu.h200"}

        def amounts() -> dict[str, int]:
            return {name: rng.randrange(10**9) for name in parts}

        FleetGpuTime.objects.bulk_create(
            FleetGpuTime(pool=pool, capacity=10**10, **power, **place, **amounts())
            for pool in pools
        )
        TeamGpuTime.objects.bulk_create(
            [
                TeamGpuTime(org=story.atlas, team=team, pool=pool, **place, **amounts())
                for team in teams
                for pool in rng.sample(pools, 3)
            ],
            batch_size=2000,
        )
        attempts = [
            AttemptGpuTime(
                org=story.atlas,
                team=rng.choice(teams),
                attempt_id=uuid7(),
                job_id=rng.choice(jobs),
                pool="p1",
                gpus=4,
                **place,
                **amounts(),
            )
            for _ in range(WORST * len(teams))
        ]
        mark_top(attempts)
        AttemptGpuTime.objects.bulk_create(attempts, batch_size=2000)
        facts = _facts(rng)
        JobDay.objects.bulk_create(
            [
                JobDay(org=story.atlas, day=day.date(), facts=facts),
                *(JobDay(org=story.atlas, team=t, day=day.date(), facts=facts) for t in teams),
            ]
        )
        FleetJobDay.objects.update_or_create(day=day.date(), defaults={"facts": facts})
        for hour in range(24):
            at = day + timedelta(hours=hour)
            if back < 8:
                place |= {"is_day": False, "hour": at}
                FleetGpuTime.objects.bulk_create(
                    FleetGpuTime(pool=pool, capacity=10**10, **power, **place, **amounts())
                    for pool in pools
                )
                TeamGpuTime.objects.bulk_create(
                    TeamGpuTime(org=story.atlas, team=team, pool=pool, **place, **amounts())
                    for team in teams
                    for pool in rng.sample(pools, 3)
                )
            row = {"hour": at, "queued": 100, "running": 900, "longest": 3600}
            FleetQueueHour.objects.create(**row)
            QueueHour.objects.bulk_create(
                QueueHour(org=story.atlas, team=team, **row) for team in (None, *teams)
            )


def _some_jobs() -> Any:
    from jobs.models import Job

    return Job.objects.values_list("id", flat=True)[:5000]


def _facts(rng: random.Random) -> dict[str, Any]:
    from billing.statistics import SECONDS, SIZES, empty

    buckets = {str(n): rng.randrange(5000) for n in SECONDS}
    return empty() | {
        "ended": 33_333,
        "failed": 3000,
        "canceled": 400,
        "sizes": {str(n): rng.randrange(9000) for n in SIZES},
        "durations": buckets,
        "waits": {str(n): [3000, 10**6, dict(buckets)] for n in SIZES},
        "hours": {str(n): [1400, 10**5] for n in range(24)},
        "users": {str(UUID(int=n)): [100, 10] for n in range(200)},
        "images": {f"registry/image:{n}": [100, 10] for n in range(200)},
        "reasons": {"user_error": 2000, "out_of_memory": 1000},
        "efficiency": {str(n): 10**9 for n in range(10)},
    }


if __name__ == "__main__":
    sys.exit(main())
