"""Experiments and runs: rules of the services."""

from __future__ import annotations

from datetime import timedelta
from math import inf, isnan, nan
from typing import Any
from uuid import UUID

import pytest

from experiments import artifacts, selectors, services, tasks
from experiments.models import Artifact, Experiment, Run, Trace
from experiments.services import importing, limits
from experiments.services.importing import ForeignRun
from experiments.services.traces import TraceFacts
from portal import series
from portal.core import clock
from portal.core.errors import Conflict, InvalidInput, NotFound, NotPermitted, QuotaExceeded
from portal.core.models import Event
from portal.series import Point
from portal.series.models import Chunk, Series
from schedulers.spec.environment import task_run_id
from tests.jobs.stage import cluster_with
from workspaces.tenancy.scope import no_scope, org_scope

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("home"), pytest.mark.both_databases]


@pytest.fixture
def ada(story):
    with org_scope(story.atlas.id):
        yield story.actor(story.ada)


@pytest.fixture
def experiment(story, ada):
    return services.create_experiment(actor=ada, team=story.vision, name="resnet")


@pytest.fixture
def run(ada, experiment):
    return services.create_run(actor=ada, experiment=experiment)


def point(name: str, value: float, step: int = 0, at_ms: int = 1000) -> Point:
    return Point(name, {}, at_ms, value, step)


def new_runs(actor, experiment, given: list[dict[str, Any]]) -> list[Run]:
    """Return runs with metrics, params, tags and inputs, one millisecond apart."""
    made = []
    for n, each in enumerate(given):
        row = services.create_run(
            actor=actor, experiment=experiment, name=each["name"], started_ms=1000 + n
        )
        services.log_batch(
            actor=actor,
            run=row,
            metrics=[point(name, value) for name, value in each.get("metrics", {}).items()],
            params=each.get("params"),
            tags=each.get("tags"),
        )
        if inputs := each.get("inputs"):
            services.log_inputs(
                actor=actor,
                run=row,
                inputs=[
                    {
                        "dataset": {"name": name, "digest": digest},
                        "tags": {"mlflow.data.context": context},
                    }
                    for name, digest, context in inputs
                ],
            )
        if status := each.get("status"):
            services.update_run(actor=actor, run=row, status=status, ended_ms=each["ended_ms"])
        made.append(Run.objects.get(id=row.id))
    return made


def kinds() -> list[str]:
    rows = Event.objects.filter(subject_type__in=["experiment", "run"])
    return list(rows.order_by("position").values_list("kind", flat=True))


# Experiments


def test_experiment_is_created_changed_deleted_and_restored(story, ada, experiment):
    assert (experiment.number, experiment.owner) == (1, story.ada)
    services.update_experiment(actor=ada, experiment=experiment, name="resnet 50")
    tags = {"a": "1", "mlflow.note.content": "about"}
    row = services.set_experiment_tags(actor=ada, experiment=experiment, tags=tags)
    assert (row.name, row.tags, row.description) == ("resnet 50", {"a": "1"}, "about")
    services.delete_experiment_tag(actor=ada, experiment=row, key="a")
    services.delete_experiment(actor=ada, experiment=row)
    for change in (
        lambda: services.update_experiment(actor=ada, experiment=row, name="x"),
        lambda: services.create_run(actor=ada, experiment=row),
    ):
        with pytest.raises(Conflict, match="trash"):
            change()
    with pytest.raises(NotFound):
        selectors.find_experiment(ada, 1)
    with pytest.raises(Conflict, match="in the trash"):  # its name stays taken
        services.create_experiment(actor=ada, team=story.vision, name="resnet 50")
    services.restore_experiment(actor=ada, experiment=row)
    found = selectors.find_experiment(ada, 1)
    assert (found.tags, found.deleted_at) == ({}, None)
    assert kinds() == ["experiment.created", *["experiment.updated"] * 3, "experiment.deleted",
                       "experiment.restored"]  # fmt: skip


def test_names_are_unique_in_a_team_only(story, ada, experiment):
    other = services.create_experiment(actor=ada, team=story.speech, name="resnet")
    assert other.number == 2
    with pytest.raises(Conflict, match="already"):
        services.update_experiment(
            actor=ada,
            experiment=services.create_experiment(actor=ada, team=story.vision, name="b"),
            name="resnet",
        )
    for bad in ("", " ", "a\nb", "x" * 501, "\x00"):
        with pytest.raises(InvalidInput):
            services.create_experiment(actor=ada, team=story.vision, name=bad)


def test_default_experiment_is_made_once_and_stays(story, ada):
    first = services.default_experiment(actor=ada, team=story.vision)
    assert services.default_experiment(actor=ada, team=story.vision) == first
    for change in (
        lambda: services.delete_experiment(actor=ada, experiment=first),
        lambda: services.update_experiment(actor=ada, experiment=first, name="x"),
    ):
        with pytest.raises(Conflict, match="runs that name no experiment"):
            change()


# Who may


def test_other_teams_and_tenants_find_nothing(story, ada, experiment, run):
    with no_scope(), org_scope(story.borealis.id):
        cyd = story.actor(story.cyd)
        for find in (selectors.find_experiment, selectors.find_run):
            with pytest.raises(NotFound):
                find(cyd, 1 if find is selectors.find_experiment else run.id)
    hidden = services.create_experiment(actor=ada, team=story.speech, name="secret")
    theirs = services.create_run(actor=ada, experiment=hidden)
    ben = story.actor(story.ben)
    assert list(selectors.visible_runs(ben)) == [run]
    with pytest.raises(NotFound):
        selectors.find_run(ben, theirs.id.hex)
    for change in (
        lambda: services.log_batch(actor=ben, run=theirs, tags={"a": "b"}),
        lambda: services.delete_runs(actor=ben, runs=[run, theirs]),
        lambda: services.create_run(actor=ben, experiment=hidden),
        lambda: services.set_experiment_tags(actor=ben, experiment=hidden, tags={"a": "b"}),
    ):
        with pytest.raises(NotPermitted):
            change()
    assert Run.objects.get(id=run.id).deleted_at is None  # all or nothing


# Runs


def test_run_is_named_ended_archived_deleted_and_restored(ada, experiment, run):
    assert run.name.count("-") == 2
    child = services.create_run(
        actor=ada, experiment=experiment, parent=run, tags={"mlflow.runName": "child"}
    )
    assert (child.name, child.tags) == ("child", {"mlflow.parentRunId": run.id.hex})
    row = services.update_run(actor=ada, run=child, status="FINISHED")
    assert row.ended_ms >= row.started_ms
    assert services.update_run(actor=ada, run=child, status="RUNNING").ended_ms is None
    with pytest.raises(InvalidInput):
        services.update_run(actor=ada, run=child, status="DONE")
    assert services.archive_runs(actor=ada, runs=[run, child]) == 2
    assert services.archive_runs(actor=ada, runs=[run]) == 0
    services.unarchive_runs(actor=ada, runs=[run])
    assert services.delete_runs(actor=ada, runs=[run]) == 1
    deleted = selectors.find_run(ada, run.id, with_trash=True)
    with pytest.raises(Conflict, match="trash"):
        services.log_batch(actor=ada, run=deleted, metrics=[point("a", 1)])
    assert list(selectors.visible_runs(ada, "deleted")) == [deleted]
    services.restore_runs(actor=ada, runs=[deleted])
    assert selectors.find_run(ada, run.id.hex).deleted_at is None
    assert [kind for kind in kinds() if kind.startswith("run.")] == [
        *("run.created", "run.created", "run.updated", "run.updated", "run.archived"),
        *("run.archived", "run.unarchived", "run.deleted", "run.restored"),
    ]


def test_run_of_a_job_has_its_id_and_survives_its_deletion(story, ada, experiment):
    from jobs import services as job_services
    from jobs.models import Attempt, Job
    from schedulers.spec import parse_mapping

    cluster_with()
    job = job_services.submit_job(actor=ada, team=story.vision, spec=parse_mapping({"run": "true"}))
    row = services.create_run(actor=ada, experiment=experiment, job=job)
    assert (row.id, row.series_owner) == (job.id, f"job:{job.id.hex}")
    assert services.create_run(actor=ada, experiment=experiment, job=job) == row
    Attempt.objects.all().delete()
    Job.objects.all().delete()
    assert selectors.find_run(ada, job.id).job is None


# What is logged


def test_params_are_written_once_and_tags_replaced(ada, run):
    services.log_batch(actor=ada, run=run, params={"lr": "0.1"}, tags={"a": "1"})
    services.log_batch(actor=ada, run=run, params={"lr": "0.1", "b": ""}, tags={"a": "2"})
    with pytest.raises(InvalidInput, match="Changing param values is not allowed"):
        services.log_batch(
            actor=ada, run=run, params={"lr": "0.2", "c": "1"}, metrics=[point("loss", 1)]
        )
    services.log_batch(actor=ada, run=run, tags={"mlflow.runName": "better"})
    services.delete_run_tag(actor=ada, run=run, key="a")
    with pytest.raises(NotFound):
        services.delete_run_tag(actor=ada, run=run, key="a")
    found = selectors.find_run(ada, run.id)
    assert (found.name, found.params, found.tags) == ("better", {"lr": "0.1", "b": ""}, {})
    assert selectors.last_metrics([found]) == {run.id: {}}  # nothing of the refused batch


@pytest.mark.parametrize(
    "batch",
    [
        {"metrics": [point("a", n, n) for n in range(1001)]},
        {"params": {f"p{n}": "" for n in range(101)}},
        {"tags": {f"t{n}": "" for n in range(101)}},
        {"metrics": [point("a", n, n) for n in range(950)],
         "params": {f"p{n}": "" for n in range(51)}},
        {"params": {"a": "x" * 6001}},
        {"tags": {"a": "x" * 8001}},
        {"tags": {"a" * 251: ""}},
        {"params": {"a": "\x00"}},
        *({"metrics": [point(name, 1)]} for name in ("", "a" * 251, "a\n", "../a", "a//b", "/a")),
        {"metrics": [point("a", 1, 2**62)]},
    ],
)  # fmt: skip
def test_batch_over_a_limit_is_refused_whole(ada, run, batch):
    whole = {"metrics": [point("fine", 1)], "tags": {"fine": "1"}} | batch
    with pytest.raises(InvalidInput):
        services.log_batch(actor=ada, run=run, **whole)
    assert Run.objects.get(id=run.id).tags == {}
    assert not Series.objects.exists()


def test_last_metric_is_the_greatest_by_step_time_and_value(ada, run):
    for value, step, at in ((1, 5, 10), (9, 4, 99), (2, 5, 11), (3, 5, 11), (nan, 5, 11)):
        services.log_batch(actor=ada, run=run, metrics=[point("loss", value, step, at)])
    assert selectors.last_metrics([run])[run.id]["loss"] == (3, 5, 11)
    services.log_batch(actor=ada, run=run, metrics=[point("loss", 1, 4), point("loss", -inf, 6)])
    assert selectors.last_metrics([run])[run.id]["loss"] == (-inf, 6, 1000)
    services.log_batch(actor=ada, run=run, metrics=[point("loss", nan, 7)])
    assert isnan(selectors.last_metrics([run])[run.id]["loss"].value)
    steps = [step for step, _at, _value in selectors.metric_history(run, "loss")]
    assert steps == [4, 4, 5, 5, 5, 5, 6, 7]


@pytest.mark.parametrize("size", [10, 600])
def test_repeated_batch_adds_nothing(ada, run, size):
    batch = [point("loss", [n / 7, nan, inf][n % 3], n, n) for n in range(size)]
    for _ in range(3):
        services.log_batch(actor=ada, run=run, metrics=batch)
    found = selectors.metric_history(run, "loss")
    assert [(step, at) for step, at, _value in found] == [(n, n) for n in range(size)]
    assert [str(value) for *_, value in found] == [str(float(p.value)) for p in batch]
    [data] = series.query(run.series_owner, max_points=5000)
    assert len(data.steps) <= size


def test_too_many_metrics_are_refused_with_advice(ada, run):
    owner = run.series_owner
    Series.objects.bulk_create(
        [Series(owner=owner, name=f"m{n}", org_id=run.org_id) for n in range(9_999)]
    )
    services.log_batch(actor=ada, run=run, metrics=[point("m10000", 1)])
    with pytest.raises(QuotaExceeded, match="creates a new series"):
        services.log_batch(actor=ada, run=run, metrics=[point("m10001", 1)])


def test_too_many_params_or_tags_are_refused_whole(ada, experiment, run, monkeypatch):
    monkeypatch.setattr(limits, "TEXTS", 3)
    services.log_batch(actor=ada, run=run, params={"a": "1", "b": "2"})
    four = {f"c{n}": "" for n in range(4)}
    for more in ({"params": {"c": "", "d": ""}}, {"tags": four}):
        with pytest.raises(InvalidInput, match="would be 4 of this run; 3 are allowed"):
            services.log_batch(actor=ada, run=run, **more)
    foreign = ForeignRun("https://a", "1" * 32, params=four)
    with pytest.raises(InvalidInput):
        importing.import_run(actor=ada, experiment=experiment, run=foreign)
    row = Run.objects.get()
    assert (row.params, row.tags) == ({"a": "1", "b": "2"}, {})


def test_imported_run_cannot_take_the_id_of_a_task_that_has_not_started(ada, experiment):
    task = task_run_id(UUID(int=7), 3)
    foreign = ForeignRun("https://a", task.hex)
    row, _ = importing.import_run(actor=ada, experiment=experiment, run=foreign)
    again, is_new = importing.import_run(actor=ada, experiment=experiment, run=foreign)
    assert row.id != task and (again.id, is_new) == (row.id, False)


def test_inputs_and_outputs_are_kept_once(ada, run):
    data = {"dataset": {"name": "a", "digest": "1"}, "tags": {}}
    for _ in range(2):
        services.log_inputs(actor=ada, run=run, inputs=[data, {"model_id": "m-1"}])
        services.log_outputs(actor=ada, run=run, outputs=[{"model_id": "m-2", "step": 0}])
        services.add_to_list_tag(actor=ada, run=run, key="list", item={"n": 1})
    row = Run.objects.get(id=run.id)
    assert (len(row.inputs), len(row.outputs)) == (2, 1)
    assert row.tags["list"] == '[{"n": 1}, {"n": 1}]'


# Trash


def test_purge_deletes_what_is_old_with_its_data(story, ada, experiment, run):
    kept = services.create_run(actor=ada, experiment=experiment)
    trashed = services.create_experiment(actor=ada, team=story.vision, name="old")
    inside = services.create_run(actor=ada, experiment=trashed)
    model = services.create_logged_model(actor=ada, experiment=trashed, run=inside)
    services.save_trace(
        actor=ada, experiment=trashed, trace_id="tr-1", facts=TraceFacts(started_ms=1)
    )
    for row in (run, kept, inside):
        services.log_batch(actor=ada, run=row, metrics=[point("loss", 1)])
        artifacts.put(ada, row, "a.txt", [b"text"])
    artifacts.put(ada, model, "m.bin", [b"bytes"])
    services.delete_runs(actor=ada, runs=[run])
    services.delete_experiment(actor=ada, experiment=trashed)
    with no_scope():
        tasks.purge()
        assert Event.objects.filter(kind="run.purged").count() == 0
        with clock.frozen(clock.now() + timedelta(days=31)):
            tasks.purge()
            tasks.purge()
    assert list(Run.objects.all()) == [kept]
    assert list(Experiment.objects.all()) == [experiment]
    assert Artifact.objects.count() == Series.objects.count() == Chunk.objects.count() == 1
    assert not Trace.objects.exists()
    assert kinds()[-3:] == ["run.purged", "run.purged", "experiment.purged"]
    again = services.create_experiment(actor=ada, team=story.vision, name="old")
    assert again.number == 3  # a number is never given twice
