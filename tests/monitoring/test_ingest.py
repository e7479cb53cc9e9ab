"""Ingestion refuses invalid batches by field, and stores a batch completely or not at all."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client

from clusters.models import Cluster, Node
from jobs.models import Attempt
from monitoring.metrics.ingest import ingest
from portal import series
from portal.core import clock
from portal.core.errors import InvalidInput
from portal.core.event_texts import event_text
from portal.core.models import Event
from portal.series import store
from portal.series.models import Series
from schedulers.states import State
from tests.jobs.stage import cluster_with, only_attempt, submit
from workspaces.models import AccessToken
from workspaces.tenancy.scope import org_scope, platform_scope

HOUR = timedelta(hours=1)
HERE = {"state": State.RUNNING, "node": "n0", "nodes": None, "finished_at": None}
LONG = {f"k{n}": "v" * 100 for n in range(8)}


@pytest.fixture
def owner(db) -> str:
    """Return the owner of the series of node n0."""
    cluster_with()
    with platform_scope("test"):
        return f"node:{Node.objects.get(name='n0').id.hex}"


def send(*samples: object) -> int:
    return ingest({"node": "n0", "at": clock.now_ms(), "samples": list(samples)})["accepted"]


def sample(**more: object) -> dict[str, object]:
    return {"name": "gpu.power", "value": 1.0, **more}


def test_ingest_stores_samples(owner):
    assert (
        send(sample(labels={"gpu": "0"}, unit="W"), sample(labels={"gpu": "Größe"}, unit="µs")) == 2
    )
    assert [(c.labels, c.unit) for c in series.query(owner)] == [
        ({"gpu": "0"}, "W"),
        ({"gpu": "Größe"}, "µs"),
    ]


@pytest.mark.parametrize(
    ("wrong", "field", "word"),
    [
        ({"labels": LONG}, "samples[1].labels", "500 are allowed"),
        ({"labels": {"k": "ü" * 99, "l": ""}}, "samples[1].labels", "outside ASCII counts as six"),
        ({"unit": "\0"}, "samples[1].unit", "printable"),
        ({"unit": "\ud800"}, "samples[1].unit", "printable"),
        ({"value": 10**400}, "samples", "finite"),
        ({"value": float("nan")}, "samples", "finite"),
        ({"value": "1"}, "samples", "finite"),
        ({"labels": ["x"]}, "samples", "small object"),
        ({"name": "A b"}, "samples", "name"),
    ],
)
def test_ingest_with_invalid_sample_stores_nothing(owner, wrong, field, word):
    with pytest.raises(InvalidInput) as caught:
        send(sample(), sample(**wrong))
    (fault,) = caught.value.data["errors"]
    assert fault["field"] == field and word in fault["message"]
    assert not Series.objects.exists()


@pytest.mark.parametrize("labels", [{"k": "\0"}, {"k": "\ud800"}, {"\0": "v"}])
def test_ingest_keeps_odd_characters_in_labels(owner, labels):
    send(sample(labels=labels))
    assert [c.labels for c in series.query(owner)] == [labels]


def test_ingest_with_invalid_job_sample_stores_no_node_samples(owner, story):
    job = submit(story)
    with org_scope(story.atlas.id):
        attempt = only_attempt(job)
    with platform_scope("test"):
        Attempt.objects.filter(id=attempt.id).update(state=State.RUNNING)
    jobs = [{"key": attempt.key, "samples": [sample(labels=LONG)]}]
    with pytest.raises(InvalidInput):
        ingest({"node": "n0", "at": clock.now_ms(), "samples": [sample()], "jobs": jobs})
    assert not Series.objects.exists()


@pytest.mark.parametrize(
    "elsewhere",
    [
        {"cluster": "other"},
        {"node": "n1"},
        {"nodes": ["n1", "n2"]},
        {"finished_at": HOUR},
        {"state": State.CANCELED, "state_at": HOUR},
        {"started_at": -HOUR},
    ],
    ids=str,
)
def test_agent_writes_only_into_jobs_that_run_on_its_node(owner, story, elsewhere):
    job, now = submit(story), clock.now()
    other = Cluster.objects.create(name="other", backend="local")
    where = {"state": State.RUNNING, "node": "n0", "started_at": now - HOUR / 2}
    where |= {k: now - v if isinstance(v, timedelta) else v for k, v in elsewhere.items()}
    with platform_scope("test"):
        attempt = Attempt.objects.get(job=job)
        where |= {"cluster": other} if "cluster" in where else {}
        jobs = [{"key": attempt.key, "samples": [sample()]}]
        for change, accepted in (({**where}, 0), (HERE | {"started_at": now - HOUR}, 1)):
            Attempt.objects.filter(id=attempt.id).update(
                **(HERE | {"cluster": attempt.cluster} | change)
            )
            got = ingest({"node": "n0", "at": clock.now_ms(), "jobs": jobs})
            assert got["accepted"] == accepted


@pytest.mark.parametrize(
    ("value", "unit"),
    [(-0.05, "ratio"), (1e300, "W"), (1e300, ""), (-1, "bytes"), (-300, "degC"), (2, "ratio")],
)
@pytest.mark.parametrize("is_combined", [True, False])
def test_impossible_value_is_left_out_and_named(owner, value, unit, is_combined):
    now, gpu = clock.now_ms(), {"gpu": "3"}
    if is_combined:
        bad, good = ["gpu.power", gpu, unit, [None, value]], ["gpu.power", {}, "W", [70, 71]]
        batch = {"times": [now - 1, now], "columns": [bad, good]}
    else:
        batch = {
            "samples": [sample(value=value, unit=unit, labels=gpu), sample(unit="W"), sample()]
        }
    for _ in range(2):  # the event is recorded once
        answer = ingest({"node": "n0", "at": now, **batch})
    assert (answer["accepted"], answer["refused_count"]) == (2, 1)
    field = "columns[0]" if is_combined else "samples[0].value"
    text = f"gpu.power: {value} {unit} is not possible."
    assert answer["refused"] == [{"field": field, "message": text}]
    stored = [v for curve in series.query(owner) for v in curve.values if v is not None]
    assert value not in stored and max(stored) <= 71
    with platform_scope("test"):
        [event] = Event.objects.filter(kind="node.noted")
    assert event.data["kind"] == "impossible_value" and event.data["gpu"] == 3
    assert "not stored" in event_text(event)


@pytest.mark.parametrize("years", [-30, -0.1, 30])
def test_ingest_of_times_that_are_far_off_is_refused(owner, years):
    now = clock.now_ms()
    wrong = now + round(years * 366 * 86_400_000)
    columns = [["gpu.power", {}, "W", [1, 1]]]
    for batch in (
        {"at": wrong, "samples": [sample()]},
        {"at": now, "samples": [sample(at=wrong)]},
        {"at": max(wrong, now), "times": sorted([wrong, now]), "columns": columns},
    ):
        with pytest.raises(InvalidInput, match="clock"):
            ingest({"node": "n0", **batch})
    assert not Series.objects.exists()


@pytest.mark.parametrize("name", ["\\ud800", "\\u0000", "x" * 251])
def test_job_metric_with_invalid_name_is_400(story, name):
    cluster_with()
    submit(story)
    body = f'{{"points": [{{"name": "{name}", "value": 1.0}}]}}'
    answer = story.api(story.ada).post(
        "/api/v1/orgs/atlas/jobs/1/metrics", body, content_type="application/json"
    )
    assert answer.status_code == 400, answer.content
    assert json.loads(answer.content)["code"] in {"invalid_input", "parse_error"}


def test_ingest_over_series_limit_is_400_not_409(owner, monkeypatch):
    monkeypatch.setattr(store, "MOST_CURVES", 2)
    with pytest.raises(InvalidInput, match="exceed the limit of 2"):
        send(*(sample(labels={"gpu": str(n)}) for n in range(3)))
    assert send(sample(), sample(labels={"gpu": "0"})) == 2


def reported_facts() -> dict[str, str]:
    with platform_scope("test"):
        reported = Node.objects.get(name="n0").reported
    return {name: value for name, value in reported.items() if name != "devices"}


def test_ingest_stores_driver_and_architecture(owner):
    gpus = [{"index": 0, "compute": "9.0"}, {"index": 1, "compute": "9.0"}]
    ingest(
        {
            "node": "n0",
            "at": clock.now_ms(),
            "facts": {"arch": "x86_64", "driver": "570.86.15", "cuda": "12.8", "gpus": gpus},
        }
    )
    assert reported_facts() == {
        "arch": "amd64",
        "driver": "570.86.15",
        "cuda": "12.8",
        "compute": "9.0",
    }
    ingest(
        {
            "node": "n0",
            "at": clock.now_ms(),
            "facts": {"driver": "580.65.06", "gpus": [*gpus, {"compute": "7.5"}]},
        }
    )
    assert reported_facts() == {"driver": "580.65.06"}  # with two kinds of GPU, the node has none


@pytest.mark.parametrize(
    "facts",
    [
        7,
        [],
        {"driver": "new", "gpus": "x", "arch": None},
        {"cuda": "1" * 31, "gpus": [7, {"compute": {}}]},
        {"gpus": [{"compute": []}]},
        {"driver": "\0", "arch": "\ud800"},
    ],
)
def test_ingest_ignores_malformed_facts(owner, facts):
    ingest({"node": "n0", "at": clock.now_ms(), "facts": facts})
    assert reported_facts() == {}


def test_many_agents_with_one_token_are_not_rate_limited_and_others_are(owner, story, settings):
    settings.MUSTER_API_RATE = 3
    body = {"node": "n0", "at": clock.now_ms(), "samples": [sample()]}
    for person, last in ((story.dot, 200), (story.ben, 429)):
        client = story.api(person, story.atlas)
        codes = [
            client.post("/api/v1/agent/samples", body, content_type="application/json").status_code
            for _ in range(5)
        ]
        assert codes[-1] == last, codes


def test_token_of_a_cluster_reports_only_its_nodes(owner, story):
    local = Node.objects.get(name="n0").cluster
    other = Cluster.objects.create(name="other", backend="local")
    Node.objects.create(cluster=other, name="elsewhere", cpus=1, memory=1)
    Node.objects.create(cluster=other, name="n0", cpus=1, memory=1, seen_at=clock.now())
    dot = story.api(story.dot, story.atlas)

    def token(**given: object) -> dict[str, object]:
        body = {"name": "agents", "scopes": ["agent:write"], "cluster": local.name, **given}
        answer = dot.post("/api/v1/orgs/atlas/tokens", body, content_type="application/json")
        return {"status": answer.status_code, **answer.json()}

    made = token()
    assert made["status"] == 201 and made["cluster"] == "local"
    assert token(cluster="none")["errors"][0]["field"] == "cluster"
    assert token(scopes=["all"])["errors"][0]["field"] == "scopes"
    refused = story.api(story.ada).post(
        "/api/v1/orgs/atlas/tokens",
        {"name": "x", "scopes": ["agent:write"], "cluster": "local"},
        content_type="application/json",
    )
    assert refused.status_code == 403

    def report(node: str, key: str) -> Any:
        return Client(headers={"Authorization": f"Bearer {key}"}).post(
            "/api/v1/agent/samples",
            {"node": node, "at": clock.now_ms(), "samples": [sample()]},
            content_type="application/json",
        )

    rotate = f"/api/v1/orgs/atlas/tokens/{made['id']}/rotate"
    rotated = dot.post(rotate, {}, content_type="application/json").json()
    for key in (str(made["token"]), str(rotated["token"])):
        answer = report("elsewhere", key)
        assert answer.status_code == 403, answer.content
        assert "limited to the cluster local" in answer.json()["detail"]
        assert report("unknown", key).status_code == 404
        assert report("n0", key).status_code == 200
    assert series.query(owner)  # and not the node with the same name in the other cluster
    assert Series.objects.count() == 1

    page = story.client(story.dot).post(
        "/atlas/tokens", {"name": "by page", "days": "90", "cluster": "other"}
    )
    assert "by page" in page.content.decode()
    with org_scope(story.atlas.id):
        row = AccessToken.objects.get(name="by page")
        assert (row.cluster, row.scopes) == ("other", ["agent:write"])
    assert b'name="cluster"' not in story.client(story.ada).get("/atlas/tokens").content
