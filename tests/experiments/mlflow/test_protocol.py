"""What every route of the MLflow API does: who may call it, and how it refuses."""

from __future__ import annotations

import base64
import json
import logging

import pytest
from django.test import Client

from experiments import services
from experiments.mlflow.errors import _OF_CLIENTS
from experiments.mlflow.routes import fields_of, routes
from experiments.mlflow.urls import HANDLERS
from experiments.models import Run
from monitoring.tasks import compact
from registry import services as registry
from workspaces.credentials.tokens import create_token
from workspaces.quotas.limits import STORAGE
from workspaces.quotas.set_limits import LimitChange, set_quotas
from workspaces.tenancy.scope import org_scope

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("home"), pytest.mark.both_databases]
BASE = "/mlflow/atlas/vision/api/2.0"
TRAVERSALS = (
    "../x",
    "%2e%2e/x",
    "%252e%252e/x",
    "d/..%2f..%2fx",
    "..%5cx",
    "%5c..%5cx",
    "%2fetc/passwd",
    "d/%00x",
    "C:/x",
    "d//x",
)


@pytest.fixture
def run(story) -> Run:
    """Return Ada's run in Vision."""
    ada = story.actor(story.ada)
    with org_scope(story.atlas.id):
        experiment = services.create_experiment(actor=ada, team=story.vision, name="first")
        return services.create_run(actor=ada, experiment=experiment, name="first")


def test_every_route_refuses_the_anonymous_strangers_and_narrow_tokens(story, run):
    assert HANDLERS
    open_routes = {"health", "version", "server-info"}
    cyd, narrow = story.api(story.cyd), story.api(story.ada, scopes=("agent:write",))
    session, wrong = story.client(story.ada), []
    body = f'{{"run_id": "{run.id.hex}", "experiment_id": "{run.experiment.number}"}}'
    for method, path in routes():
        path = path if path.startswith("mlflow-artifacts") else f"mlflow/{path}"
        named = {"(?P<model_id>[^/]+)": "m-1", "(?P<path>.+)": f"1/{run.id.hex}/artifacts/x"}
        for pattern, value in named.items():
            path = path.replace(pattern, value)
        for client, expected in ((Client(), {401}), (session, {401}), (cyd, {404})):
            answer = client.generic(method, f"{BASE}/{path}", body, "application/json")
            code = answer.json().get("error_code")
            if answer.status_code not in expected or code not in _OF_CLIENTS:
                wrong.append(f"{method} {path}: {answer.status_code} {code}")
        answer = narrow.generic(method, f"{BASE}/{path}", body, "application/json")
        is_empty = answer.content == b"{}"
        if answer.status_code < 400 and not is_empty and path.split("/")[-1] not in open_routes:
            wrong.append(f"{method} {path} with a narrow token: {answer.content[:80]!r}")
        if answer.status_code >= 500 and answer.status_code != 501:
            wrong.append(f"{method} {path} with a narrow token: {answer.status_code}")
    assert wrong == []


def test_token_is_taken_as_bearer_and_as_password(story, run):
    token = story.token(story.ben)
    basic = base64.b64encode(f"anybody:{token}".encode()).decode()
    for header in (f"Bearer {token}", f"Basic {basic}"):
        answer = Client(headers={"Authorization": header}).get(
            f"{BASE}/mlflow/runs/get", {"run_uuid": run.id.hex}
        )
        assert answer.json()["run"]["info"]["run_id"] == run.id.hex
    answer = Client(headers={"Authorization": "Bearer mst_no"}).get(f"{BASE}/mlflow/runs/get")
    assert (answer.status_code, answer.json()["error_code"]) == (401, "UNAUTHENTICATED")
    assert "MLFLOW_TRACKING_TOKEN" in answer.json()["message"]


def test_team_comes_from_the_path_the_workspace_header_or_the_membership(story, run):
    ada, ben = story.api(story.ada), story.api(story.ben)
    path, named = "api/2.0/mlflow/experiments/get-by-name", {"experiment_name": "first"}
    workspace = {"X-MLFLOW-WORKSPACE": "vision"}
    assert ada.get(f"/mlflow/atlas/vision/{path}", named).status_code == 200
    assert ada.get(f"/mlflow/atlas/{path}", named, headers=workspace).status_code == 200
    assert ben.get(f"/mlflow/atlas/{path}", named).status_code == 200  # in one team only
    assert ada.get(f"/mlflow/atlas/speech/{path}", named).status_code == 404
    for team, code in (("", "INVALID_PARAMETER_VALUE"), ("nowhere/", "RESOURCE_DOES_NOT_EXIST")):
        answer = ada.get(f"/mlflow/atlas/{team}{path}", named)
        assert answer.json()["error_code"] == code


def test_link_that_clients_print_leads_a_browser_to_the_pages(story):
    answer = story.client(story.ada).get("/mlflow/atlas/vision/")
    assert (answer.status_code, answer["Location"]) == (302, "/atlas/experiments")


def test_ids_of_other_tenants_do_not_exist(story, run):
    cyd = story.api(story.cyd)
    for path, data in (
        ("runs/get", {"run_id": run.id.hex}),
        ("experiments/get", {"experiment_id": "1"}),
        ("artifacts/list", {"run_id": run.id.hex}),
        ("metrics/get-history", {"run_id": run.id.hex, "metric_key": "loss"}),
    ):
        answer = cyd.get(f"/mlflow/borealis/north/api/2.0/mlflow/{path}", data)
        assert (answer.status_code, answer.json()["error_code"]) == (404, "RESOURCE_DOES_NOT_EXIST")


def test_unknown_route_is_logged_with_the_client_and_not_found(story, caplog):
    ada = story.api(story.ada)
    with caplog.at_level(logging.WARNING, "experiments.mlflow.routes"):
        for path in ("/mlflow/atlas/vision/graphql", f"{BASE}/mlflow/scorers/list"):
            answer = ada.post(path, headers={"User-Agent": "mlflow-python-client/9"})
            assert (answer.status_code, answer.json()["error_code"]) == (404, "ENDPOINT_NOT_FOUND")
    assert caplog.text.count("mlflow-python-client/9") == 2


def test_artifact_paths_that_leave_the_run_are_refused_in_every_spelling(story, run):
    ada = story.api(story.ada)
    root = f"{BASE}/mlflow-artifacts/artifacts/{run.experiment.number}/{run.id.hex}/artifacts"
    for path in TRAVERSALS:
        for method in ("GET", "PUT", "DELETE"):
            answer = ada.generic(method, f"{root}/{path}", b"x")
            assert answer.status_code in {400, 404}, f"{method} {path}"
            assert "error_code" in answer.json()
    listed = ada.get(f"{BASE}/mlflow/artifacts/list", {"run_id": run.id.hex}).json()
    assert "files" not in listed


def test_file_is_sent_in_ranges_and_another_experiment_does_not_have_it(story, run):
    ada = story.api(story.ada)
    root = f"{BASE}/mlflow-artifacts/artifacts"
    path = f"{run.experiment.number}/{run.id.hex}/artifacts/d/a.bin"
    assert ada.put(f"{root}/{path}", b"0123456789", "application/octet-stream").status_code == 200
    part = ada.get(f"{root}/{path}", headers={"Range": "bytes=2-4"})
    assert (part.status_code, part.getvalue()) == (206, b"234")
    assert ada.get(f"{root}/99/{run.id.hex}/artifacts/d/a.bin").status_code == 404
    listed = ada.get(root, {"path": f"{run.experiment.number}/{run.id.hex}/artifacts/d"}).json()
    assert listed["files"] == [{"path": "a.bin", "is_dir": False, "file_size": 10}]


def test_upload_in_parts_is_of_one_file_and_within_the_quota(story, run):
    ada, other = story.api(story.ada), story.api(story.ben)
    folder = f"{run.experiment.number}/{run.id.hex}/artifacts/model"
    mpu = f"{BASE}/mlflow-artifacts/mpu"

    def send(action: str, **data):
        body = {"path": "/home/ada/w.bin", **data}
        return ada.post(f"{mpu}/{action}/{folder}", body, content_type="application/json")

    begun = send("create", num_parts=2).json()
    urls, upload_id = [each["url"] for each in begun["credentials"]], begun["upload_id"]
    etags = [ada.put(url, data)["ETag"] for url, data in zip(urls, (b"ab", b"c"), strict=True)]
    parts = [{"part_number": n + 1, "etag": etag} for n, etag in enumerate(etags)][::-1]
    wrong = [{"part_number": 1, "etag": etags[1]}]
    assert send("complete", upload_id=upload_id, parts=wrong).status_code == 400
    assert send("complete", upload_id=upload_id, parts=parts, path="x").status_code == 404
    assert ada.put(urls[0].replace("w.bin", "x"), b"ab").status_code == 404
    assert other.put(urls[0].replace("part=1", "part=0"), b"ab").status_code == 400
    assert send("complete", upload_id=upload_id, parts=parts).status_code == 200
    read = ada.get(f"{BASE}/mlflow-artifacts/artifacts/{folder}/w.bin")
    assert b"".join(read.streaming_content) == b"abc"
    assert ada.put(urls[0], b"ab").status_code == 404, "the upload is complete"

    begun = send("create", path="C:\\a.bin").json()
    (url,) = [each["url"] for each in begun["credentials"]]
    with org_scope(story.atlas.id):
        change = LimitChange("team", "vision", STORAGE, 5, None)
        set_quotas(actor=story.actor(story.ada), org=story.atlas, changes=[change])
    assert ada.put(url, b"ab").status_code == 200
    assert ada.put(url, b"c").status_code != 200, "3 + 2 + 1 bytes"
    end = {"upload_id": begun["upload_id"], "path": "C:\\a.bin"}
    assert [send("abort", **end).status_code for _ in range(2)] == [200, 404]


def test_metrics_of_a_run_outlast_old_telemetry(story, run):
    ada, named = story.api(story.ada), {"run_id": run.id.hex, "metric_key": "loss"}
    point = {"run_id": run.id.hex, "key": "loss", "value": "NaN", "timestamp": "5000", "step": "1"}
    ada.post(f"{BASE}/mlflow/runs/log-metric", point, content_type="application/json")
    compact()
    answer = ada.get(f"{BASE}/mlflow/metrics/get-history", named).json()
    assert answer == {"metrics": [{"key": "loss", "value": "NaN", "timestamp": 5000, "step": 1}]}


def test_token_of_a_team_finds_that_team_and_no_other(story, run):
    with org_scope(story.atlas.id):
        made = create_token(
            actor=story.actor(story.ada),
            org=story.atlas,
            name="job",
            scopes=["all"],
            team=story.vision,
        )
    api = Client(headers={"Authorization": f"Bearer {made.secret}"})
    named = {"experiment_name": "first"}
    found = api.get("/mlflow/atlas/api/2.0/mlflow/experiments/get-by-name", named)
    assert found.json()["experiment"]["name"] == "first"
    answer = api.post(
        "/mlflow/atlas/speech/api/2.0/mlflow/experiments/create",
        {"name": "x"},
        content_type="application/json",
    )
    assert (answer.status_code, answer.json()["error_code"]) == (403, "PERMISSION_DENIED")


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("runs/log-metric", '{"run_id": 7, "key": ["x"], "value": {}, "timestamp": true}'),
        ("runs/log-batch", '{"run_id": "x", "metrics": {"a": 1}}'),
        ("runs/log-batch", '{"run_id": "x", "metrics": [1]}'),
        ("runs/log-batch", '{"run_id": "x", "params": [{"key": 1, "value": 2}]}'),
        ("runs/search", '{"experiment_ids": "1", "max_results": 1e400}'),
        ("runs/search", '{"experiment_ids": ["1"], "max_results": 50001}'),
        ("runs/search", '{"experiment_ids": ["1"], "page_token": "%%"}'),
        ("runs/create", '{"start_time": 99999999999999999999}'),
        ("experiments/search", '{"max_results": 0}'),
        ("experiments/create", "[1]"),
        ("experiments/create", "{"),
        ("logged-models/search", '{"order_by": [{"field_name": 5}], "experiment_ids": ["1"]}'),
        ("traces", '{"trace": {"trace_info": {"request_time": "never"}}}'),
        ("traces", '{"trace": 5}'),
        ("traces/search", '{"locations": [], "filter": "nonsense >"}'),
    ],
)
def test_malformed_requests_are_invalid_parameters(story, run, path, body):
    answer = story.api(story.ada).generic(
        "POST", f"{BASE}/mlflow/{path}", body, content_type="application/json"
    )
    assert answer.status_code in {400, 404}, answer.content
    assert answer.json()["error_code"] in {"INVALID_PARAMETER_VALUE", "RESOURCE_DOES_NOT_EXIST"}


def test_every_route_refuses_parameters_that_it_does_not_know(story, run):
    ada, wrong = story.api(story.ada), []
    named = {"(?P<model_id>[^/]+)": "m-1", "(?P<path>.+)": "x", "(?P<key>.+)": "k"}
    named |= {"(?P<trace_id>[^/]+)": "tr-1", "(?P<assessment_id>[^/]+)": "a"}
    for method, path in routes():
        for pattern, value in named.items():
            path = path.replace(pattern, value)
        path = path.replace("\\", "")
        if path in {"health", "version"}:  # of probes
            continue
        url = f"{BASE}/{path if path.startswith('mlflow-artifacts') else f'mlflow/{path}'}"
        is_query = method in {"GET", "PUT"} or path == "v1/traces"
        body = b"" if is_query else b'{"is_dry_run": true}'
        url += "?is_dry_run=true" if is_query else ""
        answer = ada.generic(method, url, body, "application/json")
        if answer.status_code != 400 or "is_dry_run" not in answer.json()["message"]:
            wrong.append(f"{method} {path}: {answer.status_code} {answer.content[:80]!r}")
    assert wrong == []


@pytest.mark.parametrize(
    ("method", "path", "body", "part"),
    [
        ("POST", "experiments/create", {"name": "x", "artifact_location": "s3://b"}, "artifact"),
        ("POST", "registered-models/create", {"name": "x", "deployment_job_id": "1"}, "job"),
        ("POST", "model-versions/create", {"name": "m", "source": "s3://b/model"}, "s3://b/model"),
        ("POST", "traces", {"trace": {"trace_info": {}, "spans": [{}]}}, "/v1/traces"),
        ("POST", "traces/search", {"locations": [{"inference_table": {"x": 1}}]}, "experiment"),
        ("POST", "model-versions/transition-stage", {"archive_existing_versions": "yes"}, "yes"),
        ("GET", "logged-models/m-1?allow_deleted=maybe", {}, "maybe"),
    ],
)
def test_parameter_that_cannot_be_honoured_is_refused_in_words(
    story, run, method, path, body, part
):
    with org_scope(story.atlas.id):
        registry.create_model(actor=story.actor(story.ada), team=story.vision, name="m")
    named = {"name": "m", "version": "1", "stage": "Staging"} if "transition" in path else {}
    answer = story.api(story.ada).generic(
        method, f"{BASE}/mlflow/{path}", json.dumps(named | body), "application/json"
    )
    assert answer.status_code in {400, 404} and part in answer.json()["message"], answer.content


def test_search_of_a_new_team_is_empty_and_creates_nothing(story):
    reader = story.api(story.ada, scopes=("experiments:read",))
    for path, body in (
        ("runs/search", {"experiment_ids": ["0"]}),
        ("logged-models/search", {"experiment_ids": ["0"]}),
        (
            "traces/search",
            {"locations": [{"type": 1, "mlflow_experiment": {"experiment_id": "0"}}]},
        ),
        ("experiments/search", {"filter": "name = 'Default'"}),
    ):
        answer = reader.generic(
            "POST", f"{BASE}/mlflow/{path}", json.dumps(body), "application/json"
        )
        assert (answer.status_code, answer.json()) == (200, {}), path


def test_names_are_found_with_the_blanks_with_which_they_were_created(story, run):
    ada = story.api(story.ada)
    for kind, get, field in (
        ("experiments", "get-by-name", "experiment_name"),
        ("registered-models", "get", "name"),
    ):
        url = f"{BASE}/mlflow/{kind}"
        made = ada.generic("POST", f"{url}/create", '{"name": " a b "}', "application/json")
        assert made.status_code == 200
        assert ada.get(f"{url}/{get}", {field: " a b "}).status_code == 200
        found = ada.get(f"{url}/search", {"filter": "name = ' a b '"}).json()
        assert [row["name"] for [*rows] in found.values() for row in rows] == ["a b"]


def test_search_of_thousands_of_experiments_takes_few_queries(
    story, run, django_assert_max_num_queries
):
    api, numbers = story.api(story.ada), [str(n) for n in range(10_000)]

    def searched(ids):
        body = json.dumps({"experiment_ids": ids})
        return api.generic("POST", f"{BASE}/mlflow/runs/search", body, "application/json")

    with django_assert_max_num_queries(40):
        answer = searched(numbers)
    assert [found["info"]["run_id"] for found in answer.json()["runs"]] == [run.id.hex]
    assert searched([*numbers, "1"]).status_code == 400
    assert searched(["9" * 5000]).json() == {}
    missing = api.get(f"{BASE}/mlflow/experiments/get", {"experiment_id": "9" * 5000})
    assert missing.json()["error_code"] == "RESOURCE_DOES_NOT_EXIST"


def test_hostile_values_are_refused_and_leave_pages_that_work(story, run):
    ada, far = story.api(story.ada), 2**53 - 1
    number = str(run.experiment.number)
    place = {"mlflow_experiment": {"experiment_id": number}}
    info = {"trace_id": "tr-1", "request_time": "2026-01-01T00:00:00Z", "trace_location": place}
    deep = {"dataset": {"name": "d", "digest": "1", "source": "[" * 200_000}}

    def send(method, path, **body):
        known = fields_of(method, path) or ()
        ids = {"run_id": run.id.hex, "experiment_id": number}
        named = {name: value for name, value in ids.items() if name in known}
        url = f"{BASE}/mlflow/{path}"
        answer = ada.generic(method, url, json.dumps(named | body), "application/json")
        return answer.status_code

    assert send("POST", "traces", trace={"trace_info": info}) == 200
    refused = [
        ("POST", "runs/create", {"start_time": far}),
        ("POST", "runs/update", {"status": "FINISHED", "end_time": far}),
        ("POST", "runs/log-model", {"model_json": "-1"}),
        ("POST", "runs/set-tag", {"key": "a", "value": "\0"}),
        ("POST", "traces", {"trace": {"trace_info": info | {"tags": {"a": "\0"}}}}),
        ("POST", "traces", {"trace": {"trace_info": info | {"client_request_id": "x" * 300}}}),
        ("POST", "traces", {"trace": {"trace_info": info | {"execution_duration": f"{far}s"}}}),
        ("POST", "traces", {"trace": {"trace_info": info | {"assessments": 5}}}),
        ("PATCH", "traces/tr-1", {"timestamp_ms": -(2**63)}),
        ("PATCH", "traces/tr-1/tags", {"key": "a\0", "value": ""}),
    ]
    assert [case for case in refused if send(case[0], case[1], **case[2]) != 400] == []
    assert send("POST", "runs/set-tag", key="a", value=r"C:\u0000") == 200
    assert send("POST", "runs/log-inputs", datasets=[deep]) == 200
    odd = info | {"trace_location": 5, "assessments": [{"assessment_id": []}]}
    assert send("POST", "traces", trace={"trace_info": odd}) == 200
    page = story.client(story.ada).get(f"/atlas/runs/{run.id.hex}")
    assert page.status_code == 200
