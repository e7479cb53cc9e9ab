"""Rules for idle GPUs of pools: warn, then stop or lower; keep; exempt; what is measured."""

from __future__ import annotations

from datetime import timedelta

import pytest

from clusters.models import Node, Pool
from jobs.dispatch.lifecycle import StateChange, transition
from jobs.models import Attempt, AttemptUtilization, IdleCase, Job
from jobs.ports.activity import record_uses
from jobs.tasks import apply_idle_rules
from jobs.utilization import idle_rules
from portal import series
from portal.core import clock
from portal.core.errors import Conflict
from portal.core.models import Event
from portal.gateway.provider import PortUse
from schedulers.states import Reason, State
from tests.deliver import consume
from tests.jobs.stage import cluster_with, submit
from workspaces.tenancy.scope import platform_scope

RULE = "/api/v1/orgs/atlas/pools/main/idle-rule"
MINUTES = timedelta(minutes=1)


@pytest.fixture
def pool(story):
    cluster = cluster_with(gpus=4)
    return Pool.objects.create(name="main", cluster=cluster, is_open=True)


@pytest.fixture
def run(story, pool):
    """Return a function that makes a job of Ben run on two GPUs for two hours."""

    def start(gpus=(0, 1), **spec):
        job = submit(
            story,
            person=story.ben,
            resources={"accelerators": f"H100:{len(gpus)}"},
            policy={"pool": "main"},
            **spec,
        )
        with platform_scope("test"):
            began = {"state": State.RUNNING, "started_at": clock.now() - 120 * MINUTES}
            placement = {"node": "n0", "gpus": [*gpus], "uuids": [], "cpus": 1000, "memory": 0}
            Attempt.objects.filter(job=job).update(
                **began, node="n0", has_reservation=True, placement=placement
            )
            Job.objects.filter(id=job.id).update(**began)
        return job

    return start


def use(values: dict[int, float], name="gpu.utilization", minutes=60, step=1) -> None:
    """Store values of GPUs of the node for the minutes before now."""
    with platform_scope("test"):
        node = Node.objects.get(name="n0")
        now = clock.now_ms()
        points = [
            series.Point(name, {"gpu": str(gpu)}, now - ago * 60_000, value, unit="x")
            for gpu, value in values.items()
            for ago in range(minutes, 0, -step)
        ]
        series.append(f"node:{node.id.hex}", points, org_id=None)


def rule(story, **given):
    body = {"window": 60, "threshold": 5, "action": "stop", "grace": 30} | given
    answer = story.api(story.dot, story.atlas).put(RULE, body, content_type="application/json")
    assert answer.status_code == 200, answer.json()
    return answer.json()


def end_as_the_cluster_reports(job) -> None:
    with platform_scope("test"):
        attempt = Attempt.objects.get(job=job)
        assert attempt.state == State.STOPPING
        transition([StateChange(attempt.id, State.CANCELED, "local", Reason.CANCELED)])


def kinds(job) -> list[str]:
    rows = Event.objects.filter(subject_id=job.id, kind__startswith="job.").order_by("position")
    return [kind for kind in rows.values_list("kind", flat=True) if kind != "job.submitted"]


def found(story) -> list[dict]:
    path = "/api/v1/orgs/atlas/pools/main/idle-jobs"
    return story.api(story.dot, story.atlas).get(path).json()["items"]


def test_idle_job_is_warned_then_stopped_and_its_owner_is_told_how_to_keep_it(story, run):
    job, now = run(), clock.now()
    use({0: 0.01, 1: 0.02})
    rule(story)
    with clock.frozen(now):
        apply_idle_rules()
        apply_idle_rules()
        assert kinds(job) == ["job.idle_warned"]
        consume()
        [told] = story.api(story.ben).get("/api/v1/me/notifications").json()["items"]
        assert "will be stopped" in told["title"] and "muster job keep 1 2h" in told["body"]
        assert "GPU utilization stayed below 5% for 60 minutes" in told["body"]
        page = story.client(story.ben).get("/atlas/jobs/1").content.decode()
        assert "Keep running" in page and "stops it in" in page
        [row] = found(story)
        assert (row["number"], row["metric"], row["value"]) == (1, "utilization", "2.0%")
    with clock.frozen(now + 29 * MINUTES):
        use({0: 0.01, 1: 0.02}, minutes=29)
        apply_idle_rules()
        assert kinds(job) == ["job.idle_warned"]
    with clock.frozen(now + 31 * MINUTES):
        use({0: 0.01, 1: 0.02}, minutes=2)
        apply_idle_rules()
        assert kinds(job) == ["job.idle_warned", "job.idle_stopped", "job.cancel_asked"]
        consume()
        rows = story.api(story.ben).get("/api/v1/me/notifications").json()["items"]
        assert len(rows) == 2 and "was stopped" in rows[0]["title"]
        end_as_the_cluster_reports(job)
        why = (
            "Canceled by idle rule. GPU utilization of its GPUs was 2.0% for 60 minutes; "
            "pool main stops jobs below 5%."
        )
        assert (
            story.api(story.ben).get("/api/v1/orgs/atlas/jobs/1").json()["reason"]["evidence"]
            == why
        )
        assert why in story.client(story.ben).get("/atlas/jobs/1").content.decode()


@pytest.mark.parametrize(
    "given",
    [
        {"values": {0: 0.01, 1: 0.5}},  # one GPU works
        {"values": {0: 0.01}},  # of one nothing is known
        {"values": {0: 0.01, 1: 0.01}, "minutes": 20},  # known for a third of the window
        {"values": {0: 0.01, 1: 0.01}, "step": 3},
    ],
)
def test_job_that_works_or_is_not_measured_is_left_alone(story, run, given):
    job = run()
    use(given.pop("values"), **given)
    rule(story)
    apply_idle_rules()
    assert kinds(job) == [] and found(story) == []


def test_sm_activity_counts_before_power_and_power_before_utilization(story, run):
    run()
    use({0: 1.0, 1: 1.0})  # a kernel that only waits
    rule(story, watts=120)
    assert found(story) == []
    use({0: 90.0, 1: 95.0}, "gpu.power")
    [row] = found(story)
    assert (row["metric"], row["value"]) == ("power", "95 W")
    use({0: 0.01, 1: 0.02}, "gpu.sm.active")
    assert found(story)[0]["metric"] == "sm"
    rule(story, metric="utilization")
    assert found(story) == []


def test_exempt_jobs_and_those_used_by_hand_are_left_alone(story, run):
    run((0,), labels={"kind": "session"})
    hands = run((1,))
    rest = run((2,))
    use({0: 0.0, 1: 0.0, 2: 0.0})
    rule(story)
    with platform_scope("test"):
        Event.objects.create(
            kind="job.command_run", org_id=hands.org_id, subject_type="job", subject_id=hands.id
        )
    assert [row["number"] for row in found(story)] == [rest.number]


def served(story, job, minutes_ago: int) -> None:
    """Store a request to the job's port, as the gateway does."""
    with platform_scope("test"):
        at = (clock.now() - minutes_ago * MINUTES).timestamp()
        attempt = Attempt.objects.get(job=job)
        record_uses([PortUse(attempt.key, attempt.id.int % 1000, at, 0, has_answered=True)])


def test_job_whose_ports_are_used_is_not_idle_and_its_page_says_why(story, run):
    busy, quiet = run((0,), ports=[8000]), run((1,), ports=[8000])
    use({0: 0.0, 1: 0.0})
    served(story, busy, 4)
    served(story, quiet, 70)
    with platform_scope("test"):
        now, since = clock.now(), clock.now() - 90 * MINUTES
        gpu = {"utilization": 0.0, "idle_since": round(since.timestamp() * 1000)}
        for attempt in Attempt.objects.select_related("job"):
            known = {"at": now, "utilization": 0.0, "gpus": {"0": gpu}, "idle_since": since}
            AttemptUtilization.objects.create(
                org_id=attempt.org_id, attempt=attempt, job=attempt.job, recorded_until=0, **known
            )
    rule(story)
    assert [row["number"] for row in found(story)] == [quiet.number]
    listed = story.api(story.ben, story.atlas).get("/api/v1/orgs/atlas/idle-gpus").json()["items"]
    assert [row["number"] for row in listed] == [quiet.number]
    note = "Its GPUs are idle, but its ports are in use: last request"
    pages = [story.client(story.ben).get(f"/atlas/jobs/{n}").content.decode() for n in (1, 2)]
    assert f'{note} <time data-rel="ago"' in pages[0] and note not in pages[1]
    rule(story, spares_ports=False)
    assert len(found(story)) == 2


def test_rule_that_counts_only_requests_stops_what_nobody_uses(story, run):
    used, unused, never = run((0,), ports=[8000]), run((1,), ports=[8000]), run((2,), ports=[80])
    run((3,))  # serves nothing
    use({0: 0.0, 1: 0.9, 2: 0.9, 3: 0.0})
    served(story, used, 20)
    served(story, unused, 75)
    assert rule(story, metric="ports")["spares_ports"]
    rows = {row["number"]: (row["metric_title"], row["value"]) for row in found(story)}
    assert rows == {
        unused.number: ("Without a request", "75 min"),
        never.number: ("Without a request", "120 min"),
    }
    page = story.client(story.dot).get("/platform/pools/main/idle-rule")
    assert "Without a request 75 min" in page.content.decode()
    now = clock.now()
    with clock.frozen(now):
        apply_idle_rules()
    with clock.frozen(now + 20 * MINUTES):
        served(story, never, 1)
        apply_idle_rules()
        assert kinds(never) == ["job.idle_warned", "job.idle_ended"]
    with clock.frozen(now + 31 * MINUTES):
        apply_idle_rules()
        consume()
        end_as_the_cluster_reports(unused)
    told = story.api(story.ben).get("/api/v1/me/notifications").json()["items"]
    assert "#2" in told[0]["title"] and "Its ports were not used for 60 minutes" in told[0]["body"]
    shown = story.api(story.ben).get("/api/v1/orgs/atlas/jobs/2").json()["reason"]["evidence"]
    assert "were not used for 106 min; pool main stops such jobs after 60 min." in shown


def test_owner_keeps_a_job_and_a_used_gpu_ends_the_warning(story, run):
    job, now = run(), clock.now()
    use({0: 0.0, 1: 0.0})
    rule(story)
    with clock.frozen(now):
        apply_idle_rules()
        path = f"/api/v1/orgs/atlas/jobs/{job.number}/keep"
        for hours in (0, 73, -1):
            answer = story.api(story.ben).post(
                path, {"hours": hours}, content_type="application/json"
            )
            assert answer.status_code == 400
        story.client(story.ben).post(f"/atlas/jobs/{job.number}/keep", {"hours": "2"})
    with clock.frozen(now + 40 * MINUTES):
        use({0: 0.0, 1: 0.0}, minutes=40)
        apply_idle_rules()
        assert kinds(job) == ["job.idle_warned", "job.idle_kept"] and found(story) == []
        assert "keeps this job" in story.client(story.ben).get("/atlas/jobs/1").content.decode()
    with clock.frozen(now + 130 * MINUTES):
        use({0: 0.0, 1: 0.0}, minutes=90)
        apply_idle_rules()
        assert kinds(job)[-1] == "job.idle_warned"
    with clock.frozen(now + 150 * MINUTES):
        use({0: 0.9, 1: 0.9}, minutes=20)
        apply_idle_rules()
        assert kinds(job)[-1] == "job.idle_ended"
        with platform_scope("test"):
            assert not IdleCase.objects.filter(warned_at__isnull=False).exists()


def test_job_kept_while_its_warning_ends_stays_kept(story, run, monkeypatch):
    job, now = run(), clock.now()
    use({0: 0.0, 1: 0.0})
    rule(story)
    end_case = idle_rules._end_case

    def keep_first(case):
        idle_rules.keep_job(actor=story.actor(story.ben, story.atlas), job=job, hours=2)
        end_case(case)

    monkeypatch.setattr(idle_rules, "_end_case", keep_first)
    with clock.frozen(now):
        apply_idle_rules()
    with clock.frozen(now + 20 * MINUTES):
        use({0: 0.9, 1: 0.9}, minutes=20)
        apply_idle_rules()
        with platform_scope("test"):
            assert IdleCase.objects.get(job=job).keep_until > clock.now()


def test_rule_lowers_the_priority_or_only_warns(story, run):
    job, now = run(), clock.now()
    use({0: 0.0, 1: 0.0})
    rule(story, action="warn")
    with clock.frozen(now):
        apply_idle_rules()
    rule(story, action="lower")
    with platform_scope("test"):
        IdleCase.objects.all().delete()
    with clock.frozen(now + 1 * MINUTES):
        use({0: 0.0, 1: 0.0}, minutes=1)
        apply_idle_rules()
    with clock.frozen(now + 32 * MINUTES):
        use({0: 0.0, 1: 0.0}, minutes=31)
        apply_idle_rules()
    assert kinds(job)[1:] == ["job.idle_warned", "job.idle_lowered", "job.changed"]
    with platform_scope("test"):
        assert Job.objects.get(id=job.id).priority < 0


def test_operators_edit_the_rule_on_its_page_and_others_read_it(story, pool):
    dot, path = story.client(story.dot), "/platform/pools/main/idle-rule"
    assert "No rule" in dot.get(path).content.decode()
    form = {"metric": "power", "threshold": "5", "window": "60", "action": "stop", "grace": "30"}
    refused = dot.post(path, form, follow=True).content.decode()
    assert 'data-field="watts"' in refused and "is required to measure power" in refused
    assert dot.post(path, form | {"watts": "120", "is_enabled": "on"}).status_code == 302
    page = dot.get(path).content.decode()
    assert "below 120 W per GPU" in page and "finds no idle job" in page
    ben = story.client(story.ben)
    page = ben.get("/atlas/pools/main/idle-rule").content.decode()
    assert "below 120 W per GPU" in page and 'name="window"' not in page
    ben.post(path, form | {"watts": "1"})  # refused
    assert story.api(story.ben).get(RULE).json()["watts"] == 120
    assert "/pools/main/idle-rule" in ben.get("/atlas/pools/main").content.decode()
    dot.post(path, {"do": "delete"})
    assert story.api(story.ben).get(RULE).status_code == 404
    assert Event.objects.filter(kind__startswith="pool.idle_rule").count() == 2


def test_job_whose_agent_fell_silent_is_left_alone_whatever_the_window(story, run):
    job, now = run(), clock.now()
    with platform_scope("test"):
        Attempt.objects.filter(job=job).update(started_at=now - 1500 * MINUTES)
    with clock.frozen(now - 15 * MINUTES):
        use({0: 0.01, 1: 0.01}, minutes=1440)
    rule(story, window=1440)
    with clock.frozen(now - 15 * MINUTES):
        assert len(found(story)) == 1
    assert found(story) == [], "it may have begun to work since"


def test_job_that_cannot_be_stopped_holds_up_no_other(story, run, monkeypatch):
    jobs, now = [run(), run((2, 3))], clock.now()
    use(dict.fromkeys(range(4), 0.01))
    rule(story)
    stop = idle_rules.cancel_job

    def refused(*, job, **more):
        if job.id == jobs[0].id:
            raise Conflict("it is ending")
        stop(job=job, **more)

    monkeypatch.setattr(idle_rules, "cancel_job", refused)
    with clock.frozen(now):
        apply_idle_rules()
    with clock.frozen(now + 31 * MINUTES):
        use(dict.fromkeys(range(4), 0.01), minutes=31)
        apply_idle_rules()
    assert "job.cancel_asked" in kinds(jobs[1]) and "job.idle_stopped" not in kinds(jobs[0])
