"""REST of experiments and runs: a journey, the search, and what others see."""

from __future__ import annotations

import csv
import io

import pytest

from experiments import charts, services
from experiments.models import Run
from portal.series import Point
from tests.experiments.test_services import ada, experiment, new_runs  # noqa: F401  fixtures
from workspaces.tenancy.scope import org_scope

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("home"), pytest.mark.both_databases]
ROOT = "/api/v1/orgs/atlas"
JSON = {"content_type": "application/json"}


def test_journey_from_an_experiment_to_a_comparison(story):
    api = story.api(story.ben)
    made = {"team": "vision", "name": "resnet", "tags": {"stage": "try"}}
    key = {"Idempotency-Key": "one"}
    first = api.post(f"{ROOT}/experiments", made, headers=key, **JSON)
    again = api.post(f"{ROOT}/experiments", made, headers=key, **JSON)
    assert (first.status_code, again.json()["id"]) == (201, first.json()["id"])
    assert api.post(f"{ROOT}/experiments", made, **JSON).status_code == 409
    number = first.json()["number"]

    ids = []
    for n, rate in enumerate(("0.1", "0.01")):
        run = api.post(f"{ROOT}/runs", {"experiment": number, "name": f"r{n}"}, **JSON).json()
        ids.append(run["id"])
        batch = {
            "metrics": [
                {"name": "loss", "value": 1 / (step + n + 1), "step": step, "at": step}
                for step in range(20)
            ]
            + [{"name": "acc", "value": "NaN", "at": 5}],
            "params": {"lr": rate},
            "tags": {"kind": "sweep"},
        }
        for _ in range(2):  # a client that repeats
            assert api.post(f"{ROOT}/runs/{run['id']}/log", batch, **JSON).json() == {
                "metrics": 21,
                "params": 1,
                "tags": 1,
            }
        api.patch(f"{ROOT}/runs/{run['id']}", {"status": "FINISHED", "ended_ms": 10**13}, **JSON)
    refused = api.post(f"{ROOT}/runs/{ids[0]}/log", {"params": {"lr": "1"}}, **JSON)
    assert refused.status_code == 400

    run = api.get(f"{ROOT}/runs/{ids[0]}").json()
    assert run["metrics"]["loss"] == {"value": 1 / 20, "step": 19, "at": 19}
    assert run["metrics"]["acc"]["value"] == "NaN"
    assert (run["status"], run["ended_ms"], run["params"]) == ("FINISHED", 10**13, {"lr": "0.1"})
    [acc, loss] = api.get(f"{ROOT}/runs/{ids[0]}/metrics").json()["series"]
    assert (loss["name"], loss["steps"]) == ("loss", list(range(20)))
    assert acc["values"] == [None]  # a gap

    query = {"filter": "metrics.loss < 1 and tags.kind = 'sweep'", "order_by": "metrics.loss"}
    page = api.get(f"{ROOT}/runs", {**query, "limit": 1}).json()
    rest = api.get(f"{ROOT}/runs", {**query, "page_token": page["next"]}).json()
    assert [r["id"] for r in page["items"] + rest["items"]] == [ids[1], ids[0]]
    assert rest["next"] is None
    wrong = api.get(f"{ROOT}/runs", {"filter": "metrics.loss <"})
    assert (wrong.status_code, "character 15" in wrong.content.decode()) == (400, True)

    listed = api.get(f"{ROOT}/experiments/{number}/runs", {"sort": "params.lr"}).json()
    assert [r["name"] for r in listed["items"]] == ["r1", "r0"]
    compared = api.get(f"{ROOT}/runs/compare", {"runs": ",".join(ids)}).json()
    [found] = [one for one in compared["ranked"] if one["key"] == "parameters.lr"]
    assert (found["before"], found["after"], found["level"]) == ("0.1", "0.01", 1)
    assert compared["best"]["loss"] == ids[1]
    file = api.get(f"{ROOT}/runs/compare", {"runs": ids[0]})
    assert file.status_code == 400


def test_bulk_changes_apply_to_all_runs_or_none(story, ada, experiment):  # noqa: F811
    ids = [row.id.hex for row in new_runs(ada, experiment, [{"name": "a"}, {"name": "b"}])]
    api, url = story.api(story.ben), f"{ROOT}/runs/act"

    def act(do: str, **more: object) -> tuple[int, object]:
        answer = api.post(url, {"do": do, "runs": ids, **more}, **JSON)
        return answer.status_code, answer.json().get("changed")

    assert act("archive") == (200, 2)
    assert api.get(f"{ROOT}/runs").json()["items"] == []
    assert len(api.get(f"{ROOT}/runs?archived=true").json()["items"]) == 2
    assert act("unarchive") == (200, 2)
    assert act("tag", tags={"best": "yes"}) == (200, 2)
    assert act("tag")[0] == 400
    assert act("delete") == (200, 2)
    assert len(api.get(f"{ROOT}/runs?view=deleted").json()["items"]) == 2
    assert api.get(f"{ROOT}/runs/{ids[0]}").status_code == 404
    ids.append("0" * 32)
    assert act("restore")[0] == 404
    ids.pop()
    assert act("restore") == (200, 2)
    assert api.get(f"{ROOT}/runs/{ids[0]}").json()["tags"] == {"best": "yes"}


def test_experiment_is_changed_deleted_and_restored(story, experiment):  # noqa: F811
    api, url = story.api(story.ben), f"{ROOT}/experiments/{experiment.number}"
    changed = api.patch(url, {"description": "d", "tags": {"a": "b"}}, **JSON).json()
    assert (changed["description"], changed["tags"]) == ("d", {"a": "b"})
    assert api.delete(url).json()["deleted_at"]
    assert api.get(url).status_code == 404
    assert api.get(f"{ROOT}/experiments").json()["items"] == []
    assert api.post(f"{url}/restore").json()["deleted_at"] is None
    [item] = api.get(f"{ROOT}/experiments").json()["items"]
    assert (item["name"], item["team"], item["runs"]) == ("resnet", "vision", 0)
    text = (
        story.client(story.ben).get("/atlas/experiments?format=csv").getvalue().decode("utf-8-sig")
    )
    assert [row["name"] for row in csv.DictReader(io.StringIO(text))] == ["resnet"]


def test_others_find_nothing(story, ada, experiment):  # noqa: F811
    [run] = new_runs(ada, experiment, [{"name": "a"}])
    with org_scope(story.atlas.id):
        Run.objects.filter(id=run.id).update(team=story.speech)
        type(experiment).objects.filter(id=experiment.id).update(team=story.speech)
    batch = {"tags": {"a": "b"}}
    for path, body in (
        (f"runs/{run.id.hex}", None),
        (f"runs/{run.id.hex}/metrics", None),
        (f"experiments/{experiment.number}", None),
        (f"runs/compare?runs={run.id.hex},{run.id.hex}", None),
        (f"runs/{run.id.hex}/log", batch),
        ("runs/act", {"do": "delete", "runs": [run.id.hex]}),
        ("runs", {"experiment": experiment.number}),
    ):
        for person, org in ((story.ben, story.atlas), (story.cyd, story.borealis)):
            api, url = story.api(person, org), f"/api/v1/orgs/{org.slug}/{path}"
            answer = api.get(url) if body is None else api.post(url, body, **JSON)
            assert answer.status_code == 404, url
    assert story.api(story.ben).get(f"{ROOT}/runs").json()["items"] == []


def test_curves_are_at_most_so_many_unless_they_are_named(
    story,
    ada,  # noqa: F811
    experiment,  # noqa: F811
    monkeypatch,
):
    for module in ("experiments.api.runs", "experiments.charts"):
        monkeypatch.setattr(f"{module}.MOST_CURVES", 2)
    row = services.create_run(actor=ada, experiment=experiment)
    points = [Point(name, {}, 1000, 1.0, 1) for name in ("c", "a", "b")]
    services.log_batch(actor=ada, run=row, metrics=points)
    ben = story.api(story.ben)

    def names(query: str) -> list[str]:
        found = ben.get(f"/api/v1/orgs/atlas/runs/{row.id.hex}/metrics{query}").json()
        return [one["name"] for one in found["series"]]

    assert (names(""), names("?names=c")) == (["a", "b"], ["c"])
    assert [one["name"] for one in charts.curves_of(row)["training"]] == ["a", "b"]
