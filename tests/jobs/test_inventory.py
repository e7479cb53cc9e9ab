"""Inventory: reported nodes become rows in few statements; unchanged ones are not written."""

from __future__ import annotations

import time
from dataclasses import replace
from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from clusters.models import Cluster, Gpu, Node
from clusters.services import outages
from clusters.services.inventory import take_inventory
from jobs.dispatch.watch.watcher import Watcher
from portal.core import clock
from portal.core.models import Event
from schedulers.contract import GpuFacts, NodeFacts
from tests.jobs.backend_double import BackendDouble
from workspaces.tenancy.scope import platform_scope

GIB = 1 << 30


class Named:
    """A backend that reports these nodes."""

    capabilities: frozenset[str] = frozenset()

    def __init__(self, nodes):
        self.nodes = nodes

    def inventory(self):
        return self.nodes


def node(n: int, gpus: int = 8, **rest) -> NodeFacts:
    cards = tuple(
        GpuFacts(i, f"GPU-{n}-{i}", "NVIDIA H200", "h200", 141 * GIB) for i in range(gpus)
    )
    return NodeFacts(
        f"n{n:04}", 192, 2048 * GIB, cards, {"rack": str(n // 8)}, partitions=("main",), **rest
    )


@pytest.fixture
def cluster(db) -> Cluster:
    return Cluster.objects.create(name="big", backend="local")


def written(cluster: Cluster, nodes) -> list[str]:
    """Return the statements that write nodes or GPUs."""
    with CaptureQueriesContext(connection) as seen:
        take_inventory(cluster, Named(nodes))
    verbs = ("INSERT", "UPDATE", "DELETE")
    return [
        q["sql"]
        for q in seen.captured_queries
        if q["sql"].startswith(verbs) and 'clusters_cluster"' not in q["sql"][:40]
    ]


def test_nodes_and_gpus_are_stored_as_reported(cluster):
    take_inventory(
        cluster, Named([node(0, used_cpus=1.5, used_gpus=3, is_drained=True, note="fan")])
    )
    row = Node.objects.get()
    assert (row.cpus, row.labels, row.partitions, row.used_cpus, row.used_gpus) == (
        192_000,
        {"rack": "0"},
        ["main"],
        1500,
        3,
    )
    assert (row.state, row.note) == ("drained", "fan")
    assert set(row.gpus.values_list("uuid", flat=True)) == {f"GPU-0-{i}" for i in range(8)}


def test_unchanged_inventory_writes_nothing(cluster):
    nodes = [node(n) for n in range(20)]
    take_inventory(cluster, Named(nodes))
    assert written(cluster, nodes) == []


def test_one_change_among_many_nodes_is_one_statement(cluster):
    nodes = [node(n) for n in range(20)]
    take_inventory(cluster, Named(nodes))
    nodes[7] = replace(nodes[7], is_ready=False, note="no power")
    assert len(written(cluster, nodes)) == 1
    assert Node.objects.filter(is_ready=False).get().note == "no power"
    assert Node.objects.count() == 20


def test_missing_node_is_kept_as_gone_and_can_return(cluster):
    take_inventory(cluster, Named([node(0), node(1)]))
    take_inventory(cluster, Named([node(0)]))
    row = Node.objects.get(name="n0001")
    assert (row.state, row.is_gone, row.gpus.count()) == ("down", True, 8)
    assert written(cluster, [node(0)]) == []
    take_inventory(cluster, Named([node(0), node(1)]))
    row.refresh_from_db()
    assert (row.state, row.is_gone, row.note, row.gpus.count()) == ("ready", False, "", 8)


def test_gpu_split_into_instances_is_replaced_by_them(cluster):
    take_inventory(cluster, Named([node(0, gpus=1)]))
    cut = replace(
        node(0, gpus=0),
        gpus=[GpuFacts(i, f"MIG-{i}", "NVIDIA H200", "mig-1g.18gb", 18 * GIB) for i in range(7)],
    )
    take_inventory(cluster, Named([cut]))
    assert Gpu.objects.count() == 7
    take_inventory(
        cluster, Named([replace(cut, gpus=[replace(g, type="mig-1g.35gb") for g in cut.gpus])])
    )
    assert set(Gpu.objects.values_list("type", flat=True)) == {"mig-1g.35gb"}


def test_node_of_the_same_name_in_another_cluster_is_unchanged(cluster):
    other = Cluster.objects.create(name="other", backend="local")
    take_inventory(other, Named([node(0)]))
    take_inventory(cluster, Named([node(0), node(1)]))
    take_inventory(cluster, Named([node(1)]))
    assert Node.objects.get(cluster=other).state == "ready"


def test_pending_jobs_are_checked_when_capacity_changes_and_not_usage(cluster, monkeypatch):
    received: list[str] = []
    monkeypatch.setattr("clusters.services.inventory.wake_worker", received.append)
    for nodes, is_told in (
        ([node(0)], True),
        ([node(0, used_gpus=2)], False),
        ([node(0, is_drained=True)], True),
    ):
        received.clear()
        take_inventory(cluster, Named(nodes))
        assert bool(received) == is_told


@pytest.mark.both_databases
@pytest.mark.integration
def test_two_thousand_nodes_take_few_statements_and_seconds(cluster, mode):
    nodes = [node(n) for n in range(2000)]
    with CaptureQueriesContext(connection) as first:
        take_inventory(cluster, Named(nodes))
    began = time.perf_counter()
    assert written(cluster, nodes) == []
    again = time.perf_counter() - began
    moved = [replace(facts, used_gpus=8) for facts in nodes]
    began = time.perf_counter()
    statements = written(cluster, moved)
    seconds = time.perf_counter() - began
    print(
        f"unchanged {again:.2f} s; all changed {seconds:.2f} s, {len(statements)} statements; "
        f"first {len(first)} statements"
    )
    assert len(statements) <= 4 or mode == "embedded"  # SQLite allows fewer variables per statement
    # Rules out quadratic cost; docs/design/clusters.md has the figures.
    assert again < 60 and seconds < 60
    assert Gpu.objects.count() == 16_000


def test_trouble_stays_until_the_cluster_responds(cluster, monkeypatch):
    """Most turns of an idle watcher do not call the backend, so they prove nothing."""
    backend = BackendDouble()
    monkeypatch.setattr("jobs.dispatch.watch.watcher.backend_of", lambda row: backend)
    watch, words = Watcher(cluster.id), lambda: Cluster.objects.get(id=cluster.id).trouble
    backend.is_away = True
    with platform_scope("test"):
        for _ in range(4):
            watch.wake.set()
            watch.look()
            assert words() == "no answer"
        backend.is_away = False
        watch._last.clear()
        watch.look()
    assert words() == ""


def test_outage_is_recorded_once_with_start_error_and_duration(cluster, monkeypatch):
    Cluster.objects.update(trouble="", seen_at=None)
    outages.mark_reachable(cluster)
    outages.mark_unreachable(cluster, "no answer in 3 s")
    outages.mark_unreachable(cluster, "no answer in 4 s")
    with CaptureQueriesContext(connection) as queries:
        outages.mark_unreachable(cluster, "no answer in 4 s")
    assert not any(one["sql"].startswith("UPDATE") for one in queries)
    since = Cluster.objects.get(id=cluster.id).trouble_since
    monkeypatch.setattr(clock, "now", lambda: since + timedelta(minutes=4))
    outages.mark_reachable(cluster)
    outages.mark_reachable(cluster)
    began, ended = Event.objects.filter(subject_id=cluster.id).order_by("position")
    assert (began.kind, began.data["said"]) == ("cluster.silent", "no answer in 3 s")
    assert (ended.kind, ended.data["said"], ended.data["seconds"]) == (
        "cluster.answered",
        "no answer in 4 s",
        240,
    )


def test_node_facts_are_stored_and_updated(cluster):
    gpu = GpuFacts(0, "GPU-0", "NVIDIA H200", "h200", 141 * GIB, "9.0")
    first = replace(node(0, gpus=0), gpus=[gpu], arch="amd64", driver="570.86.15", cuda="12.8")
    take_inventory(cluster, Named([first]))
    assert Gpu.objects.get().compute == "9.0"
    Node.objects.update(reported={"driver": "from the agent"})
    take_inventory(cluster, Named([replace(first, driver="580.65.06", cuda="13.0")]))
    row = Node.objects.get()
    assert row.runs == {"arch": "amd64", "driver": "580.65.06", "cuda": "13.0"}
    assert row.reported == {"driver": "from the agent"}
