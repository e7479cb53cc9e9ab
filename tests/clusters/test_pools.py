"""Pools: which nodes they are, and who may use them."""

from __future__ import annotations

import json

import pytest

from clusters import representations
from clusters.models import Cluster, Node, Pool, PoolGrant
from clusters.services import pools as p
from portal.core.errors import Conflict, InvalidInput, NotFound, NotPermitted
from portal.core.models import Event
from schedulers.contract import Identity
from workspaces.tenancy.scope import org_scope, platform_scope


@pytest.fixture
def cluster(story) -> Cluster:
    return Cluster.objects.create(name="big", backend="drainable", config={"url": "u"})


@pytest.fixture
def dot(story):
    return story.actor(story.dot, story.atlas)


def test_a_team_sees_what_was_granted_to_it_until_it_is_revoked(story, cluster, dot):
    pool = p.create_pool(actor=dot, cluster=cluster, name="h100", gpu_type="H100")
    with org_scope(story.atlas.id):
        assert p.pools_for(story.vision) == []
        p.grant_pool(actor=dot, pool=pool, team=story.vision)
        p.grant_pool(actor=dot, pool=pool, team=story.vision)
        assert p.pools_for(story.vision) == [pool]
        assert p.pools_for(story.speech) == []
        assert p.teams_of([pool]) == {pool.id: ["vision"]}
    with org_scope(story.borealis.id):
        assert p.pools_seen_by(story.actor(story.cyd)) == []
        assert p.teams_of([pool]) == {pool.id: []}
    with org_scope(story.atlas.id):
        p.revoke_pool(actor=dot, pool=pool, team=story.vision)
        assert p.pools_for(story.vision) == []
        with pytest.raises(NotFound):
            p.revoke_pool(actor=dot, pool=pool, team=story.vision)
    kinds = Event.objects.filter(subject_id=pool.id).order_by("id").values_list("kind", "org_id")
    assert list(kinds) == [
        ("pool.created", None),
        ("pool.granted", story.atlas.id),
        ("pool.revoked", story.atlas.id),
    ]


def test_an_open_pool_is_everybodys_and_one_of_a_cluster_switched_off_nobodys(story, cluster, dot):
    pool = p.create_pool(actor=dot, cluster=cluster, name="all", is_open=True)
    with org_scope(story.atlas.id):
        assert p.pools_for(story.speech) == [pool]
        assert p.pools_seen_by(story.actor(story.ben)) == [pool]
        Cluster.objects.update(is_enabled=False)
        assert p.pools_for(story.speech) == []


RULES = [
    ({}, True),
    ({"labels": {"rack": "3"}}, True),
    ({"labels": {"rack": "4"}}, False),
    ({"labels": {"rack": "3", "room": "a"}}, False),
    ({"partition": "main"}, True),
    ({"partition": "debug"}, False),
    ({"gpu_type": "h100"}, True),
    ({"gpu_type": "a100"}, False),
    ({"labels": {"rack": "3"}, "partition": "debug"}, False),
]


def test_a_node_belongs_to_a_pool_when_all_of_its_rules_hold(subtests):
    for rule, is_inside in RULES:
        with subtests.test(rule=rule, is_inside=is_inside):
            node = Node(
                name="n", labels={"rack": "3", "disk": "fast"}, partitions=["main", "night"]
            )
            assert p.is_in(Pool(**rule), node, ["h100"]) == is_inside


NO_RULES = [
    {"labels": ["a"]},
    {"labels": {"a": 1}},
    {"labels": {str(n): "x" for n in range(21)}},
    {"partition": "x" * 81},
    {"note": "a\nb"},
]


def test_a_rule_that_cannot_hold_is_refused(subtests, cluster, dot):
    for rule in NO_RULES:
        with subtests.test(rule=rule):
            with pytest.raises(InvalidInput):
                p.create_pool(actor=dot, cluster=cluster, name="odd", **rule)


def test_pools_and_clusters_share_their_names_since_a_spec_names_either(cluster, dot):
    with pytest.raises(Conflict):
        p.create_pool(actor=dot, cluster=cluster, name="big")


def test_a_pool_is_changed_and_what_is_not_given_stays(cluster, dot):
    pool = p.create_pool(actor=dot, cluster=cluster, name="one", partition="main", note="for all")
    p.change_pool(actor=dot, pool=pool, partition="", is_open=True, note=None)
    row = Pool.objects.get()
    assert (row.partition, row.is_open, row.note) == ("", True, "for all")


def test_the_last_pool_of_a_cluster_does_not_go_silently_and_open_it_to_all(story, cluster, dot):
    first, second = (
        p.create_pool(actor=dot, cluster=cluster, name=name) for name in ("one", "two")
    )
    with platform_scope("test"):
        p.grant_pool(actor=dot, pool=second, team=story.vision)
        p.delete_pool(actor=dot, pool=second)
        assert PoolGrant.objects.count() == 0
        with pytest.raises(Conflict, match="every team"):
            p.delete_pool(actor=dot, pool=first)
        p.delete_pool(actor=dot, pool=p.change_pool(actor=dot, pool=first, is_open=True))
    assert Pool.objects.count() == 0


def test_only_operators_write_pools(story, cluster, dot):
    pool, ada = p.create_pool(actor=dot, cluster=cluster, name="one"), story.actor(story.ada)
    with org_scope(story.atlas.id):
        for act in (
            lambda: p.create_pool(actor=ada, cluster=cluster, name="two"),
            lambda: p.change_pool(actor=ada, pool=pool),
            lambda: p.delete_pool(actor=ada, pool=pool),
            lambda: p.grant_pool(actor=ada, pool=pool, team=story.vision),
            lambda: p.revoke_pool(actor=ada, pool=pool, team=story.vision),
        ):
            with pytest.raises(NotPermitted):
                act()


@pytest.fixture
def slurm(story) -> Cluster:
    """Connected on paper: nothing here asks it anything."""
    return Cluster.objects.create(
        name="slow",
        backend="slurm",
        config={"spool": "/spool", "user": "muster", "users": ["vision"]},
    )


def test_a_grant_says_as_whom_a_team_runs_and_operators_alone_are_told(story, slurm, dot):
    pool = p.create_pool(actor=dot, cluster=slurm, name="a100")
    with org_scope(story.atlas.id):
        p.grant_pool(
            actor=dot, pool=pool, team=story.vision, identity=Identity("vision", "atlas", "long")
        )
        p.grant_pool(actor=dot, pool=pool, team=story.vision)
        assert p.identities_of([pool]) == {
            pool.id: {"vision": {"user": "vision", "account": "atlas", "qos": "long"}}
        }
        assert representations.pool_rows(dot)[0]["identities"] == p.identities_of([pool])[pool.id]
        assert "identities" not in representations.pool_rows(story.actor(story.ben))[0]
        p.grant_pool(actor=dot, pool=pool, team=story.vision, identity=Identity(account="borealis"))
        assert p.identities_of([pool])[pool.id]["vision"] == {
            "user": "",
            "account": "borealis",
            "qos": "",
        }
    assert Event.objects.filter(kind="pool.granted").count() == 2


IDENTITIES = [Identity(user="root"), Identity(account="a b"), Identity(qos="--uid=0")]


def test_an_identity_that_the_cluster_does_not_give_is_refused_with_its_field(
    subtests, story, slurm, dot
):
    pool = p.create_pool(actor=dot, cluster=slurm, name="a100")
    for identity in IDENTITIES:
        with subtests.test(identity=identity):
            with pytest.raises(InvalidInput) as refused, org_scope(story.atlas.id):
                p.grant_pool(actor=dot, pool=pool, team=story.vision, identity=identity)
            assert refused.value.data["errors"][0]["field"] == next(
                name for name in ("user", "account", "qos") if getattr(identity, name)
            )


def test_a_cluster_without_users_of_its_own_takes_no_identity(story, cluster, dot):
    pool = p.create_pool(actor=dot, cluster=cluster, name="h100")
    with (
        pytest.raises(InvalidInput, match="grant the pool without them"),
        org_scope(story.atlas.id),
    ):
        p.grant_pool(actor=dot, pool=pool, team=story.vision, identity=Identity(account="atlas"))


def test_deleting_a_pool_takes_the_grants_of_every_organization_along(story, cluster, dot):
    pool = p.create_pool(actor=dot, cluster=cluster, name="one", is_open=True)
    for org, team in ((story.atlas, story.vision), (story.borealis, story.north)):
        with org_scope(org.id):
            p.grant_pool(actor=dot, pool=pool, team=team)
    with org_scope(story.atlas.id):
        p.delete_pool(actor=dot, pool=pool)
    with platform_scope("test"):
        assert PoolGrant.objects.count() == 0


def test_over_the_api_a_grant_says_as_whom_and_without_a_body_it_stays(story, slurm, dot):
    p.create_pool(actor=dot, cluster=slurm, name="a100")
    door, path = story.api(story.dot, story.atlas), "/api/v1/orgs/atlas/pools/a100/teams/vision"
    given = {"user": "vision", "account": "atlas", "qos": ""}
    for body in (given, {}):
        answer = door.put(path, json.dumps(body), content_type="application/json")
        assert (answer.status_code, answer.json()["identities"]) == (200, {"vision": given})
    refused = door.put(path, json.dumps({"user": "root"}), content_type="application/json")
    assert (refused.status_code, refused.json()["errors"][0]["field"]) == (400, "user")
    assert (
        story.api(story.ada)
        .put(path, json.dumps(given), content_type="application/json")
        .status_code
        == 403
    )
