"""The GPU overview, and nodes of the same name in two clusters."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from types import SimpleNamespace

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from clusters.models import Cluster, Gpu, Node, PoolReservation
from clusters.services.inventory import take_inventory
from jobs.models import Attempt, Job
from monitoring.platform_overview import gpu_counts
from portal.core import clock
from schedulers.contract import GpuFacts, NodeFacts
from schedulers.states import State
from tests.jobs.stage import cluster_with, submit
from workspaces.organizations.bootstrap import PLATFORM
from workspaces.tenancy.scope import no_scope, platform_scope

# Queries after a change of the inventory: nodes, GPUs by type, GPUs that the portal assigns, use.
OF_NODES = 4
WALL = "/api/v1/orgs/atlas/wall"


@pytest.fixture
def twins(story) -> tuple[Cluster, Cluster]:
    """Create a local cluster and one with a scheduler, each with a node n0 of 4 GPUs."""
    local, big = cluster_with(gpus=4), Cluster.objects.create(name="big", backend="elsewhere")
    node = Node.objects.create(
        cluster=big, name="n0", cpus=1, memory=1, used_gpus=3, is_drained=True, partitions=["main"]
    )
    Gpu.objects.bulk_create(
        Gpu(node=node, index=i, uuid=f"B-{i}", model="x", type="a100", memory=1) for i in range(4)
    )
    submit(story, person=story.ben)
    with platform_scope("test"):
        Attempt.objects.update(
            cluster=local,
            node="n0",
            state=State.RUNNING,
            has_reservation=True,
            placement={"node": "n0", "cpus": 1000, "memory": 0, "gpus": [2], "uuids": ["GPU-0-2"]},
        )
    return local, big


def test_wall_has_one_row_per_node_with_usage_bits(story, twins):
    wall = story.api(story.ben).get(WALL).json()
    assert [c["name"] for c in wall["clusters"]] == ["big", "local"]
    assert [c["is_exact"] for c in wall["clusters"]] == [False, True]
    assert wall["nodes"] == [["n0", 0, 1, 4, 0b111, [0], [0]], ["n0", 1, 0, 4, 0b100, [1], []]]
    assert (wall["types"], wall["partitions"]) == (["a100", "h100"], ["main"])


def test_reserved_gpus_are_not_free(story, twins):
    local, now = twins[0], clock.now()
    with platform_scope("test"):
        job = Job.objects.get()
        PoolReservation.objects.create(
            org_id=job.org_id,
            team_id=job.team_id,
            cluster=local,
            name="kept",
            gpu_type="h100",
            gpus=2,
            nodes={"n0": 2},
            starts_at=now - timedelta(days=1),
            ends_at=now + timedelta(days=1),
        )
    assert story.api(story.ben).get(WALL).json()["reserved"] == {"1": 2}
    with no_scope():
        counts = gpu_counts(PLATFORM)["clusters"]["local"]
    assert (counts["free"], counts["reserved"], counts["allocated"]) == (1, 2, 1)
    page = story.client(story.ben).get("/atlas/nodes/n0?cluster=local").content.decode()
    assert page.count(">reserved<") == 2 and page.count(">free<") == 1


def test_wall_shows_jobs_only_to_those_who_may_see_them(story, twins):
    assert list(story.api(story.ben).get(WALL).json()["jobs"]) == ["1"]
    assert (
        story.api(story.cyd, story.borealis).get("/api/v1/orgs/borealis/wall").json()["jobs"] == {}
    )


def test_nodes_of_same_name_in_two_clusters_are_kept_apart(story, twins):
    rows = {
        r["cluster"]: r
        for r in story.api(story.ben).get("/api/v1/orgs/atlas/nodes").json()["items"]
    }
    assert [len(rows[name]["jobs"]) for name in ("local", "big")] == [1, 0]
    assert [sum(g["is_held"] for g in rows[name]["gpus"]) for name in ("local", "big")] == [1, 3]
    for name in ("local", "big"):
        assert (
            story.api(story.ben)
            .get(f"/api/v1/orgs/atlas/nodes/n0?cluster={name}")
            .json()["cluster"]
            == name
        )


def test_node_pages_list_each_node_once(story, twins):
    seen, cursor, api = [], "", story.api(story.ben)
    while cursor is not None:
        page = api.get("/api/v1/orgs/atlas/nodes", {"limit": 1, "cursor": cursor}).json()
        seen += [(r["cluster"], r["name"]) for r in page["items"]]
        cursor = page["next"]
    assert seen == [("big", "n0"), ("local", "n0")]


def test_node_list_query_count_is_independent_of_length(story, twins):
    api = story.api(story.ben)
    api.get(WALL)  # the first use of a token is recorded
    with CaptureQueriesContext(connection) as few:
        api.get(WALL)
    Node.objects.bulk_create(
        Node(cluster=twins[1], name=f"x{n}", cpus=1, memory=1) for n in range(1000)
    )
    Cluster.objects.filter(id=twins[1].id).update(inventory=1)
    with CaptureQueriesContext(connection) as many:
        assert len(api.get(WALL).json()["nodes"]) == 1002
    assert len(many) == len(few) + OF_NODES


def test_wall_of_unchanged_inventory_reads_no_nodes(story, twins):
    api = story.api(story.ben)
    first = api.get(WALL).json()["nodes"]
    with CaptureQueriesContext(connection) as queries:
        assert api.get(WALL).json()["nodes"] == first
    assert not [
        query["sql"]
        for query in queries
        if '"clusters_node"' in query["sql"] or '"clusters_gpu"' in query["sql"]
    ]


def test_wall_shows_gpu_in_use_without_new_inventory(story, twins):
    api = story.api(story.ben)
    assert api.get(WALL).json()["nodes"][1][4] == 0b100
    with platform_scope("test"):
        Attempt.objects.update(
            placement={
                "node": "n0",
                "cpus": 1000,
                "memory": 0,
                "gpus": [0, 3],
                "uuids": ["GPU-0-0", "GPU-0-3"],
            }
        )
    assert api.get(WALL).json()["nodes"][1][4] == 0b1001


def test_wall_shows_changes_of_nodes_at_once(story):
    cluster, api = Cluster.objects.create(name="big", backend="elsewhere"), story.api(story.ben)
    described = {"n0": NodeFacts("n0", 4, 1 << 30, [GpuFacts(0, "A-0", "x", "a100", 1)])}
    backend = SimpleNamespace(capabilities=(), inventory=lambda: list(described.values()))

    def row() -> list[object]:
        take_inventory(cluster, backend)
        return next(node for node in api.get(WALL).json()["nodes"] if node[1] == 0)[1:6]

    assert row() == [0, 0, 1, 0, [0]]
    described["n0"] = replace(described["n0"], used_gpus=1)
    assert row() == [0, 0, 1, 1, [0]]
    described["n0"] = replace(
        described["n0"], gpus=[*described["n0"].gpus, GpuFacts(1, "A-1", "x", "a100", 1)]
    )
    assert row() == [0, 0, 2, 1, [0]]
    described["n1"] = described.pop("n0")
    described["n1"] = replace(described["n1"], name="n1")
    assert row() == [0, 0, 2, 1, [0]]
    assert [node[0] for node in api.get(WALL).json()["nodes"]] == ["n1"]


def test_wall_cache_survives_unchanged_inventory(story, twins):
    backend = SimpleNamespace(
        capabilities=(), inventory=lambda: [NodeFacts("n0", 1, 1, is_ready=False)]
    )
    for expected in (1, 1):
        take_inventory(twins[1], backend)
        assert Cluster.objects.get(id=twins[1].id).inventory == expected
