"""Lists take a fixed number of queries; errors have one shape."""

from __future__ import annotations

import json

import pytest
from django.core.cache import cache
from django.db import connection
from django.test.utils import CaptureQueriesContext

from jobs.models import Attempt
from portal.core.events import EventRecord, record_all
from schedulers.states import State
from tests.jobs.stage import cluster_with, submit
from workspaces.credentials import tokens
from workspaces.organizations import services as organization_services
from workspaces.quotas import set_limits
from workspaces.tenancy.scope import org_scope, platform_scope

ORG = "/api/v1/orgs/atlas"
PROBLEM = {
    *("type", "title", "status", "code", "detail", "help", "errors", "retryable", "request_id")
}
LISTS = [
    "/teams",
    "/members",
    "/teams/vision/members",
    "/tokens",
    "/quotas",
    "/nodes",
    "/jobs",
    "/jobs/1",
    "/jobs/1/attempts",
    "/jobs/1/events",
    "/secrets",
    "/service-accounts",
    "/invitations",
]
PAGES = [
    "/",
    "/jobs",
    "/jobs/1",
    "/teams",
    "/teams/vision",
    "/people",
    "/tokens",
    "/quotas",
    "/nodes",
    "/secrets",
    "/service-accounts",
    "/invitations",
]


def grow(story, begin: int, end: int) -> None:
    """Add more rows of every kind."""
    actor = story.actor(story.ada)
    with org_scope(story.atlas.id):
        for n in range(begin, end):
            organization_services.create_team(actor=actor, org=story.atlas, slug=f"team-{n}")
            organization_services.add_member(
                actor=actor, org=story.atlas, email=f"p{n}@atlas.example"
            )
            organization_services.add_team_member(
                actor=actor, team=story.vision, email=f"p{n}@atlas.example"
            )
            tokens.create_token(
                actor=actor, org=story.atlas, name=f"t{n}", scopes=["all"], team=story.vision
            )
            set_limits.set_quota(
                actor=actor,
                org=story.atlas,
                scope="team",
                subject=f"team-{n}",
                resource="gpu",
                limit=1,
            )
            job = submit(story, array=3)
            record_all(
                EventRecord("job.noted", story.atlas.id, "job", job.id, "test") for _ in range(5)
            )
            Attempt.objects.filter(job=job).update(
                state=State.RUNNING,
                node="n0",
                has_reservation=True,
                placement={"node": "n0", "cpus": 100, "memory": 0, "gpus": [], "uuids": []},
            )
    with platform_scope("test"):
        cluster = cluster_with(nodes=0)
        cluster.nodes.model.objects.bulk_create(
            cluster.nodes.model(cluster=cluster, name=f"m{n}", cpus=1000, memory=1)
            for n in range(begin, end)
        )


def queries(client, path: str) -> int:
    """Return the number of queries of the second request, when caches are filled."""
    cache.clear()  # what is kept for a minute does not end between the two
    assert client.get(path).status_code == 200
    with CaptureQueriesContext(connection) as statements:
        assert client.get(path).status_code == 200
    return len(statements)


@pytest.fixture
def stage(story):
    cluster_with(cpus=1000)
    submit(story, array=3)
    grow(story, 0, 13)  # more than the home page shows
    return story


def test_lists_and_pages_query_count_is_independent_of_length(stage):
    api, browser = stage.api(stage.ada), stage.client(stage.ada)
    reads = {ORG + path: api for path in LISTS} | {f"/atlas{path}": browser for path in PAGES}
    counts = {path: queries(client, path) for path, client in reads.items()}
    grow(stage, 13, 20)
    more = {path: (was, queries(reads[path], path)) for path, was in counts.items()}
    assert {path: pair for path, pair in more.items() if pair[1] > pair[0]} == {}


@pytest.mark.parametrize(
    ("verb", "path", "body", "status", "code"),
    [
        ("GET", "/jobs/99", None, 404, "not_found"),
        ("GET", "/nothing", None, 404, "not_found"),
        ("POST", "/jobs", {"spec": {}}, 400, None),
        ("POST", "/teams", {"slug": "vision"}, 409, "name_taken"),
        ("DELETE", "/jobs", None, 405, "method_not_allowed"),
        ("POST", "/members", {}, 400, "invalid_input"),
        ("PUT", "/quotas", {"scope": "x", "resource": "cpu", "limit": 1}, 400, "invalid_input"),
    ],
)
def test_errors_have_one_shape(story, verb, path, body, status, code):
    answer = story.api(story.ada).generic(
        verb, ORG + path, json.dumps(body or {}), content_type="application/json"
    )
    problem = answer.json()
    assert answer.status_code == status == problem["status"]
    assert answer["Content-Type"] == "application/problem+json"
    assert set(problem) - {"data"} == PROBLEM
    assert problem["request_id"] == answer["X-Request-ID"]
    assert code in (None, problem["code"])
    assert all(fault["field"] and fault["message"] for fault in problem["errors"])


def test_request_id_is_kept_if_valid_else_replaced(stage):
    api = stage.api(stage.ada)
    assert (
        api.get("/api/v1/me", headers={"X-Request-ID": "abc-12345"})["X-Request-ID"] == "abc-12345"
    )
    assert api.get("/api/v1/me", headers={"X-Request-ID": "<script>"})["X-Request-ID"] != "<script>"


def test_session_needs_csrf_token_but_access_token_does_not(stage):
    from django.test import Client

    browser = Client(enforce_csrf_checks=True)
    browser.force_login(stage.ada)
    refused = browser.post(
        f"{ORG}/teams", json.dumps({"slug": "fresh"}), content_type="application/json"
    )
    assert refused.status_code == 403
    program = Client(
        enforce_csrf_checks=True, headers={"Authorization": f"Bearer {stage.token(stage.ada)}"}
    )
    assert (
        program.post(
            f"{ORG}/teams", json.dumps({"slug": "fresh"}), content_type="application/json"
        ).status_code
        == 201
    )


def test_token_in_header_takes_precedence_over_session(stage):
    browser = stage.client(stage.ada)
    answer = browser.get(
        "/api/v1/me", headers={"Authorization": f"Bearer {stage.token(stage.ben)}"}
    )
    assert answer.json()["email"] == stage.ben.email
    assert (
        browser.get("/api/v1/me", headers={"Authorization": "Bearer mst_wrong"}).status_code == 401
    )


def test_rate_limit_counts_each_token_separately(stage, settings):
    settings.MUSTER_API_RATE = 2
    first, second = stage.api(stage.ada), stage.api(stage.ada)
    assert [first.get("/api/v1/me").status_code for _ in range(3)] == [200, 200, 429]
    assert second.get("/api/v1/me").status_code == 200
