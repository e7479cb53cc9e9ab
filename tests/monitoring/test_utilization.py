"""GPU utilization: of jobs, nodes and teams, and idle GPUs."""

from __future__ import annotations

from datetime import timedelta

import pytest

from clusters.models import Node
from jobs.models import Attempt, AttemptUtilization, GpuCapacity, GpuTime, Job
from jobs.utilization import recording
from jobs.utilization.recording import record_utilization
from jobs.utilization.selectors import gpu_time_of
from monitoring.metrics.ingest import store_samples
from portal import series
from portal.core import clock
from portal.core.models import Event
from schedulers.states import State
from tests.deliver import deliver
from tests.jobs.stage import cluster_with, submit
from workspaces.tenancy.scope import org_scope, platform_scope

MINUTE = 60_000
JOBS = "/api/v1/orgs/atlas/jobs"


@pytest.fixture(autouse=True)
def within_one_period(monkeypatch):
    """Hold the time, so that no period of five minutes ends during a test, and record one day."""
    monkeypatch.setattr(recording, "BACKFILL", timedelta(days=1))
    with clock.frozen(clock.now()):
        yield


@pytest.fixture
def attempt(story):
    """Return the attempt of a job of Ben on two GPUs that has run for two hours."""
    cluster = cluster_with(gpus=4)
    job = submit(story, person=story.ben, resources={"accelerators": "H100:2"})
    with platform_scope("test"):
        now = clock.now()
        type(cluster).objects.update(created_at=now - timedelta(hours=3))
        started = {"state": State.RUNNING, "started_at": now - timedelta(hours=2)}
        Attempt.objects.filter(job=job).update(**started, has_reservation=True, node="n0")
        Job.objects.filter(id=job.id).update(**started)
        return Attempt.objects.get(job=job)


def measure(owner: str, org_id, uses: dict[str, list[tuple[int, float]]]) -> None:
    """Store GPU utilization by GPU index: pairs of minutes ago and value."""
    now = clock.now_ms()
    points = [
        series.Point("gpu.utilization", {"gpu": gpu}, now - ago * MINUTE, value, unit="ratio")
        for gpu, some in uses.items()
        for ago, value in some
    ]
    with platform_scope("test"):
        store_samples(owner, org_id, now, points)


def measure_attempt(attempt, uses) -> None:
    measure(f"attempt:{attempt.id.hex}", attempt.org_id, uses)


def every_minute(value: float, since: int = 119) -> list[tuple[int, float]]:
    return [(ago, value) for ago in range(1, since)]


def test_running_job_reports_mean_of_its_gpus_over_five_minutes(story, attempt):
    measure_attempt(attempt, {"0": [(8, 0.0), (3, 0.9), (1, 0.7)], "1": [(2, 0.4)]})
    record_utilization()
    api = story.api(story.ben)
    assert api.get(JOBS).json()["items"][0]["gpu_utilization"] == 0.6
    assert api.get(f"{JOBS}/1").json()["gpu_utilization"] == 0.6


def test_job_without_recent_measurement_reports_none(story, attempt):
    measure_attempt(attempt, {"0": [(9, 0.9)]})
    record_utilization()
    assert story.api(story.ben).get(JOBS).json()["items"][0]["gpu_utilization"] is None


def test_job_that_has_its_nodes_alone_is_measured_by_them(story, attempt):
    with platform_scope("test"):
        Job.objects.update(resources={"gpu": 4})
        node = Node.objects.get()
    measure(f"node:{node.id.hex}", None, {"0": [(1, 0.8)], "3": [(1, 0.4)]})
    record_utilization()
    assert story.api(story.ben).get(f"{JOBS}/1").json()["gpu_utilization"] == 0.6


def test_node_reports_utilization_of_each_gpu(story, attempt):
    with platform_scope("test"):
        node = Node.objects.get()
    measure(f"node:{node.id.hex}", None, {"0": [(1, 0.8)], "1": [(1, 0.2), (7, 1.0)]})
    record_utilization()
    row = story.api(story.ben).get(f"/api/v1/orgs/atlas/nodes/{node.name}").json()
    assert [gpu["utilization"] for gpu in row["gpus"]] == [0.8, 0.2, None, None]
    assert row["gpu_utilization"] == 0.5


def test_team_time_adds_up_and_recording_twice_changes_nothing(story, attempt):
    measure_attempt(attempt, {"0": every_minute(1.0), "1": every_minute(0.5)})
    record_utilization()
    with platform_scope("test"):
        before = list(GpuTime.objects.order_by("start").values_list("start", "allocated", "used"))
        GpuCapacity.objects.all().delete()
        record_utilization(since=clock.now() - timedelta(hours=6))
        assert before == list(
            GpuTime.objects.order_by("start").values_list("start", "allocated", "used")
        )
    # A period that is not over yet is not counted.
    allocated = sum(a for _, a, _ in before) / 3_600_000
    assert 2 * 113 / 60 < allocated <= 4
    assert sum(u for *_, u in before) / 3_600_000 == pytest.approx(allocated * 0.75, rel=0.05)
    with org_scope(story.atlas.id):
        shown = gpu_time_of(story.actor(story.ben), 24)
    [team] = shown["teams"]
    assert max(n for n in shown["total"] if n is not None) == shown["gpus"] == 4
    assert max(n or 0 for n in team["allocated"]) == 2 and max(n or 0 for n in team["used"]) == 1.5


def test_gpu_time_is_of_teams_whose_jobs_one_may_read(story, attempt):
    record_utilization()
    with org_scope(story.atlas.id):
        assert gpu_time_of(story.actor(story.ada), 24)["teams"]
    with org_scope(story.borealis.id):
        assert not gpu_time_of(story.actor(story.cyd, story.borealis), 24)["teams"]


def test_record_of_ended_attempt_is_deleted(story, attempt):
    measure_attempt(attempt, {"0": [(1, 0.5)]})
    record_utilization()
    with platform_scope("test"):
        assert AttemptUtilization.objects.count() == 1
        Attempt.objects.update(state=State.FAILED, finished_at=clock.now())
    record_utilization()
    with platform_scope("test"):
        assert not AttemptUtilization.objects.exists()


def wasted(story, attempt) -> None:
    """Measure GPU 0 as busy and GPU 1 as idle for 50 minutes."""
    idle = [(ago, 0.02 if ago <= 50 else 0.9) for ago in range(1, 119)]
    measure_attempt(attempt, {"0": every_minute(0.9), "1": idle})
    record_utilization()


def idle_of(story, person) -> list[dict]:
    return story.api(person).get("/api/v1/orgs/atlas/idle-gpus").json()["items"]


def test_idle_gpus_are_those_below_ten_percent_for_half_an_hour(story, attempt):
    wasted(story, attempt)
    [row] = idle_of(story, story.ben)
    assert (row["number"], row["gpus"], row["gpus_total"]) == (1, 1, 2)
    assert 0.6 < row["hours"] < 0.9
    assert (row["may_cancel"], row["may_notify"]) == (True, False)
    assert story.client(story.ben).get("/atlas/idle").status_code == 200
    measure_attempt(attempt, {"1": [(ago, 1.0) for ago in (0, 1, 2, 3, 4)]})
    record_utilization()
    assert idle_of(story, story.ben) == []


def test_gpu_that_is_not_measured_is_not_idle(story, attempt):
    measure_attempt(attempt, {"0": every_minute(0.9), "1": [(60, 0.01)]})
    record_utilization()
    assert idle_of(story, story.ben) == []


def test_idle_gpus_of_other_organizations_are_invisible(story, attempt):
    wasted(story, attempt)
    path = "/api/v1/orgs/borealis/idle-gpus"
    assert story.api(story.cyd, story.borealis).get(path).json()["items"] == []


def test_owner_of_idle_gpus_is_notified_once_by_mail_and_on_home(
    story, attempt, settings, mailoutbox
):
    wasted(story, attempt)
    ada, form = story.client(story.ada), {"do": "notify", "job": "1"}
    settings.EMAIL_BACKEND = "django.core.mail.backends.locmem.EmailBackend"
    ada.post("/atlas/idle", form)
    ada.post("/atlas/idle", form)
    deliver()
    assert [mail.to for mail in mailoutbox] == [[story.ben.email]]
    assert Event.objects.filter(kind="job.idle_notified").count() == 1
    assert "asks you to check #1" in story.client(story.ben).get("/atlas/").content.decode()
    assert story.client(story.ben).post("/atlas/idle", form).status_code == 302
    deliver()
    assert len(mailoutbox) == 1, "a member may not notify others"


def test_idle_job_is_canceled_by_those_who_may(story, attempt):
    wasted(story, attempt)
    story.client(story.ada).post("/atlas/idle", {"do": "cancel", "job": "1"})
    with platform_scope("test"):
        assert Job.objects.get().cancel_asked_by == story.ada.email


def test_a_gpu_whose_agent_fell_silent_does_not_stop_the_overview(story, attempt, monkeypatch):
    now = clock.now_ms() // MINUTE * MINUTE + 30_000
    monkeypatch.setattr(clock, "now_ms", lambda: now)
    with platform_scope("test"):
        node = Node.objects.get(name="n0")
        at = now - 5 * MINUTE + 10_000  # in a minute that began more than five minutes ago
        points = [series.Point("gpu.utilization", {"gpu": gpu}, at, 0.5) for gpu in ("0", "²")]
        store_samples(f"node:{node.id.hex}", None, at, points)
    record_utilization()
    assert story.api(story.ada).get("/api/v1/orgs/atlas/wall").status_code == 200


def test_a_gpu_with_a_strange_index_does_not_stop_the_overview(story, attempt):
    with platform_scope("test"):
        node = Node.objects.get(name="n0")
    measure(f"node:{node.id.hex}", None, {"0": [(1, 0.5)], "²": [(1, 0.5)]})
    record_utilization()
    answer = story.api(story.ada).get("/api/v1/orgs/atlas/wall").json()
    assert [50] in answer["use"]
