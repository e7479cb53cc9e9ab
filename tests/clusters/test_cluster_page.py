"""The page of one cluster: health, capacity, usage and actions."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils.html import strip_tags

from clusters.capacity import capacity_of, natural
from clusters.models import Cluster, Gpu, Node, Pool
from clusters.node_capacity import NodeUsage, capacity_of_node
from clusters.status import history_of, status_of
from jobs.models import Attempt, Job
from portal.core import clock
from portal.core.events import EventRecord, record
from schedulers.states import State
from tests.jobs.stage import submit
from workspaces.tenancy.scope import org_scope

PAGE = "/platform/clusters/big"


@pytest.fixture
def dot(story):
    return story.client(story.dot)


@pytest.fixture
def big(story) -> Cluster:
    row = Cluster.objects.create(
        name="big",
        backend="drainable",
        config={"url": "there"},
        seen_at=clock.now(),
        counted_at=clock.now(),
    )
    for n in range(1, 61):
        node = Node.objects.create(
            cluster=row,
            name=f"n{n}",
            cpus=8000,
            memory=1 << 34,
            partitions=["main", "odd"] if n % 2 else ["main"],
            is_ready=n != 7,
            is_drained=n == 9,
            used_gpus=1 if n < 4 else 0,
            note="fan is loud" if n == 9 else "",
        )
        Gpu.objects.create(node=node, index=0, uuid=f"G{n}", model="H100", type="h100", memory=1)
    return row


def test_overview_counts_free_gpus_by_type_and_names_users(story, dot, big):
    jobs = [submit(story, name=f"j{n}", resources={"accelerators": "H100:2"}) for n in range(3)]
    with org_scope(story.atlas.id):
        Attempt.objects.filter(job__in=jobs[:2]).update(state=State.RUNNING)
    text = dot.get(PAGE).content.decode()
    assert (
        "55 of 60 GPUs free" in text
        and '3 <span class="faint">/ 60 allocated' in text
        and "2 out of service" in text
    )
    assert "58 ready" in text and "1 drained" in text and "1 down" in text
    assert "The 2 jobs running on it continue." in text and "One pending job stays" in text
    assert (
        'href="/atlas/jobs?state=starting,running,stopping&amp;cluster=big&amp;team=vision">2</a>'
        in text
    )
    assert '<td class="num" data-label="GPUs allocated">4</td>' in text


def test_nodes_are_sorted_paged_and_filtered_by_state_partition_and_text(dot, big):
    first = dot.get(f"{PAGE}?tab=nodes").context
    assert [n["name"] for n in first["nodes"]] == [f"n{n}" for n in range(1, 51)] and first[
        "following"
    ] == "n50"
    rest = dot.get(f"{PAGE}?tab=nodes&after=n50").context
    assert [n["name"] for n in rest["nodes"]] == [f"n{n}" for n in range(51, 61)] and not rest[
        "following"
    ]
    for query, wanted in (
        ("nodes=down", ["n7"]),
        ("find=loud", ["n9"]),
        ("partition=odd&find=n1", ["n1", "n11", "n13", "n15", "n17", "n19"]),
    ):
        assert [n["name"] for n in dot.get(f"{PAGE}?tab=nodes&{query}").context["nodes"]] == wanted
    assert "No matching nodes" in dot.get(f"{PAGE}?tab=nodes&find=nosuch").content.decode()


def test_node_is_drained_with_a_reason_and_resumed_from_the_page(dot, big, drainable):
    done = dot.post(
        f"{PAGE}/nodes/n1",
        {"do": "drain", "reason": "ticket 812", "back": f"{PAGE}?tab=nodes&find=n1"},
        follow=True,
    )
    assert done.redirect_chain[-1][0] == f"{PAGE}?tab=nodes&find=n1"
    assert (
        "n1 is drained" in done.content.decode()
        and "ticket 812 (dot@platform.example)" in done.content.decode()
    )
    assert (
        "is required"
        in dot.post(f"{PAGE}/nodes/n2", {"do": "drain", "reason": ""}, follow=True).content.decode()
    )
    assert (
        "n1 is back in service"
        in dot.post(f"{PAGE}/nodes/n1", {"do": "resume"}, follow=True).content.decode()
    )
    assert [result[0] for result in drainable.calls] == ["drain", "resume"]
    assert dot.post(f"{PAGE}/nodes/nosuch", {"do": "resume"}).status_code == 404


def test_cluster_that_cannot_drain_has_no_drain_button(dot, big):
    assert 'data-drain="n1"' in dot.get(f"{PAGE}?tab=nodes").content.decode()
    Cluster.objects.update(backend="local")
    text = dot.get(f"{PAGE}?tab=nodes").content.decode()
    assert "data-drain=" not in text and "has no scheduler" in text


def test_partitions_and_pools_are_counted(dot, big):
    Pool.objects.create(name="fast", cluster=big, partition="odd", labels={"rack": "3"})
    Pool.objects.create(name="whole", cluster=big, is_open=True)
    parts = dot.get(f"{PAGE}?tab=partitions").context["partitions"]
    assert {name: (s.total, s.all_gpus.free, s.all_gpus.total) for name, s in parts.items()} == {
        "main": (60, 55, 60),
        "odd": (30, 26, 30),
    }
    text = dot.get(f"{PAGE}?tab=pools").content.decode()
    assert "rack=3" in text and "open to all teams" in text and "all nodes" in text


def test_state_has_a_text_with_its_age(big):
    def after(seconds: int, **now: object) -> tuple[str, str]:
        row = Cluster(
            name="c",
            created_at=clock.now(),
            **({"seen_at": clock.now() - timedelta(seconds=seconds)} | now),
        )
        data = status_of(row)
        return data["word"], data["text"]

    assert after(4) == ("connected", "Responded 4 s ago.")
    since = clock.now() - timedelta(minutes=12)
    assert after(720, trouble="no route", trouble_since=since) == (
        "not responding",
        "Not responding for 12 min: no route",
    )
    assert after(720, trouble="no route", trouble_since=since, is_enabled=False)[1].endswith(
        "has not responded for 12 min."
    )
    assert after(4, is_enabled=False) == (
        "disabled",
        "Disabled: takes no new jobs. Running jobs continue.",
    )
    assert after(0, seen_at=None)[0] == "connecting"
    assert after(75) == (
        "not responding",
        "No response for 75 s. The watcher is not running, or the cluster is slow.",
    )


def test_past_outage_is_one_history_entry_with_its_duration(big):
    for kind, data in (
        ("connected", {}),
        ("silent", {"said": "no route"}),
        ("changed", {"options": ["url"]}),
        ("answered", {"said": "no route", "seconds": 240}),
        ("silent", {"said": "refused"}),
        ("disabled", {}),
    ):
        record(
            EventRecord(
                f"cluster.{kind}",
                None,
                "cluster",
                big.id,
                "watcher" if "said" in data else "dot@platform.example",
                data,
            )
        )
    assert [strip_tags(line.sentence) for line in history_of(big)] == [
        "Dot disabled the cluster big",
        "The cluster big stopped responding: refused",
        "The cluster big responds again after 4 min: no route",
        "Dot changed url of the cluster big",
        "Dot connected the cluster big",
    ]


def test_removal_requires_the_name_and_explains_why_it_is_refused(story, dot, big):
    assert (
        "Type big to delete it"
        in dot.post(PAGE, {"do": "remove", "name": "bug"}, follow=True).content.decode()
    )
    submit(story)
    assert (
        "1 job is active on big"
        in dot.post(PAGE, {"do": "remove", "name": "big"}, follow=True).content.decode()
    )
    Cluster.objects.create(name="spare", backend="drainable", config={"url": "u"})
    assert (
        "spare and its pools were deleted"
        in dot.post(
            "/platform/clusters/spare", {"do": "remove", "name": "spare"}, follow=True
        ).content.decode()
    )
    assert not Cluster.objects.filter(name="spare").exists()


def test_connection_test_stores_the_version(dot, big):
    dot.post(PAGE, {"do": "test"})
    assert Cluster.objects.get().version == "22.05"
    assert "A scheduler 22.05" in dot.get(PAGE).content.decode()


def test_cluster_page_takes_a_constant_number_of_statements(
    dot, big, django_assert_max_num_queries
):
    for tab in ("overview", "nodes", "partitions", "pools", "history"):
        with django_assert_max_num_queries(20):
            assert dot.get(f"{PAGE}?tab={tab}").status_code == 200


def test_missing_cluster_is_404_and_one_without_nodes_gives_advice(dot, story):
    assert dot.get("/platform/clusters/nosuch").status_code == 404
    Cluster.objects.create(
        name="big",
        backend="drainable",
        config={"url": "there"},
        trouble="no route",
        trouble_since=clock.now(),
    )
    text = dot.get(PAGE).content.decode()
    assert "Test the connection to see what is wrong" in text and "Not responding for" in text
    assert "No pools" in dot.get(f"{PAGE}?tab=pools").content.decode()


def test_used_gpus_of_a_mixed_node_are_counted_once_and_marked_as_estimate():
    def usage(gpus, used):
        node = Node(name="n", cpus=1, memory=1, used_gpus=used)
        return NodeUsage(node, capacity_of_node(node, gpus))

    stock = capacity_of([usage({"a100": 2, "h100": 2}, 3)])
    assert (
        stock.gpus["a100"].used,
        stock.gpus["h100"].used,
        stock.all_gpus.used,
        stock.is_exact,
    ) == (2, 1, 3, False)
    assert capacity_of([usage({"h100": 2}, 1)]).is_exact


def test_names_are_sorted_naturally():
    assert sorted(["n10", "n9", "a-2-b", "n1", "a-10-b"], key=natural) == [
        "a-2-b",
        "a-10-b",
        "n1",
        "n9",
        "n10",
    ]


def test_job_list_is_filtered_by_cluster_or_pool(story, dot, big):
    pool = Pool.objects.create(name="fast", cluster=big, is_open=True)
    submit(story, name="in-the-pool")
    Cluster.objects.create(name="other", backend="local")
    with org_scope(story.atlas.id):
        assert Job.objects.get().pool_id == pool.id
    ada = story.client(story.ada)
    for query, is_there in (
        ("cluster=big", True),
        ("cluster=other", False),
        ("pool=fast", True),
        ("cluster=big&pool=slow", False),
    ):
        assert ("in-the-pool" in ada.get(f"/atlas/jobs?{query}").content.decode()) == is_there
        assert (
            bool(story.api(story.ada).get(f"/api/v1/orgs/atlas/jobs?{query}").json()["items"])
            == is_there
        )
