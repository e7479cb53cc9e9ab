"""Pools: their nodes and the teams that may use them."""

from __future__ import annotations

import json

import pytest

from clusters import pools, representations
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


def test_team_sees_a_granted_pool_until_it_is_revoked(story, cluster, dot):
    pool = p.create_pool(actor=dot, cluster=cluster, name="h100", gpu_type="H100")
    with org_scope(story.atlas.id):
        assert pools.pools_for(story.vision) == []
        p.grant_pool(actor=dot, pool=pool, team=story.vision)
        p.grant_pool(actor=dot, pool=pool, team=story.vision)
        assert pools.pools_for(story.vision) == [pool]
        assert pools.pools_for(story.speech) == []
        assert pools.teams_of([pool]) == {pool.id: ["vision"]}
    with org_scope(story.borealis.id):
        assert pools.pools_visible_to(story.actor(story.cyd)) == []
        assert pools.teams_of([pool]) == {pool.id: []}
    with org_scope(story.atlas.id):
        p.revoke_pool(actor=dot, pool=pool, team=story.vision)
        assert pools.pools_for(story.vision) == []
        with pytest.raises(NotFound):
            p.revoke_pool(actor=dot, pool=pool, team=story.vision)
    kinds = Event.objects.filter(subject_id=pool.id).order_by("id").values_list("kind", "org_id")
    assert list(kinds) == [
        ("pool.created", None),
        ("pool.granted", story.atlas.id),
        ("pool.revoked", story.atlas.id),
    ]


def test_open_pool_is_for_everybody_and_one_of_a_disabled_cluster_for_nobody(story, cluster, dot):
    pool = p.create_pool(actor=dot, cluster=cluster, name="all", is_open=True)
    with org_scope(story.atlas.id):
        assert pools.pools_for(story.speech) == [pool]
        assert pools.pools_visible_to(story.actor(story.ben)) == [pool]
        Cluster.objects.update(is_enabled=False)
        assert pools.pools_for(story.speech) == []


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


def test_node_belongs_to_a_pool_if_all_rules_match(subtests):
    for rule, is_inside in RULES:
        with subtests.test(rule=rule, is_inside=is_inside):
            node = Node(
                name="n", labels={"rack": "3", "disk": "fast"}, partitions=["main", "night"]
            )
            assert pools.is_in(Pool(**rule), node, ["h100"]) == is_inside


NO_RULES = [
    {"labels": ["a"]},
    {"labels": {"a": 1}},
    {"labels": {str(n): "x" for n in range(21)}},
    {"partition": "x" * 81},
    {"note": "a\nb"},
]


def test_invalid_rule_is_refused(subtests, cluster, dot):
    for rule in NO_RULES:
        with subtests.test(rule=rule):
            with pytest.raises(InvalidInput):
                p.create_pool(actor=dot, cluster=cluster, name="odd", **rule)


def test_pools_and_clusters_share_one_namespace(cluster, dot):
    with pytest.raises(Conflict):
        p.create_pool(actor=dot, cluster=cluster, name="big")


def test_changed_pool_keeps_omitted_fields(cluster, dot):
    pool = p.create_pool(actor=dot, cluster=cluster, name="one", partition="main", note="for all")
    p.change_pool(actor=dot, pool=pool, partition="", is_open=True, note=None)
    row = Pool.objects.get()
    assert (row.partition, row.is_open, row.note) == ("", True, "for all")


def test_last_pool_of_a_cluster_cannot_be_deleted_unless_open(story, cluster, dot):
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
    """Return a Slurm cluster that is never called."""
    return Cluster.objects.create(
        name="slow",
        backend="slurm",
        config={"spool": "/spool", "user": "muster", "users": ["vision"]},
    )


def test_grant_has_an_identity_that_only_operators_see(story, slurm, dot):
    pool = p.create_pool(actor=dot, cluster=slurm, name="a100")
    with org_scope(story.atlas.id):
        p.grant_pool(
            actor=dot, pool=pool, team=story.vision, identity=Identity("vision", "atlas", "long")
        )
        p.grant_pool(actor=dot, pool=pool, team=story.vision)
        assert pools.identities_of([pool]) == {
            pool.id: {"vision": {"user": "vision", "account": "atlas", "qos": "long"}}
        }
        assert (
            representations.pool_rows(dot)[0]["identities"] == pools.identities_of([pool])[pool.id]
        )
        assert "identities" not in representations.pool_rows(story.actor(story.ben))[0]
        p.grant_pool(actor=dot, pool=pool, team=story.vision, identity=Identity(account="borealis"))
        assert pools.identities_of([pool])[pool.id]["vision"] == {
            "user": "",
            "account": "borealis",
            "qos": "",
        }
    assert Event.objects.filter(kind="pool.granted").count() == 2


IDENTITIES = [Identity(user="root"), Identity(account="a b"), Identity(qos="--uid=0")]


def test_unsupported_identity_is_refused_with_its_field(subtests, story, slurm, dot):
    pool = p.create_pool(actor=dot, cluster=slurm, name="a100")
    for identity in IDENTITIES:
        with subtests.test(identity=identity):
            with pytest.raises(InvalidInput) as refused, org_scope(story.atlas.id):
                p.grant_pool(actor=dot, pool=pool, team=story.vision, identity=identity)
            assert refused.value.data["errors"][0]["field"] == next(
                name for name in ("user", "account", "qos") if getattr(identity, name)
            )


def test_cluster_without_users_takes_no_identity(story, cluster, dot):
    pool = p.create_pool(actor=dot, cluster=cluster, name="h100")
    with (
        pytest.raises(InvalidInput, match="Grant the pool without them"),
        org_scope(story.atlas.id),
    ):
        p.grant_pool(actor=dot, pool=pool, team=story.vision, identity=Identity(account="atlas"))


def test_deleted_pool_loses_the_grants_of_every_organization(story, cluster, dot):
    pool = p.create_pool(actor=dot, cluster=cluster, name="one", is_open=True)
    for org, team in ((story.atlas, story.vision), (story.borealis, story.north)):
        with org_scope(org.id):
            p.grant_pool(actor=dot, pool=pool, team=team)
    with org_scope(story.atlas.id):
        p.delete_pool(actor=dot, pool=pool)
    with platform_scope("test"):
        assert PoolGrant.objects.count() == 0


def test_api_grant_sets_the_identity_and_keeps_it_without_a_body(story, slurm, dot):
    p.create_pool(actor=dot, cluster=slurm, name="a100")
    api, path = story.api(story.dot, story.atlas), "/api/v1/orgs/atlas/pools/a100/teams/vision"
    given = {"user": "vision", "account": "atlas", "qos": ""}
    for body in (given, {}):
        answer = api.put(path, json.dumps(body), content_type="application/json")
        assert (answer.status_code, answer.json()["identities"]) == (200, {"vision": given})
    refused = api.put(path, json.dumps({"user": "root"}), content_type="application/json")
    assert (refused.status_code, refused.json()["errors"][0]["field"]) == (400, "user")
    assert (
        story.api(story.ada)
        .put(path, json.dumps(given), content_type="application/json")
        .status_code
        == 403
    )
