"""From what agents report to the state of a node, and what keeps rules from doing harm."""

from __future__ import annotations

from contextlib import contextmanager
from datetime import timedelta

import pytest

from clusters.health import evaluation
from clusters.health.selectors import node_health, policy_row, state_counts
from clusters.models import Cluster, Device, HealthFinding, HealthPolicy, Node, NodeHealth
from clusters.services import drain
from clusters.services import health as service
from portal import series
from portal.core import clock
from portal.core.errors import Conflict, InvalidInput, NotPermitted
from portal.core.events import EventRecord, record
from portal.core.models import Event

_began = [clock.now()]  # of the current fleet; minutes count from here


@pytest.fixture
def fleet(story, drainable):
    return fleet_of(20)


@pytest.fixture
def dot(story):
    return story.actor(story.dot, story.atlas)


def fleet_of(number, backend="drainable"):
    cluster = Cluster.objects.create(name="big", backend=backend, config={"url": "u"})
    nodes = Node.objects.bulk_create(
        Node(cluster=cluster, name=f"n{n}", cpus=1000, memory=1) for n in range(number)
    )
    Device.objects.bulk_create(
        Device(
            node=node,
            index=i,
            uuid=f"GPU-{n}-{i}",
            model="NVIDIA H100",
            type="h100",
            memory=1,
            links=18,
            driver="570.1",
        )
        for n, node in enumerate(nodes)
        for i in range(2)
    )
    _began[0] = clock.now()
    evaluation.evaluate_cluster(cluster)
    return cluster


@contextmanager
def at(minutes):
    with clock.frozen(_began[0] + timedelta(minutes=minutes)):
        yield


def report(names, *values):
    """Store what the agents of these nodes measure now: (metric, GPU, value, more labels)."""
    now = clock.now_ms()
    for node in Node.objects.filter(name__in=names):
        points = [series.Point(name="memory.used", labels={}, at_ms=now, value=1.0, unit="bytes")]
        points += [
            series.Point(
                name=name, labels={"gpu": str(gpu), **more}, at_ms=now, value=value, unit=""
            )
            for name, gpu, value, more in values
        ]
        series.append(f"node:{node.id.hex}", points, org_id=None)


def xid(name, code, gpu=1):
    node = Node.objects.get(name=name)
    data = {"kind": "xid", "code": code, "gpu": gpu}
    record(EventRecord("node.xid", None, "node", node.id, "agent", data))


def judge(cluster, minutes, names=("n0",), *values):
    with at(minutes):
        report(names, *values)
        evaluation.evaluate_cluster(cluster)


def state(name="n0"):
    row = NodeHealth.objects.filter(node__name=name).first()
    return row.state if row else "healthy"


def failed(gpu=1, value=1.0):
    return "gpu.rows.failed", gpu, value, {}


def ecc(value=2.0, counter="volatile"):
    return "gpu.ecc.uncorrected", 1, value, {"counter": counter}


def test_warning_starts_after_its_minutes_and_ends_after_healthy_ones(fleet, drainable):
    hot = ("gpu.temperature", 0, 95.0, {})
    for minute in range(5):
        judge(fleet, minute, ("n0",), hot)
        assert state() == "healthy"
    judge(fleet, 5, ("n0",), hot)
    assert state() == "warning"
    found = node_health(Node.objects.get(name="n0"))
    assert found["why"] == "GPU 0: 95 °C" and "fans" in found["advice"]
    judge(fleet, 6, ("n0",), ("gpu.temperature", 0, 60.0, {}))
    assert state() == "warning"
    judge(fleet, 17, ("n0",), ("gpu.temperature", 0, 60.0, {}))
    assert state() == "healthy" and not HealthFinding.objects.exists()
    assert drainable.calls == []


def test_short_condition_never_counts(fleet):
    judge(fleet, 0, ("n0",), ("gpu.temperature", 0, 95.0, {}))
    judge(fleet, 1, ("n0",), ("gpu.temperature", 0, 60.0, {}))
    assert not HealthFinding.objects.exists()


def test_uncorrected_error_drains_and_the_end_resumes(fleet, drainable):
    judge(fleet, 0, ("n0",), ecc(), ecc(9.0, "aggregate"))
    assert state() == "draining"
    assert drainable.calls == [
        ("drain", "n0", "Health: GPU 1: 2 uncorrected ECC errors since the driver was loaded")
    ]
    assert Node.objects.get(name="n0").is_drained
    judge(fleet, 1, ("n0",), ecc(0.0))  # the GPU was reset
    assert state() == "draining"
    judge(fleet, 12, ("n0",), ecc(0.0))
    assert state() == "healthy" and drainable.calls[-1] == ("resume", "n0")
    kinds = Event.objects.filter(subject_id=Node.objects.get(name="n0").id).order_by("position")
    assert list(kinds.values_list("kind", flat=True)) == [
        "node.drained",
        "node.health_changed",
        "node.health_changed",
        "node.resumed",
    ]


def test_aggregate_errors_of_earlier_drivers_do_not_count(fleet):
    judge(fleet, 0, ("n0",), ecc(5.0, "aggregate"))
    assert state() == "healthy"


def test_xids_act_by_their_class_and_program_errors_do_nothing(fleet, drainable):
    with at(0):
        for name, code in (("n0", 79), ("n1", 48), ("n2", 63), ("n3", 31), ("n4", 45)):
            xid(name, code)
    judge(fleet, 1, ())
    states = {f"n{n}": state(f"n{n}") for n in range(5)}
    assert states == {
        "n0": "quarantined",
        "n1": "draining",
        "n2": "warning",
        "n3": "healthy",
        "n4": "healthy",
    }
    row = node_health(Node.objects.get(name="n0"))
    assert row["why"] == "GPU 1: XID 79 (GPU has fallen off the bus)"
    judge(fleet, 2 * 1440, ("n0", "n1", "n2"))
    assert [state(f"n{n}") for n in range(3)] == ["quarantined", "draining", "healthy"]


def test_quarantine_ends_only_by_an_operator_and_then_only_warns(fleet, drainable, dot, story):
    judge(fleet, 0, ("n0",), failed())
    assert state() == "quarantined"
    judge(fleet, 60, ("n0",), failed())
    node = Node.objects.get(name="n0")
    with pytest.raises(NotPermitted):
        service.return_node(actor=story.actor(story.ada), node=node)
    with at(61):
        service.return_node(actor=dot, node=node)
    assert (state(), drainable.calls[-1]) == ("warning", ("resume", "n0"))
    judge(fleet, 62, ("n0",), failed())
    assert state() == "warning" and len(drainable.calls) == 2
    judge(fleet, 63, ("n0",), failed(value=0.0))  # repaired
    assert state() == "healthy"
    judge(fleet, 64, ("n0",), failed())  # a new failure counts again
    assert state() == "quarantined"


def test_worse_finding_raises_the_state_without_another_drain(fleet, drainable):
    judge(fleet, 0, ("n0",), ecc())
    judge(fleet, 1, ("n0",), ecc(), failed(0))
    assert state() == "quarantined" and len(drainable.calls) == 1


def test_node_that_an_operator_drained_stays_drained(fleet, drainable, dot):
    node = Node.objects.get(name="n0")
    drain.drain_node(actor=dot, node=node, why="fan")
    judge(fleet, 0, ("n0",), ecc())
    judge(fleet, 1, ("n0",), ecc(0.0))
    judge(fleet, 12, ("n0",), ecc(0.0))
    assert state() == "healthy" and len(drainable.calls) == 1
    assert Node.objects.get(name="n0").is_drained


def test_operator_who_drains_a_drained_node_keeps_it(fleet, drainable, dot):
    judge(fleet, 0, ("n0",), ecc())
    node = Node.objects.select_related("cluster").get(name="n0")
    drain.drain_node(actor=dot, node=node, why="fan as well")
    judge(fleet, 1, ("n0",), ecc(0.0))
    judge(fleet, 12, ("n0",), ecc(0.0))
    assert state() == "healthy" and Node.objects.get(name="n0").is_drained


def test_resume_at_the_scheduler_overrides_the_rule(fleet, drainable):
    judge(fleet, 0, ("n0",), ecc())
    Node.objects.filter(name="n0").update(is_drained=False)  # scontrol, seen by the inventory
    judge(fleet, 1, ("n0",), ecc())  # or an inventory from before the drain
    assert state() == "draining"
    judge(fleet, 5, ("n0",), ecc())
    judge(fleet, 6, ("n0",), ecc())
    assert state() == "warning" and len(drainable.calls) == 1


def test_what_is_not_measured_is_unknown_not_healthy(fleet):
    judge(fleet, 0, ("n0",), ecc())
    with at(30):  # the agent is silent
        evaluation.evaluate_cluster(fleet)
    row = HealthFinding.objects.get(check_code="ecc")
    assert row.ended_at is None and state() == "draining"
    assert HealthFinding.objects.filter(check_code="silent").exists()
    judge(fleet, 31, ("n0",), ecc(0.0))
    Device.objects.filter(node__name="n0", index=1).update(is_lost=True)
    judge(fleet, 60, ("n0",))
    assert HealthFinding.objects.filter(check_code="device_lost").exists()


def test_devices_are_compared_with_most_of_their_model(fleet):
    Device.objects.filter(node__name="n1", index=0).update(links=17)
    Device.objects.filter(node__name="n2").update(driver="560.1")
    Device.objects.filter(node__name="n3", index=1).delete()
    for minute in (0, 3, 31):
        judge(fleet, minute, ("n1", "n2", "n3"))
    texts = {name: node_health(Node.objects.get(name=name))["why"] for name in ("n1", "n2", "n3")}
    assert texts == {
        "n1": "GPU 0: 17 of 18 NVLinks are up",
        "n2": "driver 560.1; most nodes with this GPU have 570.1",
        "n3": "1 of 2 expected GPUs respond",
    }


def test_throttling_must_last_and_names_its_cause(fleet):
    for minute in range(11):
        judge(
            fleet,
            minute,
            ("n0",),
            ("gpu.throttle", 0, 1.0, {"reason": "hw_thermal"}),
            ("gpu.throttle", 1, 1.0, {"reason": "power_cap"}),
        )
    assert state() == "draining" and HealthFinding.objects.get().check_code == "thermal"


def test_drain_that_the_scheduler_refuses_is_tried_again(fleet, drainable, monkeypatch):
    monkeypatch.setattr(drainable, "is_away", True)
    judge(fleet, 0, ("n0",), ecc())
    row = NodeHealth.objects.get(node__name="n0")
    assert row.state == "warning" and "does not respond" in row.blocked
    monkeypatch.setattr(drainable, "is_away", False)
    judge(fleet, 1, ("n0",), ecc())
    assert state() == "draining" and NodeHealth.objects.get(node__name="n0").blocked == ""


def test_resume_that_fails_is_tried_again(fleet, drainable, monkeypatch):
    judge(fleet, 0, ("n0",), ecc())
    judge(fleet, 1, ("n0",), ecc(0.0))

    def away(node, why=""):
        raise drainable_error()

    from schedulers.contract import Unavailable

    def drainable_error():
        return Unavailable("no answer")

    with monkeypatch.context() as patch:
        patch.setattr(drainable, "resume", lambda self, node: away(node))
        judge(fleet, 12, ("n0",), ecc(0.0))
        assert Node.objects.get(name="n0").is_drained
    judge(fleet, 13, ("n0",), ecc(0.0))
    assert not Node.objects.get(name="n0").is_drained


def test_node_quarantined_while_another_resumes_stays_out(fleet, drainable, dot, monkeypatch):
    judge(fleet, 0, ("n0", "n1"), ecc())
    judge(fleet, 1, ("n0", "n1"), ecc(0.0))
    resume = evaluation.drain.resume_by_rule
    resumed = []

    def slow(node, who):
        resumed.append(node.name)
        other = Node.objects.select_related("cluster").get(name={"n0": "n1", "n1": "n0"}[node.name])
        service.quarantine_node(actor=dot, node=other, why="burnt")
        return resume(node, who)

    monkeypatch.setattr(evaluation.drain, "resume_by_rule", slow)
    judge(fleet, 12, ("n0", "n1"), ecc(0.0))
    [first] = resumed
    other = {"n0": "n1", "n1": "n0"}[first]
    assert state(other) == "quarantined" and Node.objects.get(name=other).is_drained


def test_cluster_that_cannot_drain_only_warns(story):
    cluster = fleet_of(2, backend="local")
    judge(cluster, 0, ("n0",), ecc())
    found = node_health(Node.objects.get(name="n0"))
    assert found["state"] == "warning" and "can't drain" in found["blocked"]


def test_mass_alarm_drains_nothing_and_waits_for_an_operator(story, drainable, dot):
    cluster = fleet_of(100)
    names = [f"n{n}" for n in range(100)]
    judge(cluster, 0, names, ecc())
    assert drainable.calls == [] and state_counts()["warning"] == 100
    shown = policy_row(cluster)
    assert shown["stopped_at"] and "100 more nodes" in shown["stopped"]
    assert Event.objects.filter(kind="cluster.health_stopped").count() == 1
    judge(cluster, 1, names, ecc())
    assert (
        drainable.calls == [] and Event.objects.filter(kind="cluster.health_stopped").count() == 1
    )
    judge(cluster, 2, names, ecc(0.0))
    judge(cluster, 13, names, ecc(0.0))  # the alarm was false
    assert state_counts()["healthy"] == 100
    judge(cluster, 14, ("n0",), ecc())
    assert state() == "warning" and drainable.calls == []
    with at(15):
        service.reset_breaker(actor=dot, cluster=cluster)
        with pytest.raises(Conflict):
            service.reset_breaker(actor=dot, cluster=cluster)
    judge(cluster, 16, ("n0",), ecc())
    assert state() == "draining" and len(drainable.calls) == 1


def test_share_and_hourly_limit_stop_the_rules(fleet, drainable, dot):
    judge(fleet, 0, ("n0",), ecc())
    judge(fleet, 1, ("n0", "n1"), ecc())
    judge(fleet, 2, ("n0", "n1", "n2"), ecc())  # 10 % of 20 are 2
    assert len(drainable.calls) == 2 and state("n2") == "warning"
    assert HealthPolicy.objects.get().stopped_for["limit"] == "share"
    with at(3):
        service.change_health_policy(actor=dot, cluster=fleet, most_percent=50, most_per_hour=3)
        service.reset_breaker(actor=dot, cluster=fleet)
    judge(fleet, 4, ("n0", "n1", "n2", "n3"), ecc())
    assert [state(f"n{n}") for n in range(4)] == ["draining"] * 4
    judge(fleet, 5, ("n4", "n5"), ecc())
    assert state("n4") == "warning"
    assert HealthPolicy.objects.get().stopped_for["limit"] == "hour"


def test_small_cluster_may_lose_one_node(story, drainable):
    judge(fleet_of(3), 0, ("n0",), ecc())
    assert state() == "draining"


def test_operators_change_checks_and_rules_that_only_warn(fleet, drainable, dot, story):
    service.change_health_policy(
        actor=dot,
        cluster=fleet,
        checks={"ecc": {"action": "off"}, "temperature": {"threshold": 70}},
    )
    for minute in range(6):
        judge(fleet, minute, ("n0",), ecc(), ("gpu.temperature", 0, 75.0, {}))
    assert [f.check_code for f in HealthFinding.objects.all()] == ["temperature"]
    service.change_health_policy(actor=dot, cluster=fleet, checks={"ecc": None}, is_acting=False)
    judge(fleet, 7, ("n0",), ecc())
    assert (
        state() == "warning" and "only warn" in node_health(Node.objects.get(name="n0"))["blocked"]
    )
    for wrong in (
        {"nothing": {}},
        {"ecc": {"action": "explode"}},
        {"ecc": {"minutes": -1}},
        {"ecc": {"minutes": True}},
        {"driver": {"threshold": 4}},
        {"ecc": 5},
        {"temperature": {"returns": 0}},
    ):
        with pytest.raises(InvalidInput):
            service.change_health_policy(actor=dot, cluster=fleet, checks=wrong)
    with pytest.raises(InvalidInput):
        service.change_health_policy(actor=dot, cluster=fleet, most_percent=0)
    with pytest.raises(NotPermitted):
        service.change_health_policy(actor=story.actor(story.ada), cluster=fleet, is_acting=True)


def test_operator_quarantines_and_returns_a_node(fleet, drainable, dot):
    node = Node.objects.select_related("cluster").get(name="n0")
    with at(0):
        service.quarantine_node(actor=dot, node=node, why="smells burnt")
    judge(fleet, 90, ("n0",))
    found = node_health(node)
    assert (found["state"], found["why"]) == ("quarantined", "smells burnt")
    with at(91):
        service.return_node(actor=dot, node=Node.objects.select_related("cluster").get(name="n0"))
    assert state() == "healthy"
    with pytest.raises(Conflict):
        service.return_node(actor=dot, node=Node.objects.select_related("cluster").get(name="n0"))


def test_cost_of_an_evaluation_does_not_grow_with_the_fleet(
    story, drainable, django_assert_max_num_queries
):
    cluster = fleet_of(100)
    names = [f"n{n}" for n in range(100)]
    judge(cluster, 0, names, ("gpu.rows.pending", 0, 1.0, {}))
    with at(1):
        report(names, ("gpu.rows.pending", 0, 1.0, {}))
        with django_assert_max_num_queries(30):
            evaluation.evaluate_cluster(cluster)
    assert state_counts()["warning"] == 100


def test_xid_is_not_skipped_when_another_host_has_a_clock_that_is_behind(fleet, drainable):
    with at(1):
        xid("n0", 79)
        with at(0):  # recorded later, by a host whose clock is a minute behind
            xid("n1", 31)
    judge(fleet, 1, ())
    judge(fleet, 2, ())
    assert state("n0") == "quarantined"


def test_absurd_index_of_a_gpu_stops_no_evaluation(fleet, drainable):
    judge(fleet, 0, ("n0",), failed("9" * 60))
    judge(fleet, 1, ("n1",), failed())
    assert state("n1") == "quarantined"


def test_preset_sets_all_checks_and_is_recognized(dot, fleet, story):
    assert policy_row(fleet)["preset"] == "standard"
    client = story.client(story.dot)
    client.post("/platform/clusters/big", {"do": "health", "preset": "watch"})
    row = policy_row(fleet)
    assert row["preset"] == "watch" and {c["action"] for c in row["checks"]} == {"warn"}
    with pytest.raises(InvalidInput, match="watch, standard, strict"):
        service.change_health_policy(actor=dot, cluster=fleet, preset="lax")
    own = {"ecc": {"action": "off"}}
    service.change_health_policy(actor=dot, cluster=fleet, preset="strict", checks=own)
    row = policy_row(fleet)
    assert row["preset"] == "" and {c["action"] for c in row["checks"]} == {
        "off",
        "drain",
        "quarantine",
    }
    sets = client.get("/platform/clusters/big?tab=health").context["presets"][1]["sets"]
    client.post("/platform/clusters/big", {"do": "health", "preset": "", **sets})
    assert policy_row(fleet)["preset"] == "standard" and not HealthPolicy.objects.get().checks
