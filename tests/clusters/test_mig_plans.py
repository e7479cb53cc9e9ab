"""MIG plans: from a wish to instances, with agents, a GPU operator's labels, and by hand."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any, ClassVar

import pytest

from clusters.models import (
    Cluster,
    Device,
    Gpu,
    MigPlan,
    MigPlanNode,
    MigSettings,
    Node,
    NodeHealth,
)
from clusters.representations import cluster_rows
from clusters.services import mig_plans as service
from clusters.services import mig_progress
from clusters.services.mig_progress import advance_plans, work_for
from monitoring.metrics.ingest import ingest
from muster_agent.mig import carry_out
from portal.core import clock
from portal.core.errors import Conflict, InvalidInput, NotPermitted
from portal.core.models import Event
from schedulers import backends
from schedulers.contract import Capability, Unavailable
from tests.agent.mig_double import MigNvml
from tests.agent.nvml_double import Device as Hardware
from tests.clusters.conftest import Drainable

GIB = 1 << 30
SEVEN = [{"profile": "1g.10gb", "start": start} for start in range(7)]


class Partitioning(Drainable):
    """A scheduler with a GPU operator's labels and with files that name GPUs."""

    name: ClassVar[str] = "partitioning"
    capabilities = frozenset({Capability.DRAIN, Capability.MIG_LABELS, Capability.GPU_FILES})
    labels: ClassVar[dict[str, tuple[str, str]]] = {}
    installed: ClassVar[frozenset[str]] = frozenset({"all-1g.10gb"})

    def mig_config(self, gpus: Any) -> tuple[str, str]:
        alike = {gpu.profiles for gpu in gpus} == {("1g.10gb",) * 7}
        return ("all-1g.10gb" if alike else "other"), "version: v1\n"

    def mig_configs(self) -> frozenset[str]:
        return self.installed

    def set_mig_config(self, node: str, name: str) -> None:
        if self.labels.get(node, ("", ""))[0] != name:
            self.calls.append(("label", node, name))
            self.labels[node] = (name, "pending")

    def mig_state(self, node: str) -> tuple[str, str]:
        return self.labels[node]

    def gpu_files(self, nodes: Any) -> dict[str, str]:
        return {"slurm.conf": " ".join(nodes)}

    def reconfigure(self) -> None:
        if self.is_away:
            raise Unavailable("no answer")
        self.calls.append(("reconfigure",))


class Site:
    """Nodes with agents and doubles of their GPUs."""

    def __init__(self, backend: str, nodes: int, gpus: int, *, is_allowed: bool = True):
        self.cluster = Cluster.objects.create(
            name="big", backend=backend, config={"url": "u"}, counted_at=clock.now()
        )
        self.is_allowed, self.reports = is_allowed, dict[str, Any]()
        self.nvml: dict[str, MigNvml] = {}
        for n in range(nodes):
            node = Node.objects.create(cluster=self.cluster, name=f"n{n}", cpus=1, memory=1)
            self.nvml[node.name] = MigNvml(*(Hardware(f"GPU-{n}-{i}") for i in range(gpus)))
            self.report(node.name)

    def report(self, node: str) -> dict[str, Any]:
        """Send a batch as the node's agent does, and do the work of the answer at once."""
        nvml, mig = self.nvml[node], {"is_allowed": self.is_allowed}
        if node in self.reports:
            mig["report"] = self.reports[node]
        gpus = [
            {
                "index": index,
                "uuid": one.uuid,
                "model": one.name,
                "memory": one.memory,
                "is_mig": nvml.is_mig.get(one.uuid, False),
                "is_lost": one.uuid in nvml.lost,
                "mig": [
                    {"uuid": f"MIG-{start}", "profile": name, "start": start, "memory": GIB}
                    for start, name in nvml.layout(one.uuid) or ()
                ],
            }
            for index, one in enumerate(nvml.devices)
        ]
        body = {"node": node, "at": clock.now_ms(), "facts": {"gpus": gpus, "mig": mig}}
        answer = ingest(body)
        if work := answer.get("work"):
            self.reports[node] = carry_out(nvml, work, lambda _: None)
        return answer

    def count(self) -> None:
        """Take an inventory: who is drained stays so."""
        Cluster.objects.update(counted_at=clock.now() + timedelta(milliseconds=1))

    def turn(self, times: int = 1) -> None:
        """Let time pass: the portal's task, an inventory and the agents."""
        for _ in range(times):
            advance_plans()
            self.count()
            for node in self.nvml:
                self.report(node)

    def states(self, plan: MigPlan) -> list[str]:
        return [row.state for row in plan.nodes.order_by("node__name")]


@pytest.fixture
def partitioning(monkeypatch):
    monkeypatch.setitem(backends(), "partitioning", Partitioning)
    monkeypatch.setattr(Partitioning, "calls", [])
    monkeypatch.setattr(Partitioning, "labels", {})
    return Partitioning


@pytest.fixture
def dot(story):
    return story.actor(story.dot, story.atlas)


def allow(dot, site, method="agent", **more):
    return service.change_settings(actor=dot, cluster=site.cluster, method=method, **more)


def draft(dot, site, **more):
    wish = more.pop("wish", {"1g.10gb": 14})
    return service.draft_plan(actor=dot, cluster=site.cluster, wish=wish, **more)


def apply(dot, plan):
    return service.apply_plan(actor=dot, plan_id=plan.id)


def layouts():
    rows = Device.objects.order_by("node__name", "index")
    return [None if d.mig is None else [p["profile"] for p in d.mig] for d in rows]


def test_plan_is_applied_node_by_node_and_undone(story, dot, drainable):
    site = Site("drainable", nodes=2, gpus=1)
    allow(dot, site)
    plan = draft(dot, site)
    assert [row.gpus[0]["after"] for row in plan.nodes.all()] == [SEVEN, SEVEN]
    assert drainable.calls == [] and layouts() == [None, None], "a draft changes nothing"
    apply(dot, plan)
    site.turn()
    assert site.states(plan) == ["draining", "waiting"], "one node at a time"
    site.turn(8)
    plan.refresh_from_db()
    assert (plan.state, site.states(plan)) == ("done", ["done", "done"])
    assert layouts() == [["1g.10gb"] * 7] * 2
    assert [what[:2] for what in drainable.calls] == [
        ("drain", "n0"),
        ("resume", "n0"),
        ("drain", "n1"),
        ("resume", "n1"),
    ]
    assert drainable.calls[0][2].startswith("MIG plan") and "dot@" in drainable.calls[0][2]
    back = service.undo_plan(actor=dot, plan_id=plan.id)
    assert back.state == "draft" and {row.gpus[0]["after"] for row in back.nodes.all()} == {None}
    apply(dot, back)
    site.turn(9)
    plan.refresh_from_db()
    assert (plan.state, layouts()) == ("undone", [None, None])
    kinds = Event.objects.filter(kind__startswith="mig.").values_list("kind", flat=True)
    assert {"mig.planned", "mig.applied", "mig.finished", "mig.settings_changed"} <= set(kinds)


def test_node_waits_for_its_jobs_and_gives_up_after_the_deadline(dot, drainable, monkeypatch):
    site = Site("drainable", nodes=1, gpus=1)
    allow(dot, site, drain_minutes=60)
    Node.objects.update(used_gpus=1)
    plan = apply(dot, draft(dot, site, wish={"1g.10gb": 7}))
    site.turn(3)
    row = plan.nodes.get()
    assert row.state == "draining" and "1 GPUs in use" in row.note
    assert work_for(Node.objects.get()) is None and layouts() == [None]
    now = clock.now()
    monkeypatch.setattr(clock, "now", lambda: now + timedelta(minutes=61))
    site.turn(2)
    plan.refresh_from_db()
    row.refresh_from_db()
    assert (plan.state, row.state, row.is_restored) == ("failed", "failed", True)
    assert "Nothing was changed" in row.error and drainable.calls[-1] == ("resume", "n0")


def test_jobs_that_started_before_the_drain_are_seen_by_the_next_inventory(dot):
    site = Site("drainable", nodes=1, gpus=1)
    allow(dot, site)
    plan = apply(dot, draft(dot, site, wish={"1g.10gb": 7}))
    advance_plans()
    advance_plans()
    assert site.states(plan) == ["draining"] and "inventory" in plan.nodes.get().note
    site.count()
    advance_plans()
    assert site.states(plan) == ["changing"]


def test_failed_change_is_rolled_back_and_no_further_node_starts(dot, drainable):
    site = Site("drainable", nodes=3, gpus=2)
    allow(dot, site)
    plan = apply(dot, draft(dot, site, wish={"1g.10gb": 42}))
    site.nvml["n0"].fail("Create", 4, after=10, times=1)  # NO_PERMISSION
    site.turn(6)
    plan.refresh_from_db()
    row = plan.nodes.get(node__name="n0")
    assert (plan.state, site.states(plan)) == ("failed", ["failed", "skipped", "skipped"])
    assert "root" in row.error and row.is_restored and layouts() == [None] * 6
    assert drainable.calls[-1] == ("resume", "n0")


def test_gpu_that_vanishes_leaves_the_node_drained_and_says_why(dot, drainable):
    site = Site("drainable", nodes=2, gpus=1)
    allow(dot, site)
    plan = apply(dot, draft(dot, site))
    nvml = site.nvml["n0"]
    nvml.on_call = lambda call: nvml.lost.add("GPU-0-0") if call == "+1g.10gb@4" else None
    site.turn(6)
    row = plan.nodes.get(node__name="n0")
    assert row.state == "failed" and not row.is_restored and "GPU-0-0" in row.error
    assert Node.objects.get(name="n0").is_drained and ("resume", "n0") not in drainable.calls
    assert site.states(plan) == ["failed", "skipped"]


def test_repeated_and_strange_reports_change_nothing(dot):
    site = Site("drainable", nodes=1, gpus=1)
    allow(dot, site)
    plan = apply(dot, draft(dot, site, wish={"1g.10gb": 7}))
    site.turn(2)
    row = plan.nodes.get()
    assert row.state == "changing" and str(row.work_id) == site.reports["n0"]["id"]
    true = site.reports["n0"]
    for report in (
        "text",
        {"id": "none"},
        {"id": str(plan.id), "state": "done"},
        {**true, "id": str(plan.id)},
    ):
        site.reports["n0"] = report
        site.report("n0")
        site.reports.pop("n0", None)
        assert plan.nodes.get().state == "changing"
    site.reports["n0"] = {**true, "layouts": {}}
    site.report("n0")
    assert "another layout" in plan.nodes.get().error, "done is believed only with the layout"


def test_silent_agent_times_out_and_the_node_stays_drained(dot, drainable, monkeypatch):
    site = Site("drainable", nodes=1, gpus=1)
    allow(dot, site, change_minutes=20)
    plan = apply(dot, draft(dot, site, wish={"1g.10gb": 7}))
    advance_plans()
    site.count()
    advance_plans()
    now = clock.now()
    monkeypatch.setattr(clock, "now", lambda: now + timedelta(minutes=21))
    advance_plans()
    row = plan.nodes.get()
    assert row.state == "failed" and "20 min" in row.error and Node.objects.get().is_drained


def test_scheduler_that_is_away_is_asked_again(dot, drainable, monkeypatch):
    site = Site("drainable", nodes=1, gpus=1)
    allow(dot, site)
    plan = apply(dot, draft(dot, site, wish={"1g.10gb": 7}))
    monkeypatch.setattr(drainable, "is_away", True)
    advance_plans()
    assert plan.nodes.get().state == "draining" and "doesn't respond" in plan.nodes.get().note
    monkeypatch.setattr(drainable, "is_away", False)
    site.turn(4)
    assert site.states(plan) == ["done"]


def test_node_that_was_drained_before_stays_drained(dot, drainable):
    site = Site("drainable", nodes=1, gpus=1)
    allow(dot, site)
    Node.objects.update(is_drained=True, note="fan")
    plan = apply(dot, draft(dot, site, wish={"1g.10gb": 7}))
    site.turn(4)
    assert site.states(plan) == ["done"] and drainable.calls == []


def test_gpu_operator_is_asked_by_label_and_watched(dot, partitioning):
    site = Site("partitioning", nodes=1, gpus=1, is_allowed=False)
    allow(dot, site, "label", may_reconfigure=True)
    plan = apply(dot, draft(dot, site, wish={"1g.10gb": 7}))
    site.turn(3)
    assert partitioning.calls.count(("label", "n0", "all-1g.10gb")) == 1
    assert "pending" in plan.nodes.get().note
    partitioning.labels["n0"] = ("all-1g.10gb", "success")
    site.turn(2)
    assert site.states(plan) == ["done"]
    assert partitioning.calls[-2:] == [("reconfigure",), ("resume", "n0")]


def test_failed_gpu_operator_leaves_the_node_drained(dot, partitioning):
    site = Site("partitioning", nodes=1, gpus=1)
    allow(dot, site, "label")
    plan = apply(dot, draft(dot, site, wish={"1g.10gb": 7}))
    site.turn(2)
    partitioning.labels["n0"] = ("all-1g.10gb", "failed")
    site.turn()
    assert "mig-manager" in plan.nodes.get().error and Node.objects.get().is_drained


def test_administrator_partitions_by_hand_and_confirms_the_files(dot, partitioning):
    site = Site("partitioning", nodes=1, gpus=1, is_allowed=False)
    allow(dot, site, "hand")
    plan = apply(dot, draft(dot, site, wish={"1g.10gb": 7}))
    assert service.files_of(plan) == {"slurm.conf": "n0"}
    site.turn(3)
    assert "administrator" in plan.nodes.get().note
    work = {"id": "x", "gpus": plan.nodes.get().gpus}
    carry_out(site.nvml["n0"], work, lambda _: None)  # nvidia-smi mig …
    site.turn(2)
    assert site.states(plan) == ["configuring"], "the agent sees the layout without permission"
    service.confirm_node(actor=dot, plan_id=plan.id, node="n0")
    site.turn()
    assert site.states(plan) == ["done"] and ("reconfigure",) not in partitioning.calls


def test_stop_leaves_out_nodes_that_are_not_changed(dot, drainable):
    site = Site("drainable", nodes=3, gpus=1)
    allow(dot, site)
    Node.objects.update(used_gpus=1)
    plan = apply(dot, draft(dot, site, wish={"1g.10gb": 21}))
    site.turn(2)
    service.stop_plan(actor=dot, plan_id=plan.id)
    site.turn(2)
    plan.refresh_from_db()
    assert (plan.state, layouts()) == ("failed", [None] * 3)
    assert not Node.objects.filter(is_drained=True).exists()


def test_draft_says_why_it_cannot_be_applied(story, dot, partitioning):
    site = Site("partitioning", nodes=1, gpus=1, is_allowed=False)
    plan = draft(dot, site, wish={"3g.40gb": 2})

    def reasons(method=""):
        if method:
            allow(dot, site, method)
        return " ".join(map(str, service.obstacles(plan)))

    assert "doesn't allow" in reasons()
    assert "--allow-mig" in reasons("agent")
    assert "GPU operator first" in reasons("label")
    with pytest.raises(Conflict, match="GPU operator"):
        apply(dot, plan)
    assert reasons("hand") == ""
    carry_out(
        site.nvml["n0"], {"id": "x", "gpus": [{"uuid": "GPU-0-0", "before": None, "after": SEVEN}]}
    )
    site.report("n0")
    assert "have changed" in reasons()
    short = draft(dot, site, wish={"7g.80gb": 2})
    assert short.missing == {"7g.80gb": 1} and "don't fit" in str(service.obstacles(short)[0])
    for wish in ({}, {"9g.1gb": 1}, {"1g.10gb": 0}):
        with pytest.raises(InvalidInput):
            draft(dot, site, wish=wish)
    with pytest.raises(InvalidInput):
        draft(dot, site, nodes=["other"])
    with pytest.raises(InvalidInput):
        allow(dot, Site_local(), "agent")
    ada = story.actor(story.ada)
    for act in (service.apply_plan, service.undo_plan, service.stop_plan, service.discard_plan):
        with pytest.raises(NotPermitted):
            act(actor=ada, plan_id=plan.id)
    service.discard_plan(actor=dot, plan_id=plan.id)
    assert not MigPlan.objects.filter(id=plan.id).exists()


def Site_local():  # noqa: N802
    class Local:
        cluster = Cluster.objects.create(name="here", backend="local")

    return Local


def test_one_plan_at_a_time_on_a_cluster(dot):
    site = Site("drainable", nodes=2, gpus=1)
    allow(dot, site)
    first = draft(dot, site, wish={"1g.10gb": 7}, nodes=["n0"])
    second = draft(dot, site, wish={"1g.10gb": 7}, nodes=["n1"])
    apply(dot, first)
    with pytest.raises(Conflict, match="Another plan"):
        apply(dot, second)


def test_pages_show_slots_jobs_and_progress(story, dot, drainable):
    web = story.client(story.dot)
    assert b"No GPUs with MIG yet" in web.get("/platform/mig").content
    site = Site("drainable", nodes=2, gpus=2)
    assert b"No plans yet" in web.get("/platform/mig").content
    made = web.post(
        "/platform/mig", {"cluster": "big", "n.3g.40gb": "2", "n.full": "3", "nodes": ""}
    )
    assert made.status_code == 302
    page = web.get(made.url).content.decode()
    assert page.count("slot at-1 size-4 created") == 1 and "removed" in page
    assert "allow partitioning" in page and "disabled" in page
    web.post(
        made.url,
        {
            "do": "settings",
            "method": "agent",
            "nodes_at_once": "2",
            "drain_minutes": "60",
            "change_minutes": "20",
        },
    )
    assert MigSettings.objects.get().nodes_at_once == 2
    web.post(made.url, {"do": "apply"})
    site.turn(5)
    page = web.get(made.url).content.decode()
    assert "Undo…" in page and "data-active" not in page
    assert "14 × " not in page and "2 × 3g.40gb" in page
    back = web.post(made.url, {"do": "undo"})
    assert back.url != made.url and b"Way back" in web.get(back.url).content
    assert web.post(back.url, {"do": "discard"}).url == "/platform/mig"
    nothing = web.post("/platform/mig", {"cluster": "big", "n.full": "0"}).content.decode()
    assert "Say how many of at least one profile." in nothing
    linked = web.get("/platform/mig?dialog=new-plan&wish=14 x 1g.10gb").content.decode()
    assert re.search(r'name="n\.1g\.10gb"[^>]*value="14"', linked)
    assert story.client(story.ada).get("/platform/mig").status_code == 403


def test_api_plans_applies_and_reports(story, drainable):
    site = Site("drainable", nodes=1, gpus=1)
    api = story.api(story.dot, story.atlas)
    url = "/api/v1/mig/clusters/big"
    kept = api.put(url, {"method": "agent"}, content_type="application/json").json()
    assert (kept["method"], kept["methods"]) == ("agent", ["off", "agent", "hand"])
    made = api.post(
        "/api/v1/mig/plans",
        {"cluster": "big", "wish": {"mig-1g.10gb": 7}},
        content_type="application/json",
    ).json()
    [node] = made["nodes"]
    assert (made["state"], made["obstacles"], node["gpus"][0]["before"]) == ("draft", [], None)
    at = f"/api/v1/mig/plans/{made['id']}"
    assert api.post(at, {"do": "apply"}, content_type="application/json").status_code == 200
    site.turn(4)
    assert api.get(at).json()["state"] == "done"
    assert api.get("/api/v1/mig/plans").json()["items"][0]["id"] == made["id"]
    assert MigPlanNode.objects.get().state == "done"


def test_node_that_health_wants_drained_is_left_to_the_rule(dot, drainable):
    site = Site("drainable", nodes=1, gpus=1)
    allow(dot, site)
    plan = apply(dot, draft(dot, site, wish={"1g.10gb": 7}))
    site.turn(2)
    NodeHealth.objects.create(node=Node.objects.get(), state="draining")
    site.turn(3)
    assert site.states(plan) == ["done"] and layouts() == [["1g.10gb"] * 7]
    assert Node.objects.get().is_drained and NodeHealth.objects.get().is_drained_by_rule


def test_shares_are_counted_apart_from_gpus(story, drainable):
    cluster = Cluster.objects.create(name="big", backend="drainable", config={"url": "u"})
    node = Node.objects.create(
        cluster=cluster, name="n0", cpus=8000, memory=64 * GIB, used_shares=5
    )
    for index in range(4):
        Gpu.objects.create(
            node=node, index=index, uuid=f"g{index}", model="H100", type="h100", memory=80 * GIB
        )
    Gpu.objects.create(
        node=node, index=4, uuid="s", model="H100", type="h100.shared", memory=0, shares=16
    )
    api = story.api(story.ben)
    rows = {r["type"]: r for r in api.get("/api/v1/orgs/atlas/capacity").json()["items"]}
    assert (rows["h100"]["total"], rows["h100"]["free"]) == (4, 2)
    shares = rows["h100.shared"]
    assert (shares["total"], shares["free"], shares["is_share"]) == (16, 11, True)
    assert cluster_rows()[0]["gpus"]["total"] == 4
    offers = api.get("/api/v1/orgs/atlas/jobs/options?team=vision").json()["gpu_types"]
    notes = {offer["type"]: offer["note"] for offer in offers}
    assert notes["h100"] == "" and "aren't isolated" in notes["h100.shared"]
    page = story.client(story.ben).get("/atlas/capacity").content.decode()
    assert "H100 shared" in page and "memory" in page and "shares" in page
    assert "isolated" in page


def test_plan_that_is_stopped_during_a_drain_partitions_nothing(dot, partitioning, monkeypatch):
    site = Site("partitioning", nodes=1, gpus=1)
    allow(dot, site, "label")
    plan = apply(dot, draft(dot, site, wish={"1g.10gb": 7}))
    advance_plans()
    site.count()
    move = mig_progress._move

    def stopped_meanwhile(row, after):
        if after == "changing":
            service.stop_plan(actor=dot, plan_id=plan.id)
        move(row, after)

    monkeypatch.setattr(mig_progress, "_move", stopped_meanwhile)
    site.turn(2)
    assert not [call for call in partitioning.calls if call[0] == "label"]
    assert site.states(plan) == ["failed"] and not Node.objects.get().is_drained
