"""Real jobs, their ledger and their statement, line by line: on this machine, Slurm and Kubernetes.

Kubernetes is that of `tests.rig.kube`: a real one, or the double, which runs the commands. On Slurm,
times are also compared with those of `sacct`, which are whole seconds.
"""

from __future__ import annotations

import os
import sys
import time
from collections import defaultdict
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest

from billing.amounts import hours_of, month_of, ms_of, next_month, rounded
from billing.models import LedgerLine
from billing.services import prices, statements
from clusters.backends import backend_of
from clusters.models import Gpu
from clusters.services.connections import connect_cluster
from clusters.services.inventory import take_inventory
from jobs import services
from jobs.dispatch.watch.watcher import Watcher
from jobs.models import Attempt, Job
from portal.core import clock
from schedulers.states import State
from tests.agent.nvml_double import Device, Nvml
from tests.jobs.conftest import hints_go_nowhere as hints_go_nowhere  # noqa: PLC0414  a fixture
from tests.jobs.slurm_site import token
from tests.jobs.stage import dispatch_all, submit
from tests.rig.kube import options_of
from workspaces.tenancy.scope import org_scope, platform_scope

pytestmark = pytest.mark.integration
JOBS = int(os.environ.get("MUSTER_TEST_REAL_JOBS", "30"))  # 100 for a longer run
FAILED, RETRIED, CANCELED = JOBS // 6, JOBS // 10, 4
PRICES = {"gpu": "3600", "cpu": "70", "memory": "13"}  # high: jobs of seconds must cost something
MEMORY = 64  # MiB of each job
LATENCY = 2  # seconds from Slurm's allocation to the start of the script


@pytest.fixture
def options(request, settings, shared_folder, monkeypatch):
    """Return how the cluster is connected."""
    kind = request.param
    settings.MUSTER_HOME = shared_folder / "home"  # users of jobs must be able to enter it
    settings.MUSTER_HOME.mkdir()
    if kind == "local":
        monkeypatch.setitem(sys.modules, "pynvml", Nvml(Device("GPU-1"), Device("GPU-2")))
        yield {}
    elif kind == "slurm":
        slurm = request.getfixturevalue("slurm")
        spool = shared_folder / "spool"
        spool.mkdir()
        spool.chmod(0o1777)
        yield {
            "spool": str(spool),
            "user": slurm.user,
            "rest_url": slurm.rest_url,
            "rest_token": token(slurm, 3600),
        }
    else:
        yield {**options_of(), "shared": []}


class Site:
    """A connected cluster, and the jobs on it with their GPUs."""

    def __init__(self, story: Any, kind: str, options: dict[str, str]):
        self.story = story
        self.cluster = connect_cluster(
            actor=story.actor(story.dot), name="real", backend=kind, options=options
        )
        take_inventory(self.cluster, backend_of(self.cluster))
        self.watcher = Watcher(self.cluster.id)
        self.gpus: dict[Any, int] = {}  # job -> GPUs
        self.gpu_type = (
            Gpu.objects.filter(node__cluster=self.cluster).values_list("type", flat=True).first()
        )

    def submit(self, run: str, gpus: int = 0, **policy: Any) -> Job:
        gpus = gpus if self.gpu_type else 0
        resources = {"cpus": 1, "memory": f"{MEMORY}Mi"}
        resources |= {"accelerators": f"{self.gpu_type}:{gpus}"} if gpus else {}
        job = submit(self.story, run=run, resources=resources, policy=policy)
        self.gpus[job.id] = gpus
        return job

    def cancel(self, job: Job) -> None:
        with org_scope(self.story.atlas.id):
            services.cancel_job(
                actor=self.story.actor(self.story.ada), job=Job.objects.get(id=job.id)
            )

    def until(self, condition: Any, seconds: float) -> None:
        deadline = time.monotonic() + seconds
        while not condition():
            rows = Attempt.objects.values_list("job__number", "state", "wait", "reason", "evidence")
            assert time.monotonic() < deadline, list(rows)
            dispatch_all()
            self.watcher.wake.set()
            self.watcher.look()
            time.sleep(0.1)


def is_in(job, *states):
    return Job.objects.get(id=job.id).state in states


def play(site):
    """Run jobs: most succeed, some fail, some succeed at their second attempt, 4 are canceled."""
    for n in range(JOBS - FAILED - RETRIED - CANCELED):
        site.submit(f"sleep 0.{n % 5}; sleep 1", gpus=int(n % 3 == 0))
    for n in range(FAILED):
        site.submit("sleep 1; exit 3", gpus=n % 2)
    for _ in range(RETRIED):
        site.submit(
            'sleep 1; test "$MUSTER_ATTEMPT" -ge 2',
            retries=1,
            retry_on=["user_error"],
            backoff="1s",
        )
    never = site.submit("true")
    site.cancel(never)
    long = [site.submit("sleep 300", gpus=1) for _ in range(CANCELED - 1)]
    for job in long:
        site.until(lambda: is_in(job, State.RUNNING), 8 * JOBS)  # noqa: B023
        site.cancel(job)
    site.until(lambda: all(State(job.state).is_final for job in Job.objects.all()), 10 * JOBS)


@pytest.mark.parametrize(
    ("kind", "options"),
    [("local", "local"), ("slurm", "slurm"), ("kubernetes", "kubernetes")],
    indirect=["options"],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_statement_bills_what_real_jobs_used(request, story, kind, options):
    month = month_of(clock.now().date())
    dot = story.actor(story.dot, story.atlas)
    with platform_scope("test"):
        site = Site(story, kind, options)
        play(site)
        states = [State(job.state).label for job in Job.objects.order_by("number")]
        assert [states.count(name) for name in ("succeeded", "failed", "canceled")] == [
            JOBS - FAILED - CANCELED,
            FAILED,
            CANCELED,
        ]
        for resource, amount in PRICES.items():
            prices.set_price(
                actor=dot, currency="USD", resource=resource, amount=amount, starts_on=month
            )
    later = datetime.combine(next_month(month), datetime.min.time(), UTC) + timedelta(days=2)
    with clock.frozen(later), org_scope(story.atlas.id):
        statement = statements.issue_statement(actor=dot, org=story.atlas, month=month)
    with platform_scope("test"):
        ran = check_ledger(site)
        check_statement(statement, ran)
        if kind == "slurm":
            check_accounting(request.getfixturevalue("slurm"), ran)


def check_ledger(site):
    """Compare the lines of each attempt with its start and end; return attempts with their units."""
    ran = {}
    for row in Attempt.objects.filter(started_at__isnull=False).select_related("job"):
        gpus = site.gpus[row.job_id]
        units = {"cpu": 1000, "memory": MEMORY, **({f"gpu.{site.gpu_type}": gpus} if gpus else {})}
        ran[row] = units
        lines = LedgerLine.objects.filter(source=row.id)
        assert {line.resource for line in lines} == set(units)
        for resource, amount in units.items():
            mine = [line for line in lines if line.resource == resource]
            assert min(line.start_ms for line in mine) == ms_of(row.started_at)
            assert max(line.end_ms for line in mine) == ms_of(row.finished_at)
            assert sum(line.quantity for line in mine) == amount * lasted(row)
    assert len(ran) == JOBS + RETRIED - 1  # the one that was canceled at once never started
    assert sum(row.ordinal == 2 for row in ran) == RETRIED
    assert LedgerLine.objects.values("source").distinct().count() == len(ran)
    return ran


def lasted(row):
    return ms_of(row.finished_at) - ms_of(row.started_at)


def check_statement(statement, ran):
    """Compute each line again, from the attempts."""
    quantities = defaultdict(int)
    for row, units in ran.items():
        for resource, amount in units.items():
            quantities[resource] += amount * lasted(row)
    lines = {line["resource"]: line for line in statement.document["lines"]}
    assert {name: line["quantity"] for name, line in lines.items()} == dict(quantities)
    costs = {
        name: rounded(hours_of(name, n) * Decimal(PRICES[name.partition(".")[0]]), "USD")
        for name, n in quantities.items()
    }
    assert {name: Decimal(line["cost"]) for name, line in lines.items()} == costs
    assert statement.total == sum(costs.values())


def check_accounting(slurm, ran):
    """Compare starts and ends with Slurm's accounting.

    It has whole seconds, and begins at the allocation: the script, by whose own record Muster bills,
    starts a little later, on a busy machine more than a second.
    """
    keys = {row.key: row for row in ran}
    found = {}
    deadline = time.monotonic() + 30
    while len(found) < len(keys) and time.monotonic() < deadline:
        text = slurm.run(
            *("env", "TZ=UTC", "sacct", "--allusers", "--noheader", "--parsable2", "--allocations"),
            *("--starttime=now-1hours", "--format=JobName%80,Start,End,ElapsedRaw"),
        )
        rows = [line.split("|") for line in text.splitlines()]
        found = {name: rest for name, *rest in rows if name in keys and "Unknown" not in rest}
        time.sleep(1)
    assert found.keys() == keys.keys()
    for key, (start, end, elapsed) in found.items():
        row = keys[key]
        for theirs, ours in ((start, row.started_at), (end, row.finished_at)):
            said = datetime.fromisoformat(theirs).replace(tzinfo=UTC)
            assert -1 <= (ours - said).total_seconds() <= 1 + LATENCY, (key, said, ours)
        assert abs(int(elapsed) - lasted(row) / 1000) <= 1 + LATENCY
