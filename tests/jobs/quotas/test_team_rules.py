"""Job rules of a team: an error for each rule, and defaults."""

from __future__ import annotations

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from clusters.models import Cluster, Pool, PoolGrant
from jobs.services import dry_run_job
from jobs.specs.stored import spec_of
from portal.core.errors import InvalidInput, NotPermitted
from schedulers.spec import parse_mapping
from tests.jobs.stage import cluster_with, submit
from workspaces.organizations.team_rule_services import set_team_rules
from workspaces.tenancy.scope import org_scope, platform_scope


def _rules(story, **rules):
    with org_scope(story.atlas.id):
        return set_team_rules(actor=story.actor(story.ada), team=story.vision, **rules)


@pytest.mark.parametrize(
    ("rules", "spec", "sentence"),
    [
        (
            {"max_runtime": 3600},
            {"policy": {"max_runtime": "2h"}},
            "is 2h, but a rule of team Vision allows at most 1h; lower it",
        ),
        (
            {"max_gpus": 1},
            {"resources": {"accelerators": 2}},
            "requests 2 GPUs in total, but a rule of team Vision allows at most 1 per job",
        ),
        (
            {"images": ["registry.example/vision/*"]},
            {"image": "docker.io/evil:1"},
            "not one of the images that a rule of team Vision allows",
        ),
        (
            {"images": ["registry.example/vision/*"]},
            {},
            "is required by a rule of team Vision: registry.example/vision/*",
        ),
        (
            {"pools": ["fast"]},
            {},
            "local is not one of the pools that a rule of team Vision allows: fast",
        ),
    ],
)
def test_job_that_violates_a_rule_is_refused_and_the_rule_is_named(story, rules, spec, sentence):
    cluster_with(gpus=4)
    Pool.objects.create(
        name="fast",
        cluster=Cluster.objects.create(name="spare", backend="local", is_enabled=False),
        is_open=True,
    )
    _rules(story, **rules)
    with pytest.raises(InvalidInput) as refused:
        submit(story, **spec)
    assert sentence in refused.value.message and "or ask an administrator" in refused.value.message


def test_job_within_the_rules_gets_the_default_run_time(story):
    cluster_with(gpus=4)
    _rules(
        story, max_runtime=7200, default_runtime=3600, max_gpus=2, images=["none"], pools=["local"]
    )
    assert spec_of(submit(story, resources={"accelerators": 2})).policy.max_runtime == 3600
    assert spec_of(submit(story, policy={"max_runtime": "2h"})).policy.max_runtime == 7200
    _rules(story, default_runtime=None)
    assert spec_of(submit(story)).policy.max_runtime == 7200


def test_forbidden_pool_is_not_chosen(story):
    cluster = cluster_with(nodes=2)
    with platform_scope("test"):
        for name in ("slow", "fast"):
            pool = Pool.objects.create(name=name, cluster=cluster, is_open=True)
            PoolGrant.objects.create(org=story.atlas, pool=pool, team=story.vision)
    _rules(story, pools=["fast"])
    assert submit(story).pool.name == "fast"
    with pytest.raises(InvalidInput, match="slow is not one of the pools"):
        submit(story, policy={"pool": "slow"})


def test_dry_run_gives_the_same_refusal(story):
    cluster_with(gpus=4)
    _rules(story, max_gpus=1)
    with org_scope(story.atlas.id):
        result = dry_run_job(
            actor=story.actor(story.ada),
            team=story.vision,
            spec=parse_mapping({"run": "true", "resources": {"accelerators": 2}}),
        )
    assert not result.is_ok
    assert next(c.text for c in result.checks if c.name == "rules").startswith(
        "resources.accelerators: requests 2 GPUs in total"
    )


def test_rules_take_no_statement_at_submission(story):
    cluster_with()
    api, body = story.api(story.ben, story.atlas), {"team": "vision", "spec": {"run": "true"}}

    def statements():
        with CaptureQueriesContext(connection) as queries:
            assert (
                api.post(
                    "/api/v1/orgs/atlas/jobs", body, content_type="application/json"
                ).status_code
                == 201
            )
        return len(queries)

    statements()
    before = statements()
    _rules(story, max_runtime=7200, max_gpus=2)
    assert statements() == before


@pytest.mark.parametrize(
    "rules",
    [
        {"max_runtime": 0},
        {"max_gpus": -1},
        {"images": [""]},
        {"max_runtime": 60, "default_runtime": 61},
        {"pools": ["fast"], "default_pool": "slow"},
    ],
)
def test_invalid_rules_are_refused(story, rules):
    with pytest.raises(InvalidInput):
        _rules(story, **rules)


def test_team_rules_with_an_unknown_pool_are_refused_by_its_name(story):
    cluster = cluster_with()
    with platform_scope("test"):
        hidden = Pool.objects.create(
            name="theirs", cluster=Cluster.objects.create(name="far", backend="local")
        )
        PoolGrant.objects.create(org=story.borealis, pool=hidden, team=story.north)
    api = story.api(story.ada)
    for field, value, named in (
        ("pools", [cluster.name, "moon"], "moon"),
        ("default_pool", "moon", "moon"),
        ("pools", ["theirs"], "theirs"),
    ):
        answer = api.put(
            "/api/v1/orgs/atlas/teams/vision/rules", {field: value}, content_type="application/json"
        )
        assert (
            answer.status_code == 400
            and f"there is no pool '{named}' here" in answer.content.decode()
        )


def test_rules_page_requires_quota_permission(story):
    with org_scope(story.atlas.id), pytest.raises(NotPermitted):
        set_team_rules(actor=story.actor(story.ben), team=story.vision, max_gpus=1)
    story.client(story.ada).post(
        "/atlas/teams/vision/rules", {"max_runtime": "24h", "images": "a/*, none"}
    )
    api = story.api(story.ben, story.atlas)
    data = api.get("/api/v1/orgs/atlas/teams/vision/rules").json()
    assert (data["max_runtime"], data["images"], data["max_gpus"]) == (86400, ["a/*", "none"], None)
    assert (
        'value="1d"'
        in (shown := story.client(story.ada).get("/atlas/teams/vision").content.decode())
        or 'value="24h"' in shown
    )
