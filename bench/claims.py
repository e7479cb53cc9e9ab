"""Measure claiming and finishing attempts, compared with empty Celery tasks in the same run.

Ours: one process claims batches of the dispatcher's size, records their submission (each under its
own native id) and their end (each with its own node and times), with all rows, events and quotas.
The backend and the building of launches are excluded. Once with jobs of one task, once with arrays
of 100. Celery: one worker with two threads on Redis; the tasks were sent before.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from datetime import timedelta

from bench.setting import begin
from bench.table import Row, report
from tests.rig.processes import Folder

TASKS, RUNS = 2000, 3
PATIENCE = 60.0
NOOP = """\
import os, celery
app = celery.Celery('noop', broker=os.environ['MUSTER_REDIS_URL'])
app.conf.update(task_ignore_result=True, worker_prefetch_multiplier=64)
@app.task(name='noop')
def noop():
    pass
"""


def main() -> int:
    folder = Folder()
    try:
        actor = begin(folder)
        single = statistics.median(_ours(actor, 1) for _ in range(RUNS))
        arrays = statistics.median(_ours(actor, 100) for _ in range(RUNS))
        peer = [_celery(folder) for _ in range(RUNS)]
        raw = _raw()
    finally:
        folder.close()
    celery = statistics.median(peer)
    report(
        [
            Row(
                "claim and finish of attempts, one process",
                f"{raw:.0f} rows/s claimed and ended by two UPDATEs, SKIP LOCKED, batches of 100",
                f"Celery no-op: {celery:.0f} tasks/s",
                f"{single:.0f} jobs/s: {single / celery:.1f} × Celery; tasks of arrays "
                f"{arrays:.0f}/s: {arrays / celery:.1f} ×",
                "≥ 10 × Celery",
                single >= 10 * celery,
                "a plain job: 3 changes of state in 2 tables, 4 events, 6 meters held and settled",
            )
        ]
    )
    return 0


def _ours(actor, size: int) -> float:  # type: ignore[no-untyped-def]
    """Return attempts per second for arrays of `size` tasks or, for 1, simple jobs."""
    from clusters.models import Cluster, Node
    from jobs import services
    from jobs.dispatch.claims import claim_due
    from jobs.dispatch.lifecycle import StateChange, transition
    from portal.core import clock
    from schedulers.spec import parse_mapping
    from schedulers.states import Reason, State
    from workspaces.models import Team
    from workspaces.tenancy.scope import org_scope, platform_scope

    cluster = Cluster.objects.get()
    Node.objects.get_or_create(
        cluster=cluster, name="n0", defaults={"cpus": 10**9, "memory": 1 << 60}
    )
    with org_scope(actor.org_id):
        team = Team.objects.get()
        for _ in range(TASKS // size):
            services.submit_job(
                actor=actor,
                team=team,
                spec=parse_mapping({"run": "true"} | ({"array": size} if size > 1 else {})),
            )
    with platform_scope("bench"):
        done, began = 0, time.perf_counter()
        while claim := claim_due(cluster.id):
            transition(
                StateChange(a.id, State.SUBMITTED, "bench", native_id=a.key, lease=claim.lease)
                for a in claim.attempts
            )
            at = clock.now()
            done += len(
                transition(
                    StateChange(
                        a.id,
                        State.SUCCEEDED,
                        "bench",
                        Reason.COMPLETED,
                        exit_code=0,
                        peak_memory=n,
                        node=f"n{n % 8}",
                        started_at=at - timedelta(milliseconds=n),
                        finished_at=at,
                    )
                    for n, a in enumerate(claim.attempts, 1)
                )
            )
        return done / (time.perf_counter() - began)


def _celery(folder: Folder) -> float:
    home = folder.path / "celery"
    home.mkdir(exist_ok=True)
    (home / "noop.py").write_text(NOOP)
    plain = {name: value for name, value in os.environ.items() if name != "DJANGO_SETTINGS_MODULE"}
    send = f"import noop, time\nfor _ in range({TASKS}): noop.noop.delay()\n"
    subprocess.run([sys.executable, "-c", send], cwd=home, env=plain, check=True)
    with subprocess.Popen(
        [
            sys.executable,
            "-m",
            "celery",
            "-A",
            "noop",
            "worker",
            "--pool",
            "threads",
            "-c",
            "2",
            "--without-mingle",
            "--without-gossip",
            "-l",
            "error",
        ],
        cwd=home,
        env=plain,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as worker:
        rate = _drain()
        worker.terminate()
    return rate


def _drain() -> float:
    """Measure from the first task to the last."""
    import redis

    link, deadline = (
        redis.Redis.from_url(os.environ["MUSTER_REDIS_URL"]),
        time.monotonic() + PATIENCE,
    )
    while link.llen("celery") == TASKS and time.monotonic() < deadline:
        time.sleep(0.002)
    began, first = time.perf_counter(), TASKS - int(link.llen("celery"))
    while link.llen("celery"):
        time.sleep(0.002)
        if time.monotonic() > deadline:
            raise RuntimeError("the Celery worker did not empty its queue")
    return (TASKS - first) / (time.perf_counter() - began)


def _raw() -> float:
    """Measure the database alone."""
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute(
            "CREATE TABLE raw_queue AS SELECT generate_series(1, 20000) AS id, 0 AS state"
        )
        cursor.execute("CREATE INDEX ON raw_queue (id) WHERE state = 0")
        seconds, began = 1, time.perf_counter()
        while seconds:
            cursor.execute(
                "UPDATE raw_queue SET state = 1 WHERE id IN (SELECT id FROM raw_queue WHERE "
                "state = 0 ORDER BY id "
                "FOR UPDATE SKIP LOCKED LIMIT 100) RETURNING id"
            )
            ids = [row[0] for row in cursor.fetchall()]
            seconds = len(ids)
            cursor.execute("UPDATE raw_queue SET state = 2 WHERE id = ANY(%s)", [ids])
        return 20000 / (time.perf_counter() - began)


if __name__ == "__main__":
    sys.exit(main())
