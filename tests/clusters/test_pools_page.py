"""Pages of pools: where teams can run, and actions of operators."""

from __future__ import annotations

import pytest

from clusters import pools
from clusters.models import Cluster, Gpu, Node, Pool, PoolGrant
from jobs.models import Job
from portal.core import clock
from schedulers.states import State
from tests.jobs.stage import submit
from workspaces.tenancy.scope import org_scope, platform_scope

PAGE, PLATFORM = "/atlas/pools", "/platform/pools"


@pytest.fixture
def dot(story):
    return story.client(story.dot)


@pytest.fixture
def big(story) -> Cluster:
    row = Cluster.objects.create(
        name="big", backend="drainable", config={"url": "there"}, seen_at=clock.now()
    )
    for n in range(4):
        node = Node.objects.create(
            cluster=row,
            name=f"n{n}",
            cpus=8000,
            memory=1 << 34,
            labels={"rack": str(n % 2)},
            partitions=["main"],
            used_gpus=1 if n == 0 else 0,
        )
        Gpu.objects.create(node=node, index=0, uuid=f"G{n}", model="H100", type="h100", memory=1)
    return row


def pool(big: Cluster, name: str, *teams, **rule: object) -> Pool:
    row = Pool.objects.create(name=name, cluster=big, **rule)
    for team in teams:
        with org_scope(team.org_id):
            PoolGrant.objects.create(org_id=team.org_id, pool=row, team=team)
    return row


def test_cluster_without_pools_is_open_to_everybody(story, big):
    text = story.client(story.ben).get(PAGE).content.decode()
    assert (
        "whole cluster" in text
        and '<b>3</b> <span class="faint">/ 4' in text
        and "all teams" in text
    )
    assert 'id="make"' not in text and "/platform/clusters/big" not in text


def test_members_see_only_the_pools_of_their_organizations_teams(story, big):
    pool(big, "ours", story.vision, labels={"rack": "1"})
    pool(big, "theirs", story.north)
    ben = story.client(story.ben)
    assert [p["name"] for p in ben.get(PAGE).context["list"].rows] == ["ours"]
    assert ben.get(f"{PAGE}/ours").status_code == 200
    assert ben.get(f"{PAGE}/theirs").status_code == ben.get(f"{PAGE}/nosuch").status_code == 404
    for form in (
        {"do": "change", "note": "x"},
        {"do": "grant", "team": "atlas/speech"},
        {"do": "delete"},
    ):
        assert ben.post(f"{PLATFORM}/ours", form).status_code == 403
    with platform_scope("test"):
        assert (Pool.objects.get(name="ours").note, PoolGrant.objects.count()) == ("", 2)


def test_places_of_a_team_are_open_or_granted_to_it(story, dot, big):
    pool(big, "ours", story.vision)
    pool(big, "everybodys", is_open=True)
    pool(big, "nobodys")
    body = {
        team: [p["name"] for p in dot.get(PAGE, {"team": team}).context["list"].rows]
        for team in ("", "vision", "speech")
    }
    assert body == {
        "": ["everybodys", "nobodys", "ours"],
        "vision": ["everybodys", "ours"],
        "speech": ["everybodys"],
    }
    Cluster.objects.update(is_enabled=False)
    assert "vision has no access to a pool" in dot.get(PAGE, {"team": "vision"}).content.decode()


def test_own_jobs_are_counted_by_place_and_linked(story, big):
    row = pool(big, "ours", story.vision)
    jobs = [submit(story) for _ in range(3)]
    with org_scope(story.atlas.id):
        Job.objects.filter(id=jobs[0].id).update(state=State.RUNNING)
    text = story.client(story.ben).get(PAGE).content.decode()
    assert "1 running, 2 pending" in text and "cluster=big&amp;pool=ours&amp;state=" in text
    own = story.client(story.ben).get(f"{PAGE}/ours").context["load"]
    assert own == [
        {
            "org": "atlas",
            "org_name": "Atlas",
            "team": "vision",
            "team_name": "Vision",
            "runs": 1,
            "waits": 2,
            "gpus": 0,
        }
    ]
    assert story.client(story.dot).get(f"{PLATFORM}/ours").context["load"][0]["waits"] == 3, (
        "operators see attempts, which did not move"
    )
    assert row.name == "ours"


def test_new_pool_of_a_cluster_shows_errors_at_their_fields(dot, big):
    page = "/platform/clusters/big"
    assert 'id="new-pool"' in dot.get(f"{page}?dialog=new-pool").content.decode()
    form = {
        "do": "new-pool",
        "name": "fast",
        "labels": "rack=1 fabric=ib",
        "gpu_type": "H100",
        "note": "for papers",
    }
    wrong = dot.post(page, form | {"labels": "rack"}, follow=True).content.decode()
    assert 'data-field="labels"' in wrong
    taken = dot.post(page, form | {"name": "big"}, follow=True).content.decode()
    assert 'data-field="name"' in taken
    assert "fast was created" in dot.post(page, form, follow=True).content.decode()
    row = Pool.objects.get()
    assert (row.labels, row.gpu_type, row.note, row.is_open) == (
        {"rack": "1", "fabric": "ib"},
        "h100",
        "for papers",
        False,
    )


def test_pool_without_nodes_is_marked(dot, big):
    pool(big, "empty", labels={"rack": "9"})
    assert "No nodes match this pool" in dot.get(f"{PAGE}/empty").content.decode()
    assert "no matching nodes" in dot.get(PAGE).content.decode()


def test_operator_changes_grants_revokes_and_deletes(story, dot, big):
    pool(big, "fast", story.north, labels={"rack": "1"})
    pool(big, "rest", is_open=True)
    page = f"{PLATFORM}/fast"
    shown = dot.get(page).content.decode()
    assert 'value="borealis/north"' in shown and 'value="rack=1"' in shown
    assert (
        "Vision can now use fast"
        in dot.post(page, {"do": "grant", "team": "atlas/vision"}, follow=True).content.decode()
    )
    assert "choose one" in dot.post(page, {"do": "grant", "team": "atlas/no"}).content.decode()
    dot.post(page, {"do": "change", "labels": "", "partition": "main", "is_open": "on"})
    with org_scope(story.atlas.id):
        row = Pool.objects.get(name="fast")
        assert (row.labels, row.partition, row.is_open, pools.teams_of([row])[row.id]) == (
            {},
            "main",
            True,
            ["vision"],
        )
    assert (
        "can no longer use fast"
        in dot.post(page, {"do": "revoke", "team": "atlas/vision"}, follow=True).content.decode()
    )
    assert "fast was deleted" in dot.post(page, {"do": "delete"}, follow=True).content.decode()
    with platform_scope("test"):
        assert not Pool.objects.filter(name="fast").exists() and not PoolGrant.objects.exists()


def test_last_pool_that_is_not_open_explains_why_it_stays(dot, big):
    pool(big, "only")
    assert "This is the last pool of big" in dot.get(f"{PLATFORM}/only").content.decode()
    assert (
        "every team could use the whole cluster"
        in dot.post(f"{PLATFORM}/only", {"do": "delete"}, follow=True).content.decode()
    )


def test_pool_list_takes_a_constant_number_of_statements(story, big, django_assert_max_num_queries):
    for n in range(30):
        pool(big, f"p{n}", story.vision)
    for who in (story.ben, story.dot):
        client = story.client(who)
        with django_assert_max_num_queries(28):
            assert client.get(PAGE).status_code == 200


def test_api_returns_free_capacity_of_a_pool(story, big):
    pool(big, "ours", story.vision, labels={"rack": "0"})
    [data] = story.api(story.ben).get("/api/v1/orgs/atlas/pools").json()["items"]
    assert data["gpus"] == {
        "total": 2,
        "used": 1,
        "reserved": 0,
        "free": 1,
        "types": {"h100": {"total": 2, "used": 1, "reserved": 0, "free": 1}},
    }
    assert data["nodes"] == {"total": 2, "ready": 2, "drained": 0, "down": 0}
