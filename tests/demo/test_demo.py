"""The demo: what `manage.py demo` creates is what real jobs would have left."""

from __future__ import annotations

import threading
from dataclasses import replace
from datetime import timedelta

import pytest
from django.test import Client

from clusters.backend_options import backend_kinds
from clusters.backends import backend_of
from clusters.models import Node
from demo import datasets, experiments, history, registry, telemetry
from experiments.models import Run
from jobs.models import Attempt, Job
from portal import series
from portal.blobs.logs import log_store
from portal.core import clock
from portal.core.audit.canonical import NO_ORG
from portal.core.audit.verify import verify
from portal.core.errors import Conflict
from registry.models import ModelVersion
from schedulers.states import State
from tests.portal.core.audit.conftest import seal
from workspaces.models import User
from workspaces.tenancy.scope import no_scope, platform_scope

pytestmark = pytest.mark.django_db


@pytest.fixture
def demo(settings, tmp_path):
    settings.MUSTER_HOME = tmp_path
    with no_scope():
        return history.create(14, nodes=(2, 2), log=lambda _: None)


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
            log=lambda _: None,
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
        history.create(1, log=lambda _: None)
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
