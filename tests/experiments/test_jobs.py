"""Every job is a run: states, experiments, facts, retries, and logging at once or afterwards."""

from __future__ import annotations

import pytest
from django.test import Client

from experiments import selectors, tasks
from experiments.models import Experiment, Run, RunStatus
from jobs.dispatch.launch import build_launches
from jobs.dispatch.lifecycle import StateChange, transition
from jobs.models import Job
from jobs.services.measure import record_points
from portal import series
from portal.core import clock
from portal.core.errors import NotFound
from schedulers.states import Reason, State
from tests.jobs.stage import claim_all, cluster_with, only_attempt, submit
from workspaces.tenancy.scope import no_scope, org_scope, platform_scope

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]


@pytest.fixture(autouse=True)
def everywhere(db):
    with platform_scope("test"):
        yield


def run_of(job: Job) -> Run:
    """Return the run of a job after the task has run."""
    tasks.follow_jobs()
    return Run.objects.select_related("experiment").get(id=job.id)


def move(job: Job, to: State, reason: Reason | None = None, *, index: int = 0, **more) -> None:
    transition([StateChange(only_attempt(job, index).id, to, "test", reason, **more)])


def start(job: Job) -> None:
    claim_all(job.cluster)
    move(job, State.RUNNING, node="n0", started_at=clock.now())


def end(job: Job, to: State, reason: Reason) -> Run:
    move(job, to, reason, finished_at=clock.now())
    return run_of(job)


def log(story, job: Job, value: float, step: int) -> None:
    point = {"name": "loss", "at": None, "value": value, "step": step}
    with org_scope(story.atlas.id):
        record_points(actor=story.actor(job.owner), job=job, points=[point])


def values(run: Run) -> list[float]:
    return [value for found in series.query(run.series_owner) for value in found.values]


def test_run_follows_the_job_from_its_submission_to_its_end(story):
    cluster_with(gpus=2)
    job = submit(
        story,
        name="sft",
        resources={"accelerators": "H100:2"},
        image="repo/image@sha256:" + "a" * 64,
        labels={"git.commit": "c0ffee"},
    )
    run = run_of(job)
    assert (run.name, run.status, run.owner, run.team) == ("sft", "SCHEDULED", story.ada, job.team)
    assert (run.experiment.name, run.series_owner) == ("Default", f"job:{job.id.hex}")
    start(job)
    run = run_of(job)
    job.refresh_from_db()
    assert (run.status, run.ended_ms) == ("RUNNING", None)
    assert run.started_ms == round(job.started_at.timestamp() * 1000)
    run = end(job, State.SUCCEEDED, Reason.COMPLETED)
    assert run.status == "FINISHED" and run.ended_ms >= run.started_ms
    assert run.tags == {
        "mlflow.user": "ada@atlas.example",
        "mlflow.source.type": "JOB",
        "mlflow.source.name": run.tags["mlflow.source.name"],
        "mlflow.source.git.commit": "c0ffee",
        "muster.job": "1",
        "muster.cluster": "local",
        "muster.node": "n0",
        "muster.gpus": "2",
        "muster.gpu_type": "NVIDIA H100",
        "muster.image": job.spec["image"],
        "muster.image_digest": "sha256:" + "a" * 64,
        "muster.reason": "completed",
    }
    assert run.tags["mlflow.source.name"].endswith("/atlas/jobs/1")


@pytest.mark.parametrize(
    ("to", "reason", "status"),
    [
        (State.FAILED, Reason.USER_ERROR, "FAILED"),
        (State.FAILED, Reason.OUT_OF_MEMORY, "FAILED"),
        (State.FAILED, Reason.TIME_LIMIT, "KILLED"),
        (State.CANCELED, Reason.CANCELED, "KILLED"),
    ],
)
def test_run_of_a_job_that_ends_early_is_marked_and_keeps_its_points(story, to, reason, status):
    cluster_with()
    job = submit(story)
    start(job)
    log(story, job, 0.5, 1)
    run = end(job, to, reason)
    assert (run.status, run.tags["muster.reason"]) == (status, reason)
    log(story, job, 0.25, 2)  # its owner adds a result afterwards
    assert values(run) == [0.5, 0.25]
    assert run_of(job).status == status


def test_retry_continues_the_same_run(story):
    cluster_with()
    job = submit(story, policy={"retries": 1, "retry_on": ["user_error"], "backoff": 0})
    start(job)
    log(story, job, 3.0, 1)
    run = end(job, State.FAILED, Reason.USER_ERROR)
    assert (run.status, run.ended_ms) == ("SCHEDULED", None) and "muster.reason" not in run.tags
    start(job)
    log(story, job, 2.0, 2)
    run = end(job, State.SUCCEEDED, Reason.COMPLETED)
    assert (run.status, run.tags["muster.attempts"], values(run)) == ("FINISHED", "2", [3.0, 2.0])
    assert Run.objects.count() == 1


def test_failure_that_the_program_reported_stays(story):
    cluster_with()
    job = submit(story)
    start(job)
    Run.objects.filter(id=run_of(job).id).update(status=RunStatus.FAILED, tags={"own": "1"})
    run = end(job, State.SUCCEEDED, Reason.COMPLETED)
    assert run.status == "FAILED" and run.tags["own"] == "1"


def test_experiment_is_that_of_the_spec_else_of_mlflow_else_default(story):
    cluster_with()
    named = submit(story, experiment="sft", envs={"MLFLOW_EXPERIMENT_NAME": "no"})
    by_mlflow = submit(story, envs={"MLFLOW_EXPERIMENT_NAME": "own"})
    plain = submit(story)
    found = [run_of(job).experiment for job in (named, by_mlflow, plain)]
    assert [(e.name, e.number, e.team) for e in found] == [
        (name, n + 1, story.vision) for n, name in enumerate(("sft", "own", "Default"))
    ]
    Experiment.objects.filter(name="sft").update(deleted_at=clock.now())
    again = [run_of(submit(story, experiment=name)).experiment for name in ("sft", "", "new")]
    assert [e.name for e in again] == ["Default", "Default", "new"]


def test_experiment_that_the_program_sets_gets_the_run_until_something_is_logged(story):
    cluster_with()
    job = submit(story)
    start(job)
    secret = build_launches([only_attempt(job)], set(), job.cluster)[0].env["MLFLOW_TRACKING_TOKEN"]
    inside = Client(headers={"Authorization": f"Bearer {secret}"})
    at = "/mlflow/atlas/vision/api/2.0/mlflow/experiments"
    with no_scope():
        for name in ("first", "second"):
            json = {"name": name}
            made = inside.post(f"{at}/create", json, content_type="application/json")
            assert made.status_code == 200, made.content
        assert inside.get(f"{at}/get-by-name", {"experiment_name": "first"}).status_code == 200
    assert run_of(job).experiment.name == "first"
    log(story, job, 1.0, 1)
    with no_scope():
        inside.get(f"{at}/get-by-name", {"experiment_name": "second"})
        story.api(story.ada).get(f"{at}/get-by-name", {"experiment_name": "second"})
    assert run_of(job).experiment.name == "first"


def test_unchanged_jobs_are_not_written_again(story, django_assert_num_queries):
    cluster_with()
    run_of(submit(story))
    with django_assert_num_queries(2):
        tasks.follow_jobs()


def test_many_jobs_are_followed_in_few_statements(story, django_assert_max_num_queries):
    cluster_with()
    for n in range(30):
        submit(story, experiment=f"e{n % 2}")
    with django_assert_max_num_queries(28):
        tasks.follow_jobs()
    assert Run.objects.count() == 30


def test_reading_the_run_of_a_new_job_creates_it(story):
    cluster_with()
    job = submit(story)
    with org_scope(story.atlas.id):
        assert selectors.find_run(story.actor(story.ben), job.id.hex).id == job.id
        with pytest.raises(NotFound):
            selectors.find_run(story.actor(story.ada), story.ada.id.hex)
    other = submit(story)
    with org_scope(story.borealis.id), pytest.raises(NotFound):
        selectors.find_run(story.actor(story.cyd), other.id.hex)
    assert not Run.objects.filter(id=other.id).exists()


def test_tasks_of_an_array_are_runs_below_that_of_the_job(story):
    cluster_with(cpus=2)
    job = submit(story, name="sweep", array=3, resources={"cpus": 1})
    assert run_of(job).status == "SCHEDULED" and Run.objects.count() == 1
    claim_all(job.cluster)
    for index in (0, 1):
        move(job, State.RUNNING, index=index, node="n0", started_at=clock.now())
    parent = run_of(job)
    runs = list(Run.objects.filter(parent=parent).order_by("name"))
    assert [(r.name, r.status, r.params) for r in runs] == [
        (f"sweep[{n}]", "RUNNING", {"array_index": str(n)}) for n in (0, 1)
    ]
    assert runs[0].tags["mlflow.parentRunId"] == parent.id.hex
    assert (runs[0].tags["muster.task"], runs[0].tags["muster.node"]) == ("0", "n0")
    launch = build_launches([only_attempt(job, 1)], set(), job.cluster)[0].env
    assert launch["MLFLOW_RUN_ID"] == launch["MUSTER_RUN_ID"] == runs[1].id.hex
    inside = Client(headers={"Authorization": f"Bearer {launch['MUSTER_TOKEN']}"})
    at, json = "/mlflow/atlas/vision/api/2.0/mlflow", "application/json"
    Run.objects.filter(id=runs[1].id).delete()
    with no_scope():
        url = f"{at}/experiments/create"
        assert inside.post(url, {"name": "own"}, content_type=json).status_code == 200
        inside.get(f"{at}/experiments/get-by-name", {"experiment_name": "own"})
        param = {"run_id": runs[1].id.hex, "key": "lr", "value": "1"}
        url = f"{at}/runs/log-parameter"
        assert inside.post(url, param, content_type=json).status_code == 200
        point = {"name": "loss", "value": 0.5, "step": 1}
        url = f"/api/v1/orgs/atlas/jobs/{job.number}/metrics"
        assert inside.post(url, {"points": [point]}, content_type=json).status_code < 300
    runs[1].refresh_from_db()
    parent.refresh_from_db()
    assert runs[1].params == {"array_index": "1", "lr": "1"} and values(runs[1]) == [0.5]
    assert [s.labels for s in series.query(parent.series_owner)] == [{"task": "1"}]
    assert runs[1].experiment.name == parent.experiment.name == "own"
    move(job, State.FAILED, Reason.USER_ERROR, index=0, exit_code=3, finished_at=clock.now())
    run_of(job)
    runs[0].refresh_from_db()
    assert (runs[0].status, runs[0].tags["muster.exit_code"]) == ("FAILED", "3")
