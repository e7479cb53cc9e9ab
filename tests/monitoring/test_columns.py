"""Batches of several seconds from an agent that measures at 1 Hz, and agents with a wrong clock."""

from __future__ import annotations

import pytest

from clusters.models import Node
from jobs.models import Attempt
from monitoring.metrics.ingest import MOST_FIELDS, MOST_TEXT, ingest
from muster_agent.columns import combined
from portal import series
from portal.core import clock
from portal.core.errors import InvalidInput
from portal.core.models import Event
from portal.series import batches
from schedulers.states import State
from tests.jobs.stage import cluster_with, only_attempt, submit
from workspaces.tenancy.scope import org_scope, platform_scope

HOUR_MS = 3_600_000


@pytest.fixture
def owner(db):
    batches._known.clear()
    cluster_with(gpus=1)
    return f"node:{Node.objects.get(name='n0').id.hex}"


def body(at, power=500.06, jobs=(), events=(), **facts):
    sample = {"name": "gpu.power", "labels": {"gpu": "0"}, "unit": "W", "value": power}
    return {
        "node": "n0",
        "at": at,
        "samples": [sample] if power is not None else [],
        "jobs": list(jobs),
        "events": list(events),
        "facts": facts,
    }


def curve(owner, **more):
    [found] = series.query(owner, **more)
    return found


def test_agent_at_one_hertz_sends_columns_that_are_stored_with_their_times(owner, story):
    job = submit(story)
    with org_scope(story.atlas.id):
        attempt = only_attempt(job)
        Attempt.objects.filter(id=attempt.id).update(state=State.RUNNING, node="n0")
    now = clock.now_ms()
    sample = {"name": "cpu.used", "labels": {}, "unit": "cores", "value": 1.5}
    jobs = [{"key": f"muster-{attempt.id.hex}", "samples": [sample]}]
    bodies = [body(now - 1000 * n, None if n == 2 else 500.06 + n, jobs) for n in (3, 2, 1, 0)]
    assert ingest(combined(bodies))["accepted"] == 3 + 4
    found = curve(owner)
    assert found.values == [503.1, 501.1, 500.1]  # as exact as the sensor
    assert found.times == [now - 3000, now - 1000, now]
    assert curve(f"attempt:{attempt.id.hex}").times == [now - 1000 * n for n in (3, 2, 1, 0)]
    row = story.api(story.ben).get("/api/v1/orgs/atlas/nodes/n0").json()
    assert row["gpus"][0]["power"] == 500.1
    ingest(combined(bodies))
    assert len(curve(owner).values) == 3


@pytest.mark.parametrize(
    ("wrong", "field"),
    [
        ({"times": []}, "times"),
        ({"times": [2, 1]}, "times"),
        ({"times": ["1"]}, "times"),
        ({"times": [1, True]}, "times"),
        ({"columns": {}}, "columns"),
        ({"columns": [["gpu.power", {}, "W"]]}, "columns[0]"),
        ({"columns": [["A b", {}, "W", [1]]]}, "columns[0]"),
        ({"columns": [["gpu.power", {}, "W", [1, 2]]]}, "columns[0]"),
        ({"columns": [["gpu.power", {}, "W", ["1"]]]}, "columns[0]"),
        ({"columns": [["gpu.power", {"k": "v" * 100, "l": "ü" * 99}, "W", [1]]]}, "labels"),
        ({"columns": [["gpu.power", {}, "W", [1]]] * 2}, "columns"),
    ],
)
def test_malformed_columns_are_refused_by_field(owner, wrong, field):
    now = clock.now_ms()
    given = {"node": "n0", "at": now, "times": [now], "columns": []} | wrong
    with pytest.raises(InvalidInput) as caught:
        ingest(given)
    assert caught.value.data["errors"][0]["field"] == field
    assert not series.query(owner)


@pytest.mark.parametrize("hours", [-26, -1, 1, 26, 24 * 365 * 20])
@pytest.mark.parametrize("is_known", [True, False])
@pytest.mark.parametrize("is_combined", [True, False])
def test_clock_that_is_off_does_not_bend_history(owner, hours, is_known, is_combined):
    """The agent knows its skew, or has not reached the portal before and only says when it sends."""
    now = clock.now_ms()
    wrong = now + hours * HOUR_MS
    if wrong <= 0:
        return
    taken = body(wrong - 2000, clock_skew=-hours * 3600.0 if is_known else None)
    ingest(combined([taken]) if is_combined else taken, sent_ms=wrong)
    assert abs(curve(owner).times[0] - (now - 2000)) < 1000
    latest = series.latest(owner)["gpu.power{gpu=0}"]
    assert abs(latest["at"] - now) < 5000


def test_backlog_of_a_right_clock_keeps_its_times_though_it_is_sent_late(owner):
    now = clock.now_ms()
    ingest(body(now - 5 * HOUR_MS, clock_skew=0.0), sent_ms=now)
    ingest(body(now - 4 * HOUR_MS, clock_skew=1.4), sent_ms=now)  # within tolerance
    assert curve(owner).times == [now - 5 * HOUR_MS, now - 4 * HOUR_MS]


def test_time_in_the_future_is_refused_if_the_skew_is_unknown(owner):
    with pytest.raises(InvalidInput):
        ingest(body(clock.now_ms() + HOUR_MS))
    assert not series.query(owner)


def test_agents_time_of_sending_reaches_the_portal_by_its_header(owner, story):
    now = clock.now_ms()
    client = story.api(story.dot, story.atlas)
    path = "/api/v1/agent/samples"
    sent = {"Muster-Sent": str(now - HOUR_MS)}
    given = body(now - HOUR_MS - 1000, clock_skew=None)
    answer = client.post(path, given, content_type="application/json", headers=sent)
    assert answer.status_code == 200, answer.content
    assert abs(curve(owner).times[0] - now) < 5000
    sent = {"Muster-Sent": "soon"}
    assert (
        client.post(path, given, content_type="application/json", headers=sent).status_code == 400
    )


def test_utilization_of_nodes_is_recorded_from_batches(owner):
    from jobs.models import NodeUtilization
    from jobs.utilization.recording import record_utilization

    now = clock.now_ms()
    sample = {"name": "gpu.utilization", "labels": {"gpu": "0"}, "unit": "ratio", "value": 0.5}
    bodies = [body(now - 1000 * n, None) | {"samples": [sample]} for n in range(90, -1, -1)]
    ingest(combined(bodies))
    with platform_scope("test"):
        record_utilization()
        assert NodeUtilization.objects.get().gpus == {"0": 0.5}


def test_nul_in_a_batch_is_no_error_of_the_portal_and_its_event_is_limited(owner, story):
    dot, now = story.api(story.dot, story.atlas), clock.now_ms()
    fields = {f"f{n}": n for n in range(100)}
    events = [{"kind": "noted", "text": "a\0b", "c\0": 1, "long": "x" * 100_000} | fields]
    for node, status in (("n0", 200), ("n\0", 404)):
        given = body(now, jobs=[{"key": "\0"}], events=events) | {"node": node}
        answer = dot.post("/api/v1/agent/samples", given, content_type="application/json")
        assert answer.status_code == status, answer.content
    data = Event.objects.get(kind="node.noted").data
    assert data["text"] == "ab"
    assert len(data["long"]) == MOST_TEXT
    assert len(data) == MOST_FIELDS
