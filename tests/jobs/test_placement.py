"""Choice of a pool when the spec leaves it open, with a reason for every pool considered."""

from __future__ import annotations

import pytest

from clusters.models import Cluster, Gpu, Node, Pool, PoolGrant
from jobs.scheduling.placement import BUSY, FREE, TROUBLED, UNKNOWN, choose
from portal.core.errors import InvalidInput, NotPermitted
from schedulers.spec import parse_mapping
from schedulers.states import State
from tests.clusters.conftest import drainable, gangs  # noqa: F401  fixtures for every test here
from tests.jobs.stage import GIB, cluster_with
from workspaces.tenancy.scope import org_scope


def scheduler(
    name: str, gpus: int = 8, nodes: int = 2, used: int = 0, kind: str = "h100"
) -> Cluster:
    """Create a cluster whose scheduler reports its usage."""
    cluster = Cluster.objects.create(name=name, backend="drainable", config={"url": name})
    for n in range(nodes):
        node = Node.objects.create(
            cluster=cluster,
            name=f"{name}-{n}",
            cpus=64_000,
            memory=512 * GIB,
            used_gpus=used,
            partitions=["main"],
        )
        Gpu.objects.bulk_create(
            Gpu(node=node, index=i, uuid=f"{name}-{n}-{i}", model="x", type=kind, memory=80 * GIB)
            for i in range(gpus)
        )
    return cluster


@pytest.fixture
def place(story):
    def chosen(person=None, team=None, **spec):
        with org_scope(story.atlas.id):
            return choose(
                story.actor(person or story.ben),
                team or story.vision,
                parse_mapping({"run": "true", **spec}),
            )

    return chosen


def ranks(choice) -> dict[str, int]:
    return {c.name: c.rank for c in choice.considered}


def test_free_pool_is_preferred_to_a_full_one_and_both_are_explained(place):
    scheduler("full", used=8)
    scheduler("roomy", used=2)
    choice = place(resources={"accelerators": "H100:4"})
    assert (choice.cluster.name, ranks(choice)) == ("roomy", {"roomy": FREE, "full": BUSY})
    assert choice.why == (
        "roomy, because it can start there now: 2 of 2 nodes have room for it now; 12 of 16 H100 "
        "GPUs are free."
    )
    assert (
        choice.considered[1].text == "0 of 2 nodes have room for it now; 0 of 16 H100 GPUs are free"
    )


def test_pool_that_cannot_run_the_job_says_what_it_lacks(place):
    scheduler("old", kind="a100")
    scheduler("small", gpus=4)
    scheduler("right")
    choice = place(resources={"accelerators": "H100:8"})
    assert choice.cluster.name == "right"
    assert {c.name: c.text for c in choice.considered if not c.fits} == {
        "old": "it has no H100 GPUs",
        "small": "no node has 8 H100 GPUs; the most is 4",
    }


def test_job_without_gpus_avoids_nodes_with_gpus(place):
    scheduler("gpus")
    scheduler("plain", gpus=0)
    assert place().cluster.name == "plain"


def test_no_fitting_pool_reports_every_reason(place):
    scheduler("one", gpus=1)
    scheduler("two", kind="a100")
    with pytest.raises(InvalidInput) as caught:
        place(resources={"accelerators": "H100:2"})
    assert "No node has 2 H100 GPUs; the most is 1, in one." in str(caught.value)
    with pytest.raises(InvalidInput) as caught:
        place(resources={"accelerators": "L40S:2"})
    assert "one: it has no L40S GPUs" in str(caught.value)
    assert "two: it has no L40S GPUs" in str(caught.value)


def test_pool_counts_its_own_nodes_and_only_for_granted_teams(story, place):
    cluster = scheduler("big")
    Node.objects.filter(name="big-1").update(partitions=["night"])
    pool = Pool.objects.create(name="night", cluster=cluster, partition="night")
    with pytest.raises(InvalidInput, match="This team has no cluster to run on"):
        place()
    with org_scope(story.atlas.id):
        PoolGrant.objects.create(org=story.atlas, pool=pool, team=story.vision)
    choice = place(resources={"accelerators": 8})
    assert (choice.pool, choice.cluster) == (pool, cluster)
    assert choice.why == (
        "night is the only one open to the team: 1 of 1 node has room for it now; 8 of 8 "
        "GPUs are free."
    )
    with pytest.raises(InvalidInput, match="This team has no cluster"):
        place(person=story.ada, team=story.speech)


@pytest.mark.parametrize("named", ["night", "big"])
def test_spec_may_name_the_pool_or_its_cluster(place, named):
    pool = Pool.objects.create(name="night", cluster=scheduler("big"), is_open=True)
    scheduler("other")
    choice = place(policy={"pool": named})
    assert (choice.pool, len(choice.considered)) == (pool, 1)
    assert choice.why.startswith("night, because the spec names it")


def test_forbidden_pool_looks_like_a_missing_one(place):
    Pool.objects.create(name="secret", cluster=scheduler("hidden"))
    scheduler("open")
    with pytest.raises(InvalidInput) as caught:
        place(policy={"pool": "secret"})
    assert "choose from open" in str(caught.value)
    assert "hidden" not in str(caught.value)


@pytest.mark.parametrize(
    ("change", "rank"), [({"is_drained": True}, BUSY), ({"is_ready": False}, BUSY)]
)
def test_nodes_that_take_no_jobs_are_not_free(place, change, rank):
    scheduler("only")
    Node.objects.update(**change)
    assert ranks(place()) == {"only": rank}


def test_troubled_cluster_is_the_last_choice_and_an_unknown_one_before_it(
    place,
):
    Cluster.objects.filter(id=scheduler("away").id).update(trouble="no route to host")
    assert ranks(place()) == {"away": TROUBLED}
    Cluster.objects.create(name="fresh", backend="drainable", config={"url": "fresh"})
    assert ranks(place()) == {"fresh": UNKNOWN, "away": TROUBLED}


def test_usage_is_what_the_portal_reserved_if_it_places_jobs(story, place):
    cluster_with(gpus=2)
    assert place(resources={"accelerators": 2}).considered[0].rank == FREE
    with org_scope(story.atlas.id):
        from jobs.models import Attempt
        from tests.jobs.stage import submit

        submit(story)
        Attempt.objects.update(
            state=State.DISPATCHING,
            has_reservation=True,
            placement={"node": "n0", "cpus": 1000, "memory": 0, "gpus": [0], "uuids": ["GPU-0-0"]},
        )
    assert place(resources={"accelerators": 2}).considered[0].rank == BUSY


def test_missing_cluster_feature_is_a_reason(place):
    scheduler("only")
    with pytest.raises(InvalidInput):
        place(num_nodes=2)


def test_actor_without_submit_permission_gets_no_reasons(story, place):
    cluster_with()
    with pytest.raises(NotPermitted):
        place(team=story.speech)


@pytest.mark.parametrize(
    ("backend", "nodes", "rank"), [("apart", 2, None), ("packing", 2, FREE), ("packing", 5, None)]
)
def test_only_some_schedulers_pack_several_nodes_of_a_job_on_one_machine(
    place, backend, nodes, rank
):
    """One machine with 8 GPUs can run four nodes of 2 GPUs."""
    Cluster.objects.filter(id=scheduler("one", nodes=1).id).update(backend=backend)
    if rank is None:
        with pytest.raises(
            InvalidInput, match=f"1 of its nodes could run it, and it needs {nodes}"
        ):
            place(num_nodes=nodes, resources={"accelerators": 2})
    else:
        assert ranks(place(num_nodes=nodes, resources={"accelerators": 2})) == {"one": rank}
