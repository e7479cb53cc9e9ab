"""Every route and verb against everybody: the table is made from the URL map, so a new route without a rule is red.

Nobody gets 401 (or the sign-in page), strangers 404, members without the permission 403, and whoever may is never told that they
may not. What depends on the body or the row shows as another 4xx; a 5xx is a failure everywhere.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import pytest
from django.test import Client
from django.urls import URLPattern, get_resolver

from clusters.models import Node
from jobs import services
from jobs.clusters import ensure_first_cluster
from jobs.models import Attempt
from jobs.spec import parse_mapping
from monitoring.live.topics import KINDS, grant
from portal.core.errors import NotFound
from workspaces.actors import actor_of
from workspaces.api.base import OrgView, PortalView
from workspaces.permissions import ORG_GRANTS, Permission
from workspaces.tenancy.scope import org_scope, platform_scope

FORWARD = "00000000-0000-7000-8000-000000000011"
VALUES = {"org": "atlas", "team": "vision", "email": "ben@atlas.example", "token": "00000000-0000-7000-8000-000000000000", "job": "1",
          "forward": FORWARD, "node": "n1", "verb": "hold", "cluster": "local", "pool": "main", "role": "trainer", "account": "nightly",
          "where": "vision", "secret": "wandb", "number": "1", "client": "grafana",
          "announcement": "00000000-0000-7000-8000-000000000003",
          "slug": "corp", "person": "00000000-0000-7000-8000-000000000004", "ask": "00000000-0000-7000-8000-000000000021",
          "run": "00000000-0000-7000-8000-000000000022", "test": "00000000-0000-7000-8000-000000000023",
          "invitation": "00000000-0000-7000-8000-000000000001", "session": "00000000-0000-7000-8000-000000000002"}
OPEN = {"healthz", "readyz", "schema", "docs", "start"}          # for everybody, by purpose
OPERATORS = {Permission.APPLICATIONS_READ, Permission.APPLICATIONS_WRITE, Permission.AUDIT_PLATFORM,     # not even an owner has these
             Permission.CLUSTERS_READ, Permission.CLUSTERS_WRITE, Permission.PLATFORM_ADMIN, Permission.PLATFORM_IMPERSONATE}
PROTOCOLS = ("/accounts/", "/identity/", "/.well-known/", "/scim/")  # who comes is said by the protocol: tests/workspaces/{sso,issuer,scim}
OWN = {"api-me", "api-sessions", "api-session", "api-orgs", "api-agent-samples", "metrics"}     # of a person or the platform, not of an organization


def routes() -> Iterator[tuple[str, str, Any]]:
    """(name, address, view) of all that is ours."""
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
API = [(name, path, view.cls) for name, path, view in ROUTES if hasattr(view, "cls") and issubclass(view.cls, PortalView)]
PAGES = [(name, path, view) for name, path, view in ROUTES if hasattr(view, "methods")]
VERBS = ("GET", "POST", "PUT", "PATCH", "DELETE")


def test_every_route_is_a_rest_view_a_page_or_open_by_name():
    known = {name for name, _, _ in API} | {name for name, _, _ in PAGES} | OPEN | OWN
    assert [path for name, path, _ in ROUTES if name not in known and not path.startswith(PROTOCOLS)] == []


@pytest.mark.parametrize(("name", "view"), [(n, v) for n, _, v in API])
def test_every_method_of_a_rest_view_names_what_it_needs(name, view):
    assert {m.upper() for m in ("get", "post", "put", "patch", "delete") if hasattr(view, m)} == set(view.permissions), name


@pytest.fixture(scope="module")
def built(told):
    """A job of Ada's in Vision; #1 of Atlas."""
    ensure_first_cluster()
    ada = told.actor(told.ada)
    with org_scope(told.atlas.id):
        services.submit_job(actor=ada, team=told.vision, spec=parse_mapping({"run": "true", "name": "first"}))
    return told


@pytest.fixture
def stage(built, undone):
    return built


@pytest.fixture(scope="module")
def tokens(built):
    """What the programs of the table come with; Ada's narrow one has next to no scope."""
    people = {"ada": (built.ada, None), "ben": (built.ben, None), "cyd": (built.cyd, None), "dot": (built.dot, built.atlas)}
    return {name: built.token(*who) for name, who in people.items()} | {"narrow": built.token(built.ada, scopes=("agent:write",))}


CASES = [(name, path, verb) for name, path, view in API for verb in sorted(view.permissions) if issubclass(view, OrgView)]


@pytest.mark.parametrize(("name", "path", "verb"), CASES)
def test_rest_nobody_gets_401_strangers_404_and_who_may_is_never_refused(stage, tokens, name, path, verb):
    needed = next(v for n, _, v in API if n == name).permissions[verb]
    api = {name: Client(headers={"Authorization": f"Bearer {token}"}) for name, token in tokens.items()}
    assert _call(stage.client(), verb, path) == 401
    assert _call(api["cyd"], verb, path) == 404
    ben = _call(api["ben"], verb, path)
    assert ben == 403 or needed is None or needed in ORG_GRANTS["member"]
    narrow = _call(api["narrow"], verb, path)
    assert narrow == 403 or needed is None
    assert narrow >= 400 or (verb, name) in _HARMLESS, f"a token without scope did {verb} {path}"
    assert _call(api["dot"], verb, path) not in (401, 403)
    assert (_call(api["ada"], verb, path) in (401, 403)) == (needed in OPERATORS)


_HARMLESS = {("GET", "api-jobs"), ("GET", "api-storage"), ("GET", "api-secrets"),       # an empty list
             ("POST", "api-jobs-validate")}                                              # checking one's own text


@pytest.mark.parametrize(("name", "path", "view", "verb"), [(n, p, v, m) for n, p, v in PAGES for m in v.methods if m != "HEAD"])
def test_pages_send_nobody_to_sign_in_and_are_not_there_for_strangers(stage, name, path, view, verb):
    nobody = stage.client().generic(verb, path)
    assert nobody.status_code == 302 and nobody["Location"].startswith("/accounts/login/")
    assert stage.client(stage.cyd).generic(verb, path).status_code == 404
    if view.permission in OPERATORS:
        assert stage.client(stage.ada).generic(verb, path).status_code == 403
    elif name not in {"node"}:
        assert stage.client(stage.ada).generic(verb, path).status_code in (200, 302, 400, 404)


@pytest.mark.parametrize("verb", ["hold", "release", "cancel"])
def test_a_member_of_the_team_cannot_act_on_somebody_elses_job(stage, verb):
    assert _call(stage.api(stage.ben), "POST", f"/api/v1/orgs/atlas/jobs/1/{verb}") == 403


def test_a_member_of_no_team_sees_no_job_of_it(stage):
    with org_scope(stage.atlas.id):
        services.submit_job(actor=stage.actor(stage.ada), team=stage.speech, spec=parse_mapping({"run": "true"}))
    assert _call(stage.api(stage.ben), "GET", "/api/v1/orgs/atlas/jobs/2") == 404
    assert [j["number"] for j in stage.api(stage.ben).get("/api/v1/orgs/atlas/jobs").json()["items"]] == [1]


def test_only_operators_send_samples_and_read_the_portals_metrics(stage):
    for person, org in ((stage.ada, None), (stage.ben, None)):
        assert _call(stage.api(person, org), "POST", "/api/v1/agent/samples") == 403
        assert _call(stage.api(person, org), "GET", "/metrics") == 403
    assert _call(stage.client(), "GET", "/metrics") == 401
    assert _call(stage.api(stage.dot, stage.atlas), "GET", "/metrics") == 200


def _call(client: Any, verb: str, path: str) -> int:
    return int(client.generic(verb, path, "{}", content_type="application/json").status_code)


def test_no_role_of_an_organization_reaches_the_clusters_themselves():
    assert not OPERATORS & set(itertools.chain.from_iterable(ORG_GRANTS.values()))


def test_the_permission_table_knows_only_permissions():
    assert set(itertools.chain.from_iterable(ORG_GRANTS.values())) <= set(Permission)


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_live_topics_are_granted_to_who_may_see_and_not_there_for_others(stage, kind):
    topic = _topic(kind, stage)
    for person in (stage.ada, stage.ben):
        assert grant(actor_of(person), topic).bus_topics
    if kind != "metrics:node":                       # machines belong to nobody; Cyd may see nodes too
        with pytest.raises(NotFound):
            grant(actor_of(stage.cyd), topic)
    with pytest.raises(NotFound):
        grant(actor_of(stage.ada), f"{kind}:{'0' * 32}")


@pytest.mark.parametrize("topic", ["", "log:", "log:xyz", "log:../../etc", "jobs:*", "nosuch:" + "a" * 32, "log:" + "A" * 32])
def test_a_malformed_topic_is_not_there(stage, topic):
    with pytest.raises(NotFound):
        grant(actor_of(stage.ada), topic)


def test_the_live_list_of_an_organization_carries_only_the_teams_one_sees(stage):
    listened = grant(actor_of(stage.ben), f"jobs:{stage.atlas.id.hex}").bus_topics
    assert listened == (f"jobs:{stage.vision.id.hex}",)
    assert len(grant(actor_of(stage.ada), f"jobs:{stage.atlas.id.hex}").bus_topics) == 2


def _topic(kind: str, stage: Any) -> str:
    with platform_scope("test"):
        attempt = Attempt.objects.get()
    node = Node.objects.create(cluster_id=attempt.cluster_id, name="n1", cpus=1000, memory=1)
    owner = {"log": attempt.id, "metrics:attempt": attempt.id, "job": attempt.job_id, "metrics:job": attempt.job_id,
             "jobs": stage.atlas.id, "nodes": stage.atlas.id, "metrics:node": node.id}[kind]
    return f"{kind}:{owner.hex}"
