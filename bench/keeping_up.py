"""Measure a poll of many unchanged jobs on a real Slurm, compared with one `squeue` of them.

Uses Slurm's commands for every size, and slurmrestd only up to the size that it can list: v0.0.38
returns 3 KB of JSON per job. The jobs wait on drained nodes. They are queued through plain
connections under the keys of existing attempts; everything that the watcher does with them is real.

    python -m bench.keeping_up [--live 1500 50000]
"""

from __future__ import annotations

import argparse
import http.client
import json
import re
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from bench.handover import SPEC, connect
from bench.setting import begin
from bench.table import Row, report, timed
from tests.rig.processes import Folder
from tests.rig.slurm import Slurm, start_slurm

SIZES, BY_REST = (1_500, 50_000), 5_000
CONNECTIONS, LOOKS, TASKS = 8, 5, 1_000
_SLURM = {
    "MaxJobCount": "70000",
    "SchedulerParameters": "bf_interval=30,sched_interval=60,sched_min_interval=2000000",
}  # as sites have it
_SCRIPT = "#!/bin/sh\nexec true\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--live", type=int, nargs="+", default=SIZES)
    folder, rows = Folder(), []
    try:
        slurm = start_slurm(folder, accounting=False, settings=_SLURM)
        actor = begin(folder)
        cluster = connect(actor, slurm)
        slurm.run(
            "scontrol", "update", f"nodename={','.join(slurm.nodes)}", "state=drain", "reason=bench"
        )
        for size in sorted(parser.parse_args().live):
            _grow(actor, slurm, cluster, size)
            rows.append(
                _keeping_up(_reached(actor, slurm, cluster, by_rest=False), slurm, size, "squeue")
            )
            if size <= BY_REST:
                rows.append(
                    _keeping_up(
                        _reached(actor, slurm, cluster, by_rest=True),
                        slurm,
                        size,
                        "slurmrestd v0.0.38",
                    )
                )
    finally:
        folder.close()
    report(rows)
    return 0


def _grow(actor: Any, slurm: Slurm, cluster: Any, size: int) -> None:
    """Create live attempts known to both sides."""
    from jobs.models import Attempt, Job
    from portal.core import clock
    from schedulers.states import State
    from workspaces.tenancy.scope import platform_scope

    with platform_scope("bench"):
        missing = size - Attempt.objects.filter(cluster=cluster).count()
        for at in range(0, missing, TASKS):
            _submit(actor, min(TASKS, missing - at))
        fresh = list(Attempt.objects.filter(cluster=cluster, state=State.QUEUED))
        numbers = _queued(slurm, [attempt.key for attempt in fresh])
        for attempt in fresh:
            attempt.state, attempt.native_id, attempt.has_reservation, attempt.wait = (
                State.SUBMITTED,
                str(numbers[attempt.key]),
                True,
                "",
            )
            attempt.state_at = clock.now()
        Attempt.objects.bulk_update(
            fresh, ["state", "native_id", "has_reservation", "wait", "state_at"], batch_size=2000
        )
        Job.objects.update(state=State.SUBMITTED)


def _submit(actor: Any, tasks: int) -> None:
    from jobs import services
    from schedulers.spec import parse_mapping
    from workspaces.models import Team
    from workspaces.tenancy.scope import org_scope

    with org_scope(actor.org_id):
        services.submit_job(
            actor=actor,
            team=Team.objects.get(),
            spec=parse_mapping({**SPEC, "array": f"0-{tasks - 1}"}),
        )


def _queued(slurm: Slurm, keys: list[str]) -> dict[str, int]:
    """Queue jobs of these names through slurmrestd and return their numbers."""
    with ThreadPoolExecutor(CONNECTIONS) as pool:
        parts = list(pool.map(lambda n: _post(slurm, keys[n::CONNECTIONS]), range(CONNECTIONS)))
    return {key: number for part in parts for key, number in part.items()}


def _post(slurm: Slurm, keys: list[str]) -> dict[str, int]:
    address, numbers = urlsplit(slurm.rest_url), {}
    headers = {
        "X-SLURM-USER-NAME": slurm.user,
        "X-SLURM-USER-TOKEN": slurm.token(slurm.user),
        "Content-Type": "application/json",
    }
    link = http.client.HTTPConnection(address.hostname or "", address.port)
    for key in keys:
        job = {
            "name": key,
            "comment": "keeping up",
            "current_working_directory": str(slurm.work),
            "environment": {"PATH": "/usr/bin:/bin"},
            "standard_output": "/dev/null",
            "cpus_per_task": 1,
            "tasks": 1,
            "memory_per_node": 100,
            "time_limit": 10,
            "requeue": False,
        }
        link.request(
            "POST",
            "/slurm/v0.0.38/job/submit",
            json.dumps({"job": job, "script": _SCRIPT}),
            headers,
        )
        answer = json.loads(link.getresponse().read())
        if not answer.get("job_id"):
            raise RuntimeError(f"slurmrestd answered {answer}")
        numbers[key] = int(answer["job_id"])
    link.close()
    return numbers


def _reached(actor: Any, slurm: Slurm, cluster: Any, *, by_rest: bool) -> Any:
    """Return the cluster with its queued jobs, reached by commands or by REST."""
    from clusters.models import Cluster
    from clusters.services import connections

    way = (
        {"rest_url": slurm.rest_url, "rest_key": slurm.jwt_key.read_text()}
        if by_rest
        else {"rest_url": "", "rest_key": None}
    )
    options = {
        "spool": str(slurm.work / "spool"),
        "user": slurm.user,
        "conf": "" if by_rest else str(slurm.conf),
        **way,
    }
    connections.change_cluster(
        actor=replace(actor, is_operator=True), cluster=cluster, options=options
    )
    return Cluster.objects.get(id=cluster.id)


def _keeping_up(cluster: Any, slurm: Slurm, size: int, way: str) -> Row:
    """Alternate polls and listings, so that load affects both."""
    from workspaces.tenancy.scope import platform_scope

    with platform_scope("bench"), _watching(cluster) as watch:
        pairs = [(timed(watch), timed(lambda: _squeue(slurm))) for _ in range(LOOKS)]
        written = _written(watch)
        memory = _pss()
        cluster.refresh_from_db()
    if cluster.trouble:
        raise RuntimeError(f"the watcher had trouble: {cluster.trouble}")
    seconds, squeue = (statistics.median(column) for column in zip(*pairs, strict=True))
    ratio = statistics.median(ours / theirs for ours, theirs in pairs)
    return Row(
        f"keeping up with {size:,} live jobs on Slurm, by {way}",
        f"{squeue * 1000:.0f} ms for one squeue of them",
        "–",
        f"{seconds * 1000:.0f} ms a look: {ratio:.1f} × squeue; {written} rows written",
        "≤ 3 × squeue, no row written",
        ratio <= 3 and not written,
        f"{memory:.0f} MiB PSS with Django and the bench itself",
    )


@contextmanager
def _watching(cluster: Any) -> Iterator[Callable[[], None]]:
    """Return a watcher that has observed and recorded all of them once."""
    from jobs.dispatch.watch.watcher import Watcher
    from jobs.models import Attempt
    from schedulers.states import State

    watcher = Watcher(cluster.id)

    def one_look() -> None:
        watcher.wake.set()
        watcher.look()

    one_look()  # records pending reasons
    while Attempt.objects.filter(
        cluster=cluster, state=State.SUBMITTED, confirmed_at=None
    ).exists():
        time.sleep(1)  # confirmed once, ten seconds later
        one_look()
    one_look()
    yield one_look
    watcher._release()  # or the next watcher would not be elected


def _written(watch: Callable[[], None]) -> int:
    """Count the job rows that one poll writes."""
    from django.db import connection

    found: list[int] = []

    def count(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        done = execute(sql, params, many, context)
        if sql.startswith(("UPDATE", "INSERT", "DELETE")) and "jobs_" in sql:
            found.append(context["cursor"].rowcount)
        return done

    with connection.execute_wrapper(count):
        watch()
    return sum(found)


def _squeue(slurm: Slurm) -> None:
    subprocess.run(
        ["squeue", "--noheader", "-o", "%A|%T|%r|%j|%N"],
        env={"SLURM_CONF": str(slurm.conf), "PATH": "/usr/bin:/bin"},
        stdout=subprocess.DEVNULL,
        check=True,
    )


def _pss() -> float:
    """Return the PSS of this process in MiB."""
    found = re.search(r"^Pss: +(\d+) kB", Path("/proc/self/smaps_rollup").read_text(), re.MULTILINE)
    return int(found[1]) / 1024 if found else 0


if __name__ == "__main__":
    sys.exit(main())
