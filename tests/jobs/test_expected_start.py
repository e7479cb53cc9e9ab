"""When a pending job starts: by a scheduler, by the limits of running jobs, or honestly unknown."""

from __future__ import annotations

from datetime import datetime, timedelta
from uuid import uuid4

from clusters.models import Cluster
from jobs.models import Attempt, Job
from jobs.scheduling import forecast
from jobs.scheduling.expected_start import expected_starts
from jobs.scheduling.forecast import PendingTask, RunningTask
from portal.core import clock
from schedulers.capacity import NodeCapacity, ResourceRequest
from schedulers.states import State, Wait
from tests.jobs.stage import cluster_with, dispatch_all, submit
from workspaces.models import Quota
from workspaces.quotas.limits import Meter, QuotaUsage
from workspaces.quotas.set_limits import LimitChange, set_quotas
from workspaces.tenancy.scope import org_scope, platform_scope

TEAM = uuid4()
HOUR = 3600.0


def node(name: str, free: int, total: int = 8) -> NodeCapacity:
    whole = {"cpu": 64_000, "memory": 1 << 40}
    return NodeCapacity(
        name, {**whole, "gpu": total, "gpu.h100": total}, {**whole, "gpu": free, "gpu.h100": free}
    )


def running(ends: float | None, gpus: int, *nodes: str, meters=None) -> RunningTask:
    held = {"gpu": gpus, "gpu.h100": gpus}
    return RunningTask(ends, dict.fromkeys(nodes, held), meters or {})


def pending(
    key: str, gpus: int, nodes: int = 1, seconds: float | None = None, **more
) -> PendingTask:
    need = ResourceRequest(gpu=gpus, cpu=1000, nodes=nodes, gpu_type="h100")
    return PendingTask(key, need, TEAM, seconds, **more)


def test_queue_starts_in_order_as_running_jobs_reach_their_limits():
    nodes = [node("a", 0), node("b", 0)]
    busy = [running(2 * HOUR, 8, "a"), running(HOUR, 4, "b"), running(None, 4, "b")]
    queue = [
        pending("whole node", 8, seconds=HOUR),
        pending("half", 4, seconds=HOUR),
        pending("second half", 4, seconds=HOUR),
        pending("two nodes", 8, nodes=2),
    ]
    found = forecast.starts(nodes, {}, busy, queue, now=0)
    # "b" never becomes empty: a job without a limit is on it
    assert found == {"half": HOUR, "whole node": 2 * HOUR, "second half": 2 * HOUR}


def test_quota_is_free_when_its_holders_end_and_a_late_job_ends_now():
    meter = Meter(TEAM, "team", TEAM, "gpu")
    limits = {meter: QuotaUsage(used=4, limit=4)}
    more = {"checked": {meter: 2}, "meters": {meter: 2}}
    busy = [running(HOUR, 2, "a", meters={meter: 2}), running(-HOUR, 2, "a", meters={meter: 2})]
    queue = [pending("first", 2, **more), pending("second", 2, **more)]
    found = forecast.starts([node("a", 4)], limits, busy, queue, now=0)
    assert found == {"first": 0, "second": HOUR}


def on_node(job: Job, gpus: list[int], minutes_ago: int) -> None:
    with platform_scope("test"):
        Attempt.objects.filter(job=job).update(
            state=State.RUNNING,
            has_reservation=True,
            node="n0",
            started_at=clock.now() - timedelta(minutes=minutes_ago),
            placement={
                "node": "n0",
                "cpus": 1000,
                "memory": 0,
                "gpus": gpus,
                "uuids": [f"GPU-0-{gpu}" for gpu in gpus],
            },
        )
        Job.objects.filter(id=job.id).update(state=State.RUNNING)


def told(story, job: Job) -> dict:
    answer = story.api(story.ada).get(f"/api/v1/orgs/atlas/jobs/{job.number}?advice=true").json()
    return dict(answer["expected_start"])


def gpu_job(story, gpus: int, limit: str = "", **more) -> Job:
    policy = {"policy": {"max_runtime": limit}} if limit else {}
    return submit(story, resources={"cpus": 1, "accelerators": gpus}, **policy, **more)


def test_pending_job_says_when_it_starts_and_how_sure_that_is(story):
    cluster_with(cpus=100, gpus=4)
    on_node(gpu_job(story, 2, "2h"), [0, 1], minutes_ago=60)
    on_node(gpu_job(story, 2, "4h"), [2, 3], minutes_ago=60)
    first, behind = gpu_job(story, 1), gpu_job(story, 4)
    start = told(story, first)
    assert start["sureness"] == "if_limits"
    at = datetime.fromisoformat(start["at"])
    assert timedelta(minutes=59) < at - clock.now() <= timedelta(minutes=61)
    assert (
        start["text"]
        == f"Starts about {at:%H:%M} UTC, if running jobs use their whole time limits."
    )
    # `first` has no time limit, so nobody knows when the whole node is free again
    start = told(story, behind)
    assert (start["sureness"], "1 job is ahead" in start["text"]) == ("not_before", True)
    assert datetime.fromisoformat(start["at"]) - clock.now() > timedelta(hours=2, minutes=58)
    body = {"yaml": "run: x\nresources: {accelerators: 2}\npolicy: {priority: normal}"}
    draft = story.api(story.ada).post(
        "/api/v1/orgs/atlas/jobs/validate", {**body, "team": "vision"}, "application/json"
    )
    assert draft.json()["start"]["expected"]["at"] == start["at"]
    page = story.client(story.ada).get(f"/atlas/jobs/{first.number}").content.decode()
    assert 'data-rel="clock"' in page


def test_unknown_start_says_why(story):
    cluster_with(cpus=100, gpus=2)
    endless = gpu_job(story, 2)
    on_node(endless, [0, 1], minutes_ago=5)
    waits, after = gpu_job(story, 1), gpu_job(story, 1, after=[endless.number])
    with platform_scope("test"):
        Attempt.objects.filter(job=after).update(wait=Wait.DEPENDENCY)
    assert told(story, waits) == {
        "at": None,
        "sureness": "unknown",
        "text": "Unknown: 1 running job has no time limit.",
        "source": "Muster",
    }
    assert told(story, after)["text"] == "Unknown: #1 has no time limit, or has not started."
    story.api(story.ada).post(f"/api/v1/orgs/atlas/jobs/{waits.number}/hold")
    assert told(story, waits)["text"] == "Unknown: it is on hold."


def test_scheduler_is_named_as_the_source_and_never_in_the_past(story):
    cluster_with()
    job = submit(story)
    for minutes, sureness in ((90, "planned"), (-1, "unknown")):
        at = (clock.now() + timedelta(minutes=minutes)).replace(second=0, microsecond=0)
        with platform_scope("test"):
            Attempt.objects.filter(job=job).update(
                state=State.SUBMITTED, wait=Wait.BEHIND, wait_facts={"expected": at.isoformat()}
            )
            Job.objects.filter(id=job.id).update(state=State.SUBMITTED, wait=Wait.BEHIND)
            Cluster.objects.update(trouble="")
        start = told(story, job)
        assert (start["sureness"], start["source"]) == (sureness, "this machine")
        assert start["at"] is None or datetime.fromisoformat(start["at"]) == at


def test_queue_and_quota_pages_say_when_it_starts(story):
    cluster_with(cpus=100, gpus=4)
    on_node(gpu_job(story, 2, "2h"), [0, 1], minutes_ago=60)
    with org_scope(story.atlas.id):
        change = LimitChange("team", "vision", "gpu", 2)
        set_quotas(actor=story.actor(story.ada), org=story.atlas, changes=[change])
        quota = Quota.objects.get(scope="team", resource="gpu")
        quota.used = 2
        quota.save(update_fields=["used"])
    gpu_job(story, 2)
    dispatch_all()
    for person, path in (
        (story.ada, "/atlas/quotas"),
        (story.ada, "/atlas/quotas/team/vision"),
        (story.dot, "/platform/queue"),
    ):
        page = story.client(person).get(path).content.decode()
        assert 'title="Starts about ' in page, path
        assert "if running jobs use their whole time limits." in page, path


def test_a_list_takes_as_many_queries_as_one_job(story, django_assert_max_num_queries):
    cluster_with(cpus=100, gpus=2)
    on_node(gpu_job(story, 2, "2h"), [0, 1], minutes_ago=5)
    for _ in range(6):
        gpu_job(story, 1)
    with platform_scope("test"):
        rows = Attempt.objects.filter(state=State.QUEUED).select_related("job__pool", "cluster")
        attempts = list(rows)
        with django_assert_max_num_queries(8) as counted:
            one = expected_starts(attempts[:1])
        with django_assert_max_num_queries(len(counted)):
            all_of_them = expected_starts(attempts)
    assert len(all_of_them) == 6 and one.items() <= all_of_them.items()
