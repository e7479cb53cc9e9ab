"""The demo: what `manage.py demo` creates is what real jobs would have left."""

from __future__ import annotations

import threading
from dataclasses import replace
from datetime import timedelta

import pytest
from django.test import Client

from billing.models import AttemptGpuTime, LedgerLine
from clusters.backend_options import backend_kinds
from clusters.backends import backend_of
from clusters.models import Cluster, Node
from datasets.models import Version
from demo import checkpoints, datasets, experiments, history, registry, telemetry, usage
from demo.simulation import plan
from experiments.models import Run
from jobs.models import Attempt, Job
from jobs.selectors.comparison import gpu_use
from jobs.utilization.recording import record_utilization
from portal import series
from portal.blobs.logs import log_store
from portal.core import clock
from portal.core.audit.canonical import NO_ORG
from portal.core.audit.verify import verify
from portal.core.errors import Conflict
from registry.models import ModelVersion
from schedulers.contract import Launch
from schedulers.states import Reason, State
from tests.portal.core.audit.conftest import seal
from workspaces.models import User
from workspaces.tenancy.scope import no_scope, platform_scope

pytestmark = pytest.mark.django_db


@pytest.fixture
def demo(settings, tmp_path):
    settings.MUSTER_HOME = tmp_path
    with no_scope():
        return history.create(14, nodes=(2, 2))


def test_demo_has_jobs_with_logs_curves_and_gpu_measurements(demo, monkeypatch):
    monkeypatch.setattr(telemetry, "DAYS", 1)
    with no_scope():
        telemetry.write_history()
    with platform_scope("test"):
        jobs = list(Job.objects.filter(org=demo.org))
        assert len(jobs) == 14 and {State(job.state) for job in jobs} >= {State.SUCCEEDED}
        ended = Attempt.objects.filter(job__state=State.SUCCEEDED).first()
        log = log_store().read(ended.id.hex, 0).data.decode()
        assert log.startswith("$ ") and "done: wrote" in log
        assert series.query(f"attempt:{ended.id.hex}")
        node = Node.objects.filter(name="dgx-01").get()
        assert {found.name for found in series.query(f"node:{node.id.hex}")} >= {"gpu.utilization"}


def test_running_jobs_of_the_demo_save_checkpoints_to_resume_from(demo):
    def feed(is_shown: bool) -> int:
        with platform_scope("test"):
            Cluster.objects.update(is_enabled=is_shown)
        with no_scope():
            checkpoints.feed(threading.Event())
        with platform_scope("test"):
            return Version.objects.count()

    assert feed(False) < feed(True)  # the portal leaves alone what the replay hides
    with platform_scope("test"):
        job = Job.objects.get(id=Version.objects.latest("created_at").job_id)
        assert State(job.state) is State.RUNNING
    owner = Client()
    owner.force_login(User.objects.get(email=demo.email))
    for path in ("checkpoints/llm-7b", f"jobs/{job.number}", f"runs/{job.id.hex}"):
        page = owner.get(f"/aurora/{path}").content.decode()
        assert "set=outputs.ckpt.resume%3Dlatest" in page, path


@pytest.mark.integration
def test_numbers_of_a_job_agree_everywhere(demo):
    with no_scope():
        telemetry.write_history()
        record_utilization(since=clock.now() - timedelta(days=history.DAYS))
        usage.create(demo.org)
    faults, compared = [], 0
    with platform_scope("test"):
        ended = Attempt.objects.filter(state__gte=State.SUCCEEDED, started_at__isnull=False)
        for attempt in ended.select_related("job"):
            job, ran = attempt.job, attempt.finished_at - attempt.started_at
            if attempt.state_at - attempt.finished_at > timedelta(seconds=5):
                faults.append(f"#{job.number} was seen to end at {attempt.state_at}")
            gpu_ms = ran / timedelta(milliseconds=1) * job.resources["gpu"]
            lines = LedgerLine.objects.filter(source=attempt.id, resource__startswith="gpu")
            times = AttemptGpuTime.objects.filter(attempt_id=attempt.id, is_day=False)
            names = ("idle", "underused", "used", "unmeasured")
            parts = {name: sum(times.values_list(name, flat=True)) for name in names}
            billed = sum(lines.values_list("quantity", flat=True))
            for name, other in (("statement", billed), ("waste", sum(parts.values()))):
                if abs(other - gpu_ms) > 1000 * job.resources["gpu"]:
                    faults.append(f"#{job.number} ran {gpu_ms} GPU ms, {name} has {other}")
            peak = attempt.peak_memory or 0
            if attempt.reason == Reason.OUT_OF_MEMORY and peak < job.resources["memory"]:
                faults.append(f"#{job.number} ran out of memory with {peak} bytes")
            measured = sum(parts.values()) - parts["unmeasured"]
            if measured and ran > timedelta(hours=1):
                compared += 1
                use, shown = parts["used"] / measured, gpu_use(job) if not job.array_size else None
                if shown is not None and abs(use - shown) > 0.03:
                    faults.append(f"#{job.number} used {use:.3f}, and {shown:.3f} on its page")
    assert compared > 2 and not faults, "\n".join(faults)


def test_jobs_of_visitors_succeed_and_those_of_the_past_fail_by_chance():
    launches = [
        Launch(key=f"muster-{n:032x}", name="llm-7b-sft", script="python mine.py")
        for n in range(60)
    ]
    past = {plan(one, 0.0, is_by_chance=True).reason for one in launches}
    now = [plan(one, 0.0, is_by_chance=False) for one in launches]
    assert len(past) > 2 and {run.reason for run in now} == {Reason.COMPLETED}
    assert {run.seconds for run in now} == {180.0}
    assert "simulated" in next(text for _, text in now[0].output())


@pytest.mark.integration
def test_demo_registers_models_of_runs_with_links_both_ways(settings, tmp_path, monkeypatch):
    sweeps = [replace(sweep, runs=12) for sweep in experiments.SWEEPS]
    monkeypatch.setattr(experiments, "SWEEPS", sweeps)
    settings.MUSTER_HOME = tmp_path
    with no_scope():
        demo = history.create(
            8,
            nodes=(1, 1),
            plans=(datasets.plan, experiments.plan, registry.plan),
        )
    with platform_scope("test"):
        assert Run.objects.filter(job=None).count() == 36 and ModelVersion.objects.count() == 5
        seal()
        for chain in (demo.org.id, NO_ORG):  # events are in the order of time
            assert verify(chain).faults == []
        version = ModelVersion.objects.get(model__name="product-classifier", version=3)
        assert version.inspection["is_complete"] and version.metrics["val/acc"] > 0
    owner = Client()
    owner.force_login(User.objects.get(email=demo.email))
    page = "/aurora/models/vision/product-classifier/versions/3"
    run = f"/aurora/runs/{version.run_id.hex}"
    assert run in owner.get(page).content.decode()
    assert f'href="{page}"' in owner.get(run).content.decode()


@pytest.mark.integration
def test_demo_is_for_its_owner_goes_on_and_exists_once(demo, story):
    owner, other = Client(), story.client(story.ben)
    owner.force_login(User.objects.get(email=demo.email))
    for path in ("/aurora/", "/aurora/jobs", "/aurora/jobs/1", "/aurora/nodes"):
        assert owner.get(path).status_code == 200, path
        assert other.get(path).status_code == 404, path
    assert "simulated" not in {kind["name"] for kind in backend_kinds()}
    with no_scope(), pytest.raises(Conflict, match="aurora"):
        history.create(1)
    with platform_scope("test"):
        cluster = Node.objects.first().cluster
        key = f"muster-{'0' * 31}1"
        run = backend_of(cluster).runs.all()[0]
        assert backend_of(cluster).poll([key]).missing == [key]
        at = clock.now() - timedelta(days=30)
        assert run.gpu_utilization(0, at.timestamp()) == 0
    with no_scope():
        telemetry.feed(threading.Event())
    with platform_scope("test"):
        node = Node.objects.filter(name="dgx-01").get()
        assert series.latest(f"node:{node.id.hex}")
