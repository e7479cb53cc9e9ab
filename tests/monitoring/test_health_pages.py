"""The health of nodes as operators and members see it: pages, API, lists, and what they do."""

from __future__ import annotations

import pytest
from django.utils.html import strip_tags

from clusters.health import evaluation
from clusters.models import HealthPolicy, Node, NodeHealth
from portal.core.models import Event
from tests.clusters.conftest import drainable as drainable  # noqa: PLC0414  fixtures
from tests.clusters.test_health_rules import at, ecc, fleet_of, judge, xid
from tests.jobs.conftest import hints_go_nowhere as hints_go_nowhere  # noqa: PLC0414

NODE = "/platform/nodes/n0?cluster=big"
ACT = "/platform/clusters/big/nodes/n0"
TAB = "/platform/clusters/big?tab=health"


@pytest.fixture
def fleet(story, drainable):
    cluster = fleet_of(20)
    with at(0):
        xid("n0", 79)
    judge(cluster, 1, ("n0", "n1"))
    judge(cluster, 2, ("n1",), ("gpu.rows.pending", 0, 1.0, {}))
    return cluster


@pytest.fixture
def dot(story):
    return story.client(story.dot)


def text(client, path):
    answer = client.get(path)
    assert answer.status_code == 200, path
    return answer.content.decode()


def test_operator_sees_why_and_returns_quarantines_and_undoes(fleet, dot, drainable):
    page = text(dot, NODE)
    assert "quarantined" in page and "XID 79 (GPU has fallen off the bus)" in page
    assert "Reboot the node" in page and "Return to service" in page
    dot.post(ACT, {"do": "return", "back": NODE})
    assert drainable.calls[-1] == ("resume", "n0") and "back in service" in text(dot, NODE)
    page = text(dot, NODE)
    words = strip_tags(page)
    assert "n0 changed to quarantined" in words and "n0 changed to healthy" in words
    undo = {"do": "quarantine", "reason": "XID 79 again", "was": ""}
    dot.post(ACT, undo)
    assert NodeHealth.objects.get(node__name="n0").state == "quarantined"
    assert "XID 79 again" in text(dot, NODE)
    dot.post(ACT, {"do": "return"})
    assert not Node.objects.get(name="n0").is_drained


def test_lists_wall_and_overview_name_unhealthy_nodes(fleet, story, dot):
    ben = story.client(story.ben)
    page = text(ben, "/atlas/nodes?health=quarantined")
    assert "n0" in page and ">n1<" not in page and "quarantined" in page
    api = story.api(story.ben)
    names = {
        state: [
            row["name"]
            for row in api.get(f"/api/v1/orgs/atlas/nodes?health={state}").json()["items"]
        ]
        for state in ("unhealthy", "warning", "healthy")
    }
    assert names["unhealthy"] == ["n0", "n1"] and names["warning"] == ["n1"]
    assert len(names["healthy"]) == 18
    assert api.get("/api/v1/orgs/atlas/nodes?health=ill").status_code == 400
    wall = api.get("/api/v1/orgs/atlas/wall").json()
    assert sorted(state for state, _ in wall["health"].values()) == ["quarantined", "warning"]
    for page in (text(ben, "/atlas/fleet"), text(dot, "/platform/fleet")):
        problems = page[page.index("fleet-problems") : page.index('id="groups"')]
        assert problems.index("n0?") < problems.index("XID 79") < problems.index("n1?")
        assert "n2?" not in problems
    overview = text(dot, "/platform/")
    assert (
        "1 quarantined" in overview
        and "1 with a warning" in overview
        and "draining" not in overview
    )


def test_member_sees_the_state_but_no_buttons(fleet, story):
    page = text(story.client(story.ben), "/atlas/nodes/n0?cluster=big")
    assert "quarantined" in page and "Return to service" not in page
    assert story.api(story.ada).get("/api/v1/clusters/big/health").status_code == 403


def test_capacity_names_the_reason_of_what_is_out(fleet, story):
    from clusters.models import Gpu

    for node in Node.objects.all():
        Gpu.objects.create(node=node, index=0, uuid=node.name, model="H100", type="h100", memory=1)
    rows = story.api(story.ben).get("/api/v1/orgs/atlas/capacity").json()["items"]
    assert rows[0]["out_reasons"] == [{"reason": "XID 79 (GPU has fallen off the bus)", "nodes": 1}]
    assert "fallen off the bus" in text(story.client(story.ben), "/atlas/capacity")


def test_checks_limits_and_breaker_on_the_page_of_the_cluster(fleet, dot):
    page = text(dot, TAB)
    assert "Temperature" in page and "n1" in page and "Most nodes an hour" in page
    dot.post(TAB, {"do": "health", "temperature.action": "drain", "temperature.threshold": "80.5"})
    assert HealthPolicy.objects.get().checks == {
        "temperature": {"action": "drain", "threshold": 80.5}
    }
    assert "changed" in text(dot, TAB)
    dot.post(TAB, {"do": "health", "temperature.action": "drain", "temperature.minutes": "x"})
    dot.post(TAB, {"do": "health-limits", "most_percent": "0", "most_per_hour": "5"})
    assert HealthPolicy.objects.get().most_percent == 10
    dot.post(TAB, {"do": "health-limits", "most_percent": "5", "most_per_hour": "5"})
    assert HealthPolicy.objects.get().is_acting is False
    dot.post(
        TAB, {"do": "health-limits", "most_percent": "5", "most_per_hour": "5", "is_acting": 1}
    )
    judge(fleet, 3, ("n2", "n3"), ecc())
    page = text(dot, TAB)
    assert "rules have stopped draining" in page and "2 more nodes" in page
    dot.post(TAB, {"do": "health-reset"})
    assert HealthPolicy.objects.get().stopped_at is None
    history = strip_tags(text(dot, "/platform/clusters/big?tab=history"))
    assert "The health rules of big stopped" in history and "rules of big act again" in history


def test_api_shows_changes_and_acts(fleet, story):
    api = story.api(story.dot, story.atlas)

    def send(method, path, **body):
        call = getattr(api, method)
        answer = call(f"/api/v1/clusters/big/{path}", body, content_type="application/json")
        return answer.status_code, answer.json()

    found = api.get("/api/v1/clusters/big/nodes/n0/health").json()
    assert (found["state"], found["findings"][0]["check"]) == ("quarantined", "xid_reboot")
    assert send("patch", "health", checks={"ecc": {"action": "warn"}}, most_percent=25)[0] == 200
    row = api.get("/api/v1/clusters/big/health").json()
    ecc_row = next(check for check in row["checks"] if check["code"] == "ecc")
    assert (ecc_row["action"], ecc_row["is_changed"], row["most_percent"]) == ("warn", True, 25)
    assert row["counts"]["quarantined"] == 1
    assert send("patch", "health", checks={"ecc": {"action": "x"}})[0] == 400
    assert send("post", "health/reset")[0] == 409
    assert send("post", "nodes/n0/return")[1]["state"] == "healthy"
    assert send("post", "nodes/n0/quarantine", reason="burnt")[1]["why"] == "burnt"
    assert send("post", "nodes/n5/return")[0] == 409
    evaluation.evaluate_cluster(fleet)
    kinds = set(Event.objects.filter(actor="dot@platform.example").values_list("kind", flat=True))
    assert {"cluster.health_policy_changed", "node.health_changed", "node.resumed"} <= kinds
