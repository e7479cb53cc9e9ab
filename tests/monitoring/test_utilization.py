"""GPU utilization: of jobs and nodes over five minutes."""

from __future__ import annotations

import pytest

from clusters.models import Node
from jobs.models import Attempt
from monitoring.metrics.ingest import store_samples
from portal import series
from portal.core import clock
from schedulers.states import State
from tests.jobs.stage import cluster_with, submit
from workspaces.tenancy.scope import platform_scope

MINUTE = 60_000


@pytest.fixture
def running(story):
    """Return a job of Ben on two GPUs that has run for an hour."""
    cluster_with(gpus=4)
    job = submit(story, person=story.ben, resources={"accelerators": "H100:2"})
    with platform_scope("test"):
        Attempt.objects.filter(job=job).update(state=State.RUNNING, has_reservation=True)
        type(job).objects.filter(id=job.id).update(state=State.RUNNING)
    return job


def measure(owner: str, org_id, uses: dict[str, list[tuple[int, float]]]) -> None:
    """Store GPU utilization by GPU index: pairs of minutes ago and value."""
    points = [
        series.Point(
            "gpu.utilization", {"gpu": gpu}, clock.now_ms() - ago * MINUTE, value, unit="ratio"
        )
        for gpu, some in uses.items()
        for ago, value in some
    ]
    store_samples(owner, org_id, clock.now_ms(), points)


def test_running_job_reports_mean_of_its_gpus_over_five_minutes(story, running):
    with platform_scope("test"):
        attempt = Attempt.objects.get(job=running)
        uses = {"0": [(8, 0.0), (3, 0.9), (1, 0.7)], "1": [(2, 0.4)]}
        measure(f"attempt:{attempt.id.hex}", attempt.org_id, uses)
    api = story.api(story.ben)
    listed = api.get("/api/v1/orgs/atlas/jobs").json()["items"][0]
    assert listed["gpu_utilization"] == 0.6
    assert api.get("/api/v1/orgs/atlas/jobs/1").json()["gpu_utilization"] == 0.6


def test_job_without_recent_measurement_reports_none(story, running):
    with platform_scope("test"):
        attempt = Attempt.objects.get(job=running)
        measure(f"attempt:{attempt.id.hex}", attempt.org_id, {"0": [(9, 0.9)]})
    listed = story.api(story.ben).get("/api/v1/orgs/atlas/jobs").json()["items"][0]
    assert listed["gpu_utilization"] is None


def test_node_reports_utilization_of_each_gpu(story, running):
    with platform_scope("test"):
        node = Node.objects.get()
        measure(f"node:{node.id.hex}", None, {"0": [(1, 0.8)], "1": [(1, 0.2), (7, 1.0)]})
    row = story.api(story.ben).get(f"/api/v1/orgs/atlas/nodes/{node.name}").json()
    assert [gpu["utilization"] for gpu in row["gpus"]] == [0.8, 0.2, None, None]
    assert row["gpu_utilization"] == 0.5
