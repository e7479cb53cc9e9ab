"""Where GPU time went: parts that add up to the capacity, and statistics of jobs."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from billing import recording, statistics
from billing.amounts import HOUR_MS, at_ms, ms_of
from billing.models import AttemptGpuTime, FleetGpuTime, TeamGpuTime
from billing.recording import parts_of
from billing.selectors import dashboard
from clusters.models import Node, NodeHealth, Pool, PoolRequest
from jobs.utilization.recording import PERIOD, Span
from portal import series
from portal.core import clock
from portal.core.ids import uuid7
from tests.billing.stage import run
from tests.rig.seeds import examples
from workspaces.tenancy.scope import platform_scope

START = datetime(2026, 11, 20, 10, tzinfo=UTC)
S = ms_of(START)
NOW = START + timedelta(hours=2, minutes=2)
FLEET = ("used", "idle", "underused", "unmeasured", "reserved", "unusable", "free")


def measure(attempt, uses, start=S, end=S + 2 * HOUR_MS):
    """Store the utilization of the GPUs of an attempt, each minute."""
    points = [
        series.Point("gpu.utilization", {"gpu": str(n)}, at, use, unit="ratio")
        for n, use in enumerate(uses)
        for at in range(start, end, 60_000)
    ]
    with platform_scope("test"):
        series.append(f"attempt:{attempt.id.hex}", points, org_id=attempt.org_id)


@pytest.fixture
def recorded(story, cluster):
    """Two nodes of eight H100: one job that idles, one waiting, one promise; n1 is drained."""
    Pool.objects.create(name="h100", cluster=cluster, gpu_type="h100")
    with platform_scope("test"):
        pool = Pool.objects.get()
        PoolRequest.objects.create(
            org=story.atlas,
            team=story.speech,
            asker=story.ada,
            gpu_type="h100",
            gpus=2,
            starts_at=at_ms(S),
            ends_at=at_ms(S + HOUR_MS),
            state="approved",
            pool=pool,
        )
    idle = run(story, cluster, S, gpu=2, pool=pool)
    slow = run(story, cluster, S, S + HOUR_MS, gpu=4, pool=pool)
    run(story, cluster, S, S + HOUR_MS, gpu=1, pool=pool)  # not measured
    Node.objects.filter(name="n1").update(is_drained=True)
    measure(idle, [0.0, 0.0])
    measure(slow, [0.5] * 4, end=S + HOUR_MS)
    with clock.frozen(NOW), platform_scope("test"):
        recording.record_hours(START)
        recording.record_hours(START)  # the same again
        statistics.record_queue()
        statistics.record_days()
    return idle, slow


def hour(n, model=FleetGpuTime):
    with platform_scope("test"):
        return model.objects.get(hour=START + timedelta(hours=n), is_day=False)


def test_parts_add_up_to_the_capacity(recorded):
    for n in (0, 1):
        row = hour(n)
        assert row.capacity == 16 * HOUR_MS
        assert sum(getattr(row, name) for name in FLEET) == row.capacity
    first = hour(0)
    assert (first.idle, first.used, first.underused) == (2 * HOUR_MS, 2 * HOUR_MS, 2 * HOUR_MS)
    assert (first.unmeasured, first.reserved) == (HOUR_MS, 2 * HOUR_MS)
    assert first.unusable > 0  # of the drained node
    with platform_scope("test"):
        day = FleetGpuTime.objects.get(is_day=True)
        assert day.capacity == 32 * HOUR_MS
        teams = {row.team.slug: row for row in TeamGpuTime.objects.filter(is_day=True)}
        assert teams["vision"].idle == 4 * HOUR_MS
        assert teams["speech"].reserved == 2 * HOUR_MS
        # Of the attempts, those that wasted something.
        assert AttemptGpuTime.objects.filter(is_day=True).count() == 2


def test_power_and_energy_of_measured_gpus(story, cluster):
    """One of two nodes is measured for an hour at 8 × 500 W, then its GPUs get unhealthy."""
    node = Node.objects.get(name="n0")
    points = [
        series.Point("gpu.power", {"gpu": str(n)}, at, 500.0, unit="W")
        for n in range(8)
        for at in range(S, S + HOUR_MS, 60_000)
    ]
    with platform_scope("test"):
        series.append(f"node:{node.id.hex}", points, org_id=None)
        NodeHealth.objects.create(
            node=node, state="quarantined", since=START + timedelta(minutes=30)
        )
    with clock.frozen(START + timedelta(hours=1, minutes=1)), platform_scope("test"):
        recording.record_hours(START)
    row = hour(0)
    assert (row.energy, row.metered, row.watts) == (4000 * 3600, 8 * HOUR_MS, 4000)
    assert row.unhealthy == 8 * HOUR_MS // 2
    with clock.frozen(START + timedelta(hours=1, minutes=5)):
        asked = dashboard.asked_of(story.actor(story.dot), None, {"range": "24h"})
        times = dashboard.gpu_times(asked)
        assert [watts for watts in times.power if watts] == [4000]
        assert times.totals["energy"] == 4000 * 3600
        assert max(n or 0 for n in times.curves["unhealthy"]) == 4
        assert dashboard.power_now(asked)[0] == 4000
    with clock.frozen(START + timedelta(days=20)):  # hours are deleted by then
        query = {"range": "7d", "first": "2026-11-20", "last": "2026-11-20"}
        day = dashboard.gpu_times(dashboard.asked_of(story.actor(story.dot), None, query))
        assert len(day.times) == 1 and day.totals["capacity"] == 16 * HOUR_MS
        whole = dashboard.asked_of(story.actor(story.dot), None, {"range": "30d"})
        assert dashboard.gpu_times(whole).totals["energy"] == 4000 * 3600  # the sum of the day


def test_dashboard_names_the_jobs_behind_the_waste(story, recorded):
    idle, slow = recorded
    with clock.frozen(NOW):
        asked = dashboard.asked_of(story.actor(story.ada), story.atlas, {"range": "24h"})
        prices = dashboard.prices_for(asked)
        rows = dashboard.wasters(asked, prices)
        assert [row["number"] for row in rows] == [idle.job.number, slow.job.number]
        assert rows[0]["wasted_hours"] == 4
        assert f"muster job cancel {idle.job.number}" in str(rows[0]["advice"])
        buckets = {one.name: one.amount for one in dashboard.buckets_of(asked, prices)}
        assert buckets["idle"] == 4 * HOUR_MS
        times = dashboard.gpu_times(asked)
        assert max(value or 0 for value in times.curves["allocated"]) == 7
        # Another team's member sees nothing of it.
        other = dashboard.asked_of(story.actor(story.cyd), story.borealis, {"range": "24h"})
        assert dashboard.wasters(other, prices) == []


def test_organization_finds_its_worst_jobs_among_the_marked_ones(story, recorded, monkeypatch):
    idle, slow = recorded
    monkeypatch.setattr(recording, "TOP", 1)
    with clock.frozen(NOW):
        with platform_scope("test"):
            recording.record_hours(START)
        ada = story.actor(story.ada)
        whole = dashboard.asked_of(ada, story.atlas, {"range": "24h"})
        rows = dashboard.wasters(whole, dashboard.prices_for(whole))
        # In the first hour both wasted the same; the hours of each are added up in any case.
        assert (rows[0]["number"], rows[0]["wasted_hours"]) == (idle.job.number, 4)
        pool = dashboard.asked_of(ada, story.atlas, {"range": "24h", "pool": "h100"})
        assert len(dashboard.wasters(pool, dashboard.prices_for(pool))) == 2
    with platform_scope("test"):
        assert AttemptGpuTime.objects.filter(is_top=True, is_day=False).count() == 2
        assert AttemptGpuTime.objects.get(is_top=True, is_day=True).job_id == idle.job_id


def test_queue_of_an_organization_is_that_of_its_teams(story, cluster):
    run(story, cluster, S, gpu=1)
    run(story, cluster, S, gpu=1, team=story.speech)
    with clock.frozen(NOW), platform_scope("test"):
        statistics.record_queue()
        statistics.record_queue()
    for person, running in ((story.ada, [2]), (story.ben, [1])):
        with clock.frozen(NOW):
            asked = dashboard.asked_of(story.actor(person, story.atlas), story.atlas, {})
            assert dashboard.queue_of(asked)["running"] == running


def test_statistics_count_the_jobs_of_a_day(story, recorded):
    with clock.frozen(NOW):
        asked = dashboard.asked_of(story.actor(story.ada), story.atlas, {"range": "30d"})
        facts = dashboard.facts_of(asked)
        fleet = dashboard.facts_of(dashboard.asked_of(story.actor(story.dot), None, {}))
    assert facts["ended"] == 2 == fleet["ended"]
    assert facts["sizes"] == {"4": 1, "1": 1}
    assert facts["users"] == {str(story.ben.id): [2, 0]}
    assert sum(facts["efficiency"].values()) == 9 * HOUR_MS  # GPU time of the day, with idle ones
    assert facts["efficiency"]["5"] == 4 * HOUR_MS


@settings(max_examples=examples(200), deadline=None)
@given(
    gpus=st.integers(1, 16),
    uses=st.lists(st.lists(st.floats(0, 1.2), min_size=1, max_size=12), max_size=16),
    start=st.integers(0, HOUR_MS),
    length=st.integers(1, HOUR_MS),
)
def test_parts_of_an_attempt_add_up_to_the_millisecond(gpus, uses, start, length):
    base = S
    span = Span(
        uuid7(), uuid7(), uuid7(), uuid7(), gpus, ("n0",), base + start, base + start + length
    )
    sums = {
        str(n): {base + at * PERIOD: (use * 5, 5) for at, use in enumerate(some)}
        for n, some in enumerate(uses)
    }
    parts = parts_of(span, sums, base, base + HOUR_MS)
    expected = gpus * max(min(base + start + length, base + HOUR_MS) - base - start, 0)
    assert parts.allocated == expected
    assert min(vars(parts).values()) >= 0


def test_facts_of_days_add_up():
    one = statistics.empty() | {"ended": 2, "waits": {"1": [1, 5, {"10": 1}]}}
    assert statistics.total([one, one])["waits"] == {"1": [2, 10, {"10": 2}]}
