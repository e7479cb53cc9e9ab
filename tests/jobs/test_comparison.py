"""Comparison of jobs: what differs, which is best, and who may see it."""

from __future__ import annotations

import json

import pytest

from jobs.models import Job
from jobs.selectors.comparison import (
    ComparedRun,
    best_run,
    chosen_jobs,
    config_of,
    differences,
    is_lower_better,
)
from jobs.selectors.metrics import system_series, training_series, unit_of
from portal import series
from portal.core import clock
from portal.core.errors import InvalidInput
from schedulers.states import State
from tests.jobs.stage import cluster_with, only_attempt, submit
from workspaces.credentials.tokens import Bearer, issue_attempt_tokens
from workspaces.tenancy.scope import org_scope

PATH = "/api/v1/orgs/atlas/jobs/compare"


@pytest.fixture
def pair(story) -> list[Job]:
    """Return two jobs that differ in their learning rate; the second has the lower loss."""
    cluster_with()
    jobs = [
        submit(story, name=f"sft-{lr}", run=f"train --lr {lr} --epochs=3", envs={"SEED": "1"})
        for lr in ("1e-3", "3e-4")
    ]
    with org_scope(story.atlas.id):
        for job, floor in zip(jobs, (0.9, 0.5), strict=True):
            points = [
                series.Point("val/loss", {}, 1_000 * step, floor + 1 / step, step=step)
                for step in range(1, 9)
            ]
            points.append(series.Point("epoch", {}, 8_000, 10 * floor, step=8))
            points.append(series.Point("tokens/s", {}, 8_000, 50_000.0, step=8, unit="/s"))
            series.append(f"job:{job.id.hex}", points, org_id=job.org_id)
    return jobs


def test_compare_returns_differences_summaries_and_best(story, pair):
    body = story.api(story.ada).get(PATH, {"jobs": "1,2"}).json()
    assert [(d["key"], d["values"], d["is_numeric"]) for d in body["differences"]] == [
        ("parameters.lr", ["1e-3", "3e-4"], True),
        ("run", ["train --lr 1e-3 --epochs=3", "train --lr 3e-4 --epochs=3"], False),
    ]
    assert (body["best"]["val/loss"], body["metrics"][0]) == ("2", "val/loss")
    assert "epoch" not in body["best"]  # neither direction is better
    first = body["runs"][0]["metrics"]
    assert first["val/loss"]["best"] == first["val/loss"]["minimum"] == 0.9 + 1 / 8
    assert (first["tokens/s"]["unit"], first["tokens/s"]["is_lower_better"]) == ("/s", False)


@pytest.mark.parametrize(
    ("names", "lower"),
    [
        (
            "loss valLoss validation_0-rmse mean_squared_error test/WER l2 fit_time log_loss",
            True,
        ),
        (
            "eval_seconds val_mape train.ppl",
            True,
        ),
        ("accuracy val/f1 reward tokens_per_seconds auc uptime r2_score mAP", False),
    ],
)
def test_direction_of_a_metric_is_known_by_its_name(names, lower):
    assert [name for name in names.split() if is_lower_better(name) != lower] == []


def test_page_marks_the_lowest_loss_and_nothing_where_runs_are_equal(story, pair):
    rows = story.client(story.ada).get("/atlas/jobs/compare?jobs=1,2").context["metric_rows"]
    marked = {row["name"]: [cell["is_best"] for cell in row["cells"]] for row in rows}
    none = [False, False]
    assert marked == {"val/loss": [False, True], "tokens/s": none, "epoch": none}


@pytest.mark.parametrize(
    ("query", "code"),
    [("", 400), ("?jobs=1", 400), ("?jobs=1&jobs=%232", 200), ("?jobs=1,99", 404)],
)
def test_compare_needs_two_visible_jobs(story, pair, query, code):
    assert story.api(story.ada).get(PATH + query).status_code == code


def test_compare_hides_jobs_of_others(story, pair):
    with org_scope(story.atlas.id):
        Job.objects.filter(number=2).update(team=story.speech)
    assert story.api(story.ben).get(PATH, {"jobs": "1,2"}).status_code == 404
    assert story.client(story.ben).get("/atlas/jobs/compare?jobs=1,2").status_code == 404


def test_compare_page_shows_differences_and_offers_rerun(story, pair):
    address = "/atlas/jobs/compare?jobs=1&jobs=2"
    page = story.client(story.ada).get(address).content.decode()
    assert "parameters.lr" in page
    assert "parameters.epochs" not in page
    assert 'action="/atlas/jobs/2/rerun"' not in page  # the best has not succeeded
    with org_scope(story.atlas.id):
        Job.objects.filter(number=2).update(state=State.SUCCEEDED, finished_at=clock.now())
    assert 'action="/atlas/jobs/2/rerun"' in story.client(story.ada).get(address).content.decode()
    empty = story.client(story.ada).get("/atlas/jobs/compare")
    assert (empty.status_code, b"Choose 2 to 10 jobs" in empty.content) == (200, True)


def test_at_most_ten_jobs_are_compared(story, pair):
    with org_scope(story.atlas.id), pytest.raises(InvalidInput):
        chosen_jobs(story.actor(story.ada), [",".join(str(n) for n in range(11))])


def test_configuration_is_flat_and_reads_command_options(story):
    job = Job(
        spec={
            "name": "x",
            "run": "torchrun --nproc 8 train.py --lr=3e-4 --fp16 --name 'a b'",
            "envs": {"SEED": "1"},
            "inputs": ["a", "b"],
        }
    )
    flat = config_of(job)
    assert {key: value for key, value in flat.items() if key != "run"} == {
        "envs.SEED": "1",
        "inputs": "a, b",
        "parameters.nproc": "8",
        "parameters.lr": "3e-4",
        "parameters.name": "a b",
    }
    assert "parameters.x" not in config_of(Job(spec={"run": "echo 'open"}))


def test_comparison_works_for_any_runs():
    runs = [
        ComparedRun(id=name, name=name, url="", state="succeeded", config=config, metrics={})
        for name, config in (("a", {"lr": 0.1, "gpu": "h100"}), ("b", {"lr": 0.2, "gpu": "h100"}))
    ]
    assert [(d.key, d.values) for d in differences(runs)] == [("lr", [0.1, 0.2])]
    assert best_run(runs, "loss") is None


def test_units_come_from_names():
    assert [unit_of(n) for n in ("tokens/s", "samples_per_second", "cache/bytes", "loss")] == [
        "/s",
        "/s",
        "bytes",
        "",
    ]


def test_tasks_of_an_array_have_their_own_curves(story):
    cluster_with()
    job = submit(story, name="sweep", array={"size": 2})
    with org_scope(story.atlas.id):
        attempts = [only_attempt(job, index) for index in (0, 1)]
        for attempt in attempts:
            bearer = Bearer(job.org_id, job.team_id, job.owner_id, attempt.id, "job")
            (token,) = issue_attempt_tokens([bearer])
            body = {"points": [{"name": "loss", "value": attempt.index + 1, "step": 1}]}
            answer = story.client().post(
                "/api/v1/orgs/atlas/jobs/1/metrics",
                json.dumps(body),
                content_type="application/json",
                headers={"Authorization": f"Bearer {token}"},
            )
            assert answer.status_code == 200, answer.content
        series.append(
            f"attempt:{attempts[1].id.hex}",
            [series.Point("gpu.power", {"gpu": "0"}, 1, 9.0)],
            org_id=job.org_id,
        )
        both = training_series(job, attempts)
        assert [(s["labels"], s["values"]) for s in both] == [
            ({"task": "0"}, [1]),
            ({"task": "1"}, [2]),
        ]
        assert [s["labels"] for s in training_series(job, attempts[1:])] == [{"task": "1"}]
        assert [s["labels"] for s in system_series(job, attempts)] == [{"gpu": "0", "task": "1"}]
