"""Send hostile values to every API operation and page: none may cause a 5xx."""

from __future__ import annotations

import itertools
import json
from urllib.parse import quote

import pytest

from tests.jobs.stage import cluster_with, submit
from tests.rig.seeds import WALKS, is_chosen
from workspaces.quotas.set_limits import set_quota
from workspaces.tenancy.scope import org_scope

ORG = "/api/v1/orgs/atlas"
ODD = {
    "nul": "\x00",
    "surrogate": "\ud800",
    "emoji": "🦆" * 50,
    "right to left": "\u202e\u2066",
    "huge number": "9" * 40,
    "digits of another script": "١٢",
    "minus": "-1",
    "wildcards": "%_\\",
    "quotes": "'\";--",
    "comma": ",,,",
    "colon": ":",
    "long": "x" * 20_000,
}
READS = {
    "": (),
    "/jobs": ("state", "team", "owner", "q", "name", "label", "sort", "limit", "cursor"),
    "/jobs/1": (),
    "/jobs/1/attempts": ("after", "limit"),
    "/jobs/1/events": ("after", "limit"),
    "/jobs/1/logs": ("index", "attempt", "after", "limit", "format"),
    "/jobs/1/logs/download": ("index", "attempt"),
    "/jobs/1/logs/certificate": ("index", "attempt"),
    "/jobs/1/logs/search": ("index", "attempt", "q", "after"),
    "/jobs/1/metrics": ("index", "attempt", "names", "start", "end", "max_points"),
    "/nodes/n0/metrics": ("names", "start", "end", "max_points"),
}
PARTS = (
    "",
    "/jobs/{}",
    "/jobs/{}/logs",
    "/teams/{}",
    "/teams/{}/members",
    "/members/{}",
    "/nodes/{}",
    "/tokens/{}",
    "/service-accounts/{}",
    "/secrets/vision/{}",
    "/secrets/{}/wandb",
    "/invitations/{}",
)
BODIES = {
    "POST /jobs": ("team", "yaml", "spec"),
    "POST /jobs/validate": ("team", "yaml", "parent"),
    "POST /jobs/1/cancel": ("why",),
    "PATCH /jobs/1": ("name", "priority", "labels"),
    "POST /jobs/1/rerun": ("yaml", "spec", "overrides"),
    "POST /jobs/1/exec": ("argv", "timeout", "index"),
    "POST /jobs/1/metrics": ("points",),
    "POST /teams": ("slug", "name"),
    "PATCH /teams/vision": ("name",),
    "POST /teams/vision/members": ("email", "role"),
    "PATCH /teams/vision/members/ben@atlas.example": ("role",),
    "POST /members": ("email", "name", "role"),
    "PATCH /members/ben@atlas.example": ("role",),
    "POST /tokens": ("name", "scopes", "team", "days", "networks"),
    "POST /service-accounts": ("name", "note", "role"),
    "POST /invitations": ("email", "name", "role", "teams", "days", "send"),
    "PUT /secrets/vision/wandb": ("value",),
    "PATCH ": ("requires_second_factor",),
    "PUT /quotas": ("scope", "subject", "resource", "limit"),
}
WHOLE = {
    "POST /jobs": {"team": "vision", "spec": {"run": "true"}},
    "POST /tokens": {"name": "x", "scopes": ["all"]},
    "POST /service-accounts": {"name": "nightly"},
    "POST /invitations": {"email": "ina@atlas.example"},
    "PUT /quotas": {"scope": "team", "subject": "vision", "resource": "gpu", "limit": 100},
    "POST /jobs/1/exec": {"argv": ["true"]},
    "POST /teams": {"slug": "fresh"},
}
VALUES = [
    None,
    True,
    0,
    -1,
    1e308,
    2**70,
    [],
    [[]],
    {},
    {"": ""},
    {"a": {"b": [None]}},
    [None],
    ["\x00"],
    {"\x00": "\x00"},
    *ODD.values(),
]


@pytest.fixture
def ada(story):
    cluster_with(gpus=1)
    submit(story)
    client = story.api(story.ada)
    client.raise_request_exception = False
    return client


def status(client, verb: str, path: str, body: bytes = b"", kind: str = "application/json") -> int:
    return client.generic(verb, path, body, content_type=kind).status_code


def escaped(text: str) -> str:
    return quote(text.encode("utf-8", "surrogatepass"), safe="")


@WALKS
def test_api_query_parameters_with_hostile_values_are_never_500(ada, is_whole):
    broken = [
        (path, name, kind)
        for path, names in READS.items()
        for name, (kind, value) in itertools.product(names, ODD.items())
        if is_whole or is_chosen(path, name, kind, one_in=4)
        if status(ada, "GET", f"{ORG}{path}?{name}={escaped(value)}") >= 500
    ]
    assert broken == []


@WALKS
def test_api_paths_with_hostile_parts_are_never_500(ada, is_whole):
    broken = [
        (verb, path, kind)
        for verb, path, (kind, value) in itertools.product(
            ("GET", "PATCH", "DELETE"), PARTS, ODD.items()
        )
        if is_whole or is_chosen(verb, path, kind, one_in=4)
        if status(ada, verb, ORG + path.format(escaped(value))) >= 500
    ]
    assert broken == []


@WALKS
def test_api_bodies_with_hostile_values_are_never_500(ada, is_whole):
    broken = []
    for route, names in BODIES.items():
        verb, _, path = route.partition(" ")
        for name, value in itertools.product(names, VALUES):
            if not is_whole and not is_chosen(route, name, str(value)[:40], one_in=4):
                continue
            body = json.dumps({**WHOLE.get(route, {}), name: value}).encode()
            if (code := status(ada, verb, ORG + path, body)) >= 500:
                broken.append((route, name, str(value)[:40], code))
    assert broken == []


def test_api_body_that_is_not_an_object_is_400_with_a_reason(ada):
    for body in (
        b"",
        b"{",
        b"[]",
        b"null",
        b"1",
        b'"x"',
        b"\xff\xfe",
        b"{}" * 2,
        b"[" * 100_000,
        b'{"a":' * 5000,
    ):
        answer = ada.generic("POST", f"{ORG}/jobs", body, content_type="application/json")
        assert (answer.status_code, bool(answer.json()["detail"])) == (400, True), body[:20]


def test_api_body_of_another_content_type_is_415(ada):
    for kind in (
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "nonsense",
    ):
        assert status(ada, "POST", f"{ORG}/jobs", b"a=b", kind) == 415, kind


def test_invalid_authorization_header_is_401(story, client):
    for header in (
        "Bearer",
        "Bearer ",
        "Basic !!!",
        "Basic",
        "Digest x",
        "Bearer mst_\udcff",
        "bearer " + "x" * 9000,
    ):
        answer = client.get(
            "/api/v1/me", headers={"Authorization": header.encode("utf-8", "replace").decode()}
        )
        assert answer.status_code == 401, header
        assert answer["WWW-Authenticate"].startswith("Bearer"), header


ADDRESSES = (
    "/jobs?q={}",
    "/jobs/{}",
    "/jobs/1?tab={}&index={}&attempt={}",
    "/find?q={}",
    "/jobs/new?from={}",
    "/jobs/new?copy={}",
    "/jobs/new?example={}",
    "/teams/{}",
    "/nodes/{}",
    "/jobs?cursor={}&state={}&label={}",
    "/jobs/1/{}",
)


@WALKS
def test_page_urls_with_hostile_parts_are_never_500(story, is_whole):
    cluster_with()
    submit(story)
    browser = story.client(story.ada)
    browser.raise_request_exception = False
    broken = [
        (path, kind)
        for path, (kind, value) in itertools.product(ADDRESSES, ODD.items())
        if is_whole or is_chosen(path, kind, one_in=4)
        if status(browser, "GET", "/atlas" + path.replace("{}", escaped(value))) >= 500
    ]
    assert broken == []


@WALKS
def test_page_forms_with_hostile_values_are_refused(story, is_whole):
    cluster_with()
    submit(story)
    browser = story.client(story.ada)
    browser.raise_request_exception = False
    forms = {
        "/teams": ("slug", "name"),
        "/teams/vision": ("email", "role"),
        "/people": ("email", "name", "role"),
        "/tokens": ("name", "days", "team", "scopes", "networks"),
        "/service-accounts": ("name", "note", "role"),
        "/secrets": ("do", "where", "name", "value", "version"),
        "/invitations": ("do", "email", "name", "role", "team", "team_role", "days", "id"),
        "/rules": ("requires_second_factor",),
        "/quotas": ("who", "resource", "limit", "scope", "subject"),
        "/jobs/act": ("verb", "job", "query"),
        "/jobs/new": ("team", "yaml", "parent"),
    }
    broken = [
        (path, field, kind)
        for path, fields in forms.items()
        for field in fields
        for kind, value in ODD.items()
        if is_whole or is_chosen(path, field, kind, one_in=4)
        if kind != "surrogate" and browser.post(f"/atlas{path}", {field: value}).status_code >= 500
    ]
    assert broken == []


def test_quota_limit_at_the_maximum_is_stored_exactly(story):
    with org_scope(story.atlas.id):
        row = set_quota(
            actor=story.actor(story.ada),
            org=story.atlas,
            scope="org",
            subject="",
            resource="memory",
            limit=2**53 - 1,
        )
        row.refresh_from_db()
    assert row.limit == 2**53 - 1


def test_request_with_more_than_1000_parameters_is_refused_with_400(story):
    browser = story.client(story.ada)
    browser.raise_request_exception = False
    paths = (f"{ORG}/jobs", "/atlas/jobs", "/accounts/login/")
    assert [browser.get(path + "?" + "a=1&" * 1001).status_code for path in paths] == [400] * 3
