"""Check every route and method against every kind of user; new routes without a rule fail.

Anonymous requests get 401 (or the sign-in page), strangers 404, members without the permission 403,
and permitted users no 403. What depends on the body or the row may be another 4xx; a 5xx always
fails.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import pytest
from django.db import transaction
from django.test import Client
from django.urls import URLPattern, get_resolver

from clusters.backends import ensure_first_cluster
from clusters.models import Node
from experiments.jobs import follow_job
from jobs import services
from jobs.models import Attempt
from monitoring.live.topics import TOPICS, grant
from portal.core.errors import NotFound
from schedulers.spec import parse_mapping
from tests import matrix
from tests.rig.seeds import WALKS, choose
from workspaces.access.actors import actor_of
from workspaces.access.permissions import Permission, all_permissions, org_grants
from workspaces.api.base import OrgView, PortalView
from workspaces.tenancy.scope import org_scope, platform_scope

VALUES = matrix.VALUES | matrix.entries("VALUES")
# public by design
OPEN = {"healthz", "readyz", "schema", "docs", "help", "start", "client-index", "client-wheel"}
OPERATORS = {
    Permission.APPLICATIONS_READ,
    Permission.APPLICATIONS_WRITE,
    Permission.AUDIT_PLATFORM,  # not even owners have these
    Permission.CLUSTERS_READ,
    Permission.CLUSTERS_WRITE,
    Permission.PLATFORM_ADMIN,
    Permission.PLATFORM_IMPERSONATE,
}
# Authenticated by their protocol: tests/workspaces/{sso,issuer,scim}, tests/experiments/mlflow,
# tests/datasets/test_hub.py, tests/client/test_workspaces.py.
PROTOCOLS = (
    "/hf/",
    "/dav/",
    "/xet/",
    "/mlflow/",
    "/accounts/",
    "/identity/",
    "/.well-known/",
    "/scim/",
)
OWN = {
    "api-me",
    "api-sessions",
    "api-session",
    "api-orgs",
    "api-agent-samples",
    "metrics",
}  # of a user or the platform, not of an organization


def routes() -> Iterator[tuple[str, str, Any]]:
    """Return (name, path, view) of all our routes."""

    def walk(patterns: Any, prefix: str) -> Iterator[tuple[str, str, Any]]:
        for pattern in patterns:
            path = prefix + _filled(pattern)
            if isinstance(pattern, URLPattern):
                if not (pattern.name or "").startswith("account_"):
                    yield pattern.name, path, pattern.callback
            else:
                yield from walk(pattern.url_patterns, path)

    yield from walk(get_resolver().url_patterns, "/")


def _filled(pattern: Any) -> str:
    route = str(pattern.pattern)
    if route.startswith("^"):
        return "atlas/jobs/1/hold"
    for part in [p for p in route.split("<")[1:]]:
        inside = part.split(">")[0]
        route = route.replace(f"<{inside}>", VALUES.get(inside.rpartition(":")[2], "x"))
    return route


ROUTES = list(routes())
API = [
    (name, path, view.cls)
    for name, path, view in ROUTES
    if hasattr(view, "cls") and issubclass(view.cls, PortalView)
]
PAGES = [(name, path, view) for name, path, view in ROUTES if hasattr(view, "methods")]
VERBS = ("GET", "POST", "PUT", "PATCH", "DELETE")


def test_every_route_is_rest_page_or_listed_as_open():
    known = {name for name, _, _ in API} | {name for name, _, _ in PAGES} | OPEN | OWN
    assert [
        path for name, path, _ in ROUTES if name not in known and not path.startswith(PROTOCOLS)
    ] == []


def test_rest_methods_declare_their_permission():
    assert [
        name
        for name, _, view in API
        if {verb for verb in VERBS if hasattr(view, verb.lower())} != set(view.permissions)
    ] == []


@pytest.fixture(scope="module")
def built(shared_story):
    """Create a job of Ada's in Vision: #1 of Atlas."""
    ensure_first_cluster()
    ada = shared_story.actor(shared_story.ada)
    with org_scope(shared_story.atlas.id):
        services.submit_job(
            actor=ada,
            team=shared_story.vision,
            spec=parse_mapping({"run": "true", "name": "first"}),
        )
    return shared_story


@pytest.fixture
def stage(built, undone):
    return built


@pytest.fixture(scope="module")
def tokens(built):
    """Return the tokens of the table; Ada's narrow one has almost no scope."""
    return {
        "cyd": built.token(built.cyd),
        "narrow": built.token(built.ada, scopes=("agent:write",)),
    }


CASES = [
    (name, path, verb, needed)
    for name, path, view in API
    for verb, needed in sorted(view.permissions.items())
    if issubclass(view, OrgView)
]


@pytest.mark.both_databases  # SQLite has no row-level security: only the views refuse
def test_rest_refuses_anonymous_strangers_and_missing_scopes(stage, tokens):
    """For members, see tests/test_role_matrix.py."""
    api = {
        name: Client(headers={"Authorization": f"Bearer {tokens[name]}"})
        for name in ("cyd", "narrow")
    }
    wrong = []
    for name, path, verb, needed in CASES:
        nobody, cyd, narrow = (
            _tried(client, verb, path) for client in (stage.client(), *api.values())
        )
        if nobody != 401 or cyd != 404:
            wrong.append(f"{verb} {path}: nobody {nobody}, a stranger {cyd}")
        if (narrow != 403 and needed is not None) or (
            narrow < 400 and (verb, name) not in _HARMLESS
        ):
            wrong.append(f"{verb} {path}: a token without scope {narrow}")
    assert wrong == []


_HARMLESS = {
    ("POST", "api-jobs-validate"),  # checks the user's own text
    *(("GET", name) for name in matrix.members("LISTS")),
}


@WALKS
def test_pages_redirect_anonymous_and_hide_from_strangers(stage, is_whole):
    cyd = stage.client(stage.cyd)
    wrong = []
    for _, path, view in PAGES:
        verbs = set(view.methods) - {"HEAD"}
        for verb in verbs if is_whole else choose(verbs, path):
            nobody = stage.client().generic(verb, path)
            if nobody.status_code != 302 or not nobody["Location"].startswith("/accounts/login/"):
                wrong.append(f"{verb} {path} by nobody: {nobody.status_code}")
            hidden = 403 if path.startswith("/platform/") else 404
            if (code := _tried(cyd, verb, path, "")) != hidden:
                wrong.append(f"{verb} {path} by a stranger: {code}")
    assert wrong == []


@pytest.mark.parametrize("step", [3, pytest.param(1, marks=pytest.mark.integration)])
def test_pages_answer_an_owner(stage, step):
    ada, wrong = stage.client(stage.ada), []
    for name, path, view in PAGES[::step]:
        for verb in set(view.methods) - {"HEAD"}:
            allowed = (403,) if view.permission in OPERATORS else (200, 302, 400, 404)
            if (code := _tried(ada, verb, path, "")) not in allowed and name != "node":
                wrong.append(f"{verb} {path}: {code}")
    assert wrong == []


def test_team_member_cannot_act_on_job_of_another_member(stage):
    ben = stage.api(stage.ben)
    assert [
        _call(ben, "POST", f"/api/v1/orgs/atlas/jobs/1/{verb}")
        for verb in ("hold", "release", "cancel")
    ] == [403] * 3


def test_member_without_team_sees_no_team_jobs(stage):
    with org_scope(stage.atlas.id):
        services.submit_job(
            actor=stage.actor(stage.ada), team=stage.speech, spec=parse_mapping({"run": "true"})
        )
    assert _call(stage.api(stage.ben), "GET", "/api/v1/orgs/atlas/jobs/2") == 404
    assert [
        j["number"] for j in stage.api(stage.ben).get("/api/v1/orgs/atlas/jobs").json()["items"]
    ] == [1]


def test_only_operators_send_samples_and_read_metrics(stage):
    for person, org in ((stage.ada, None), (stage.ben, None)):
        assert _call(stage.api(person, org), "POST", "/api/v1/agent/samples") == 403
        assert _call(stage.api(person, org), "GET", "/metrics") == 403
    assert _call(stage.client(), "GET", "/metrics") == 401
    assert _call(stage.api(stage.dot, stage.atlas), "GET", "/metrics") == 200


def _call(client: Any, verb: str, path: str) -> int:
    return int(client.generic(verb, path, "{}", content_type="application/json").status_code)


def _tried(client: Client, verb: str, path: str, body: str = "{}") -> int:
    """Return the status code, and roll back the changes."""
    with transaction.atomic():
        code = client.generic(verb, path, body, content_type="application/json").status_code
        transaction.set_rollback(True)
    return int(code)


def test_organization_roles_have_no_cluster_permissions():
    assert not OPERATORS & set(itertools.chain.from_iterable(org_grants().values()))


def test_permission_table_lists_only_existing_permissions():
    assert set(itertools.chain.from_iterable(org_grants().values())) <= set(all_permissions())


def test_live_topics_are_granted_only_to_permitted_actors(stage):
    given, wrong = {"ada": stage.ada, "ben": stage.ben, "cyd": stage.cyd}, []
    topics = _topics(stage)
    for kind in sorted(TOPICS):
        only = {"ada"} if kind == "notifications" else {"ada", "ben"}
        seen = {name for name, person in given.items() if _is_granted(person, topics[kind])}
        if seen != {*only, *(["cyd"] if kind == "metrics:node" else [])}:  # nodes have no owner
            wrong.append(f"{kind}: granted to {sorted(seen)}")
        if _is_granted(stage.ada, f"{kind}:{'0' * 32}"):
            wrong.append(f"{kind}: granted what is not there")
    assert wrong == []


def test_malformed_live_topic_is_not_found(stage):
    topics = [
        "",
        "log:",
        "log:xyz",
        "log:../../etc",
        "jobs:*",
        "nosuch:" + "a" * 32,
        "log:" + "A" * 32,
    ]
    assert [topic for topic in topics if _is_granted(stage.ada, topic)] == []


def _is_granted(person: Any, topic: str) -> bool:
    try:
        return bool(grant(actor_of(person), topic).bus_topics)
    except NotFound:
        return False


def test_live_job_list_covers_only_visible_teams(stage):
    listened = grant(actor_of(stage.ben), f"jobs:{stage.atlas.id.hex}").bus_topics
    assert listened == (f"jobs:{stage.vision.id.hex}",)
    assert len(grant(actor_of(stage.ada), f"jobs:{stage.atlas.id.hex}").bus_topics) == 2


def _topics(stage: Any) -> dict[str, str]:
    with platform_scope("test"):
        attempt = Attempt.objects.get()
        follow_job(attempt.job_id)
    node = Node.objects.create(cluster_id=attempt.cluster_id, name="n1", cpus=1000, memory=1)
    owner = {
        "log": attempt.id,
        "metrics:attempt": attempt.id,
        "job": attempt.job_id,
        "metrics:job": attempt.job_id,
        "jobs": stage.atlas.id,
        "nodes": stage.atlas.id,
        "notifications": stage.ada.id,
        "metrics:node": node.id,
        "metrics:run": attempt.job_id,
    }
    return {kind: f"{kind}:{owner[kind].hex}" for kind in TOPICS}
