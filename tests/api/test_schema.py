"""Check the OpenAPI schema, and fuzz every operation with it."""

from __future__ import annotations

import json
from urllib.parse import quote, urlencode

import pytest
import schemathesis
from django.test import Client
from hypothesis import HealthCheck, given, settings

from tests.jobs.stage import cluster_with, submit
from tests.rig.openapi import Truth
from tests.rig.seeds import WALKS, is_chosen

schemathesis.serializer.alias("application/offset+octet-stream", "application/octet-stream")


@pytest.fixture(scope="module")
def schema(django_db_setup, django_db_blocker):
    with django_db_blocker.unblock():
        raw = Client().get("/api/schema/", {"format": "json"}).json()
    return schemathesis.openapi.from_dict(raw)


def test_openapi_schema_includes_every_route(schema):
    assert {
        "/api/v1/me",
        "/api/v1/orgs/{org}/jobs",
        "/api/v1/orgs/{org}/jobs/{job}/logs",
        "/api/v1/agent/samples",
    } <= schema.raw_schema["paths"].keys()


def test_operations_are_tagged_by_resource_in_declared_order(schema):
    found = {
        (method, path): operation["tags"]
        for path, operations in schema.raw_schema["paths"].items()
        for method, operation in operations.items()
    }
    assert found["post", "/api/v1/orgs/{org}/jobs"] == ["Jobs"]
    assert found["get", "/api/v1/orgs/{org}/teams/{team}/members"] == ["Teams"]
    assert found["get", "/api/v1/orgs/{org}"] == found["get", "/api/v1/orgs"] == ["Organizations"]
    names = [tag["name"] for tag in schema.raw_schema["tags"]]
    assert names[0] == "Jobs" and set(names) == {tag for tags in found.values() for tag in tags}


def test_shapes_are_components_as_their_types_say(schema):
    parts, paths = schema.raw_schema["components"]["schemas"], schema.raw_schema["paths"]
    nodes = paths["/api/v1/clusters/{cluster}/nodes"]["get"]
    answer = nodes["responses"]["200"]["content"]["application/json"]["schema"]
    assert answer == {"$ref": "#/components/schemas/PaginatedNodeList"}
    assert nodes["operationId"] == "clusters_nodes_list"
    node = {"$ref": "#/components/schemas/Node"}
    assert parts["PaginatedNodeList"]["properties"]["items"] == {"type": "array", "items": node}
    detail = parts["ClusterDetail"]
    assert detail["properties"]["title"] == {"type": "string", "description": "Of the backend."}
    assert detail["properties"]["seen_at"] == {
        "type": ["string", "null"],
        "format": "date-time",
        "description": "Its last response.",
    }
    assert {"title", "options"} <= set(detail["required"])
    assert "identities" in parts["Pool"]["properties"].keys() - parts["Pool"]["required"]
    assert {"items", "next", "kinds"} <= parts["ClusterList"]["properties"].keys()


def test_api_docs_page_loads_only_local_files(db):
    page = Client().get("/api/docs/")
    assert page.status_code == 200
    assert b"//cdn" not in page.content and b"swagger-ui" in page.content


@WALKS
def test_fuzzed_operations_answer_as_declared_and_never_500(schema, story, is_whole):
    cluster_with()
    submit(story, name="first")
    ada = story.api(story.ada)
    ada.raise_request_exception = False
    broken: list[str] = []
    truth = Truth(schema.raw_schema)
    for found in schema.get_all_operations():
        operation = found.ok()
        if is_whole or is_chosen(operation.label, one_in=3):
            fuzz(ada, operation, broken, truth, examples=25 if is_whole else 1)
    assert not broken, "\n".join(sorted(set(broken))[:40])


def fuzz(client, operation, broken, truth, examples):
    """Yield bodies, queries and path parts for one operation.

    Names refer to existing objects, so that not everything is 404.
    """

    @settings(
        max_examples=examples,
        deadline=None,
        suppress_health_check=list(HealthCheck),
        database=None,
        derandomize=True,
    )
    @given(case=operation.as_strategy())
    def send(case):
        case.path_parameters = {
            **case.path_parameters,
            **{k: v for k, v in _REAL.items() if k in case.path_parameters},
        }
        body = json.dumps(case.body) if isinstance(case.body, dict | list) else "{}"
        address = f"{quote(case.formatted_path)}?{urlencode(case.query or {}, doseq=True)}"
        answer = client.generic(
            operation.method.upper(), address, body, content_type="application/json"
        )
        if answer.status_code >= 500:
            broken.append(f"{operation.method} {address} {body:.300}: {answer.status_code}")
        elif untruth := truth.untruth(operation.path, operation.method, answer):
            broken.append(f"{operation.label}: {untruth}")

    send()


_REAL = {"org": "atlas", "team": "vision", "job": "1", "email": "ben@atlas.example"}
