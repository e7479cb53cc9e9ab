"""Outputs of jobs: what becomes a version, when, and which versions are kept."""

from __future__ import annotations

import os
import time
from datetime import timedelta
from pathlib import Path

import pytest

from datasets import services as datasets
from datasets.models import Repository, Version
from datasets.selectors import find_version, tree_of
from jobs.dispatch.launch import build_launches
from jobs.dispatch.lifecycle import StateChange, transition
from jobs.models import Attempt, Job, JobOutput
from jobs.outputs import output_of
from jobs.saving import saver
from jobs.saving.versions import best_of, versions_by
from jobs.services.measure import store_points
from portal import series
from portal.blobs.files import FileStore, file_store
from portal.core import clock
from portal.core.errors import InvalidInput, QuotaExceeded, Unavailable
from portal.core.models import Event
from schedulers.states import Reason, State, Wait
from tests.jobs.stage import claim_all, cluster_with, only_attempt, submit
from workspaces.tenancy.scope import org_scope, platform_scope

pytestmark = pytest.mark.django_db
OLD = time.time() - 60


@pytest.fixture
def stage(story, home):
    with platform_scope("test"):
        cluster_with()
        yield story


def started(story, **output):
    """Submit a job with the output ckpt of the checkpoint resnet, and start it."""
    spec = {"outputs": {"ckpt": {"checkpoint": "resnet", "every": "10m", **output}}}
    job = submit(story, policy={"retries": 1, "backoff": 0}, **spec)
    return job, run(job)


def run(job: Job) -> Attempt:
    claim_all(job.cluster)
    attempt = only_attempt(job)
    build_launches([attempt], (), attempt.cluster)
    transition([StateChange(attempt.id, State.RUNNING, "test")])
    attempt = only_attempt(job)
    folder_of(attempt).mkdir(parents=True)
    return attempt


def folder_of(attempt: Attempt) -> Path:
    output = output_of(attempt.cluster, attempt.key)
    assert output is not None
    return Path(output.path) / "ckpt"


def write(attempt: Attempt, at: float = OLD, **files: str) -> None:
    for name, text in files.items():
        path = folder_of(attempt) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        os.utime(path, (at, at))


def end(attempt: Attempt, reason: Reason = Reason.COMPLETED) -> None:
    transition([StateChange(attempt.id, reason.final_state, "test", reason)])


def make_due(job: Job) -> None:
    JobOutput.objects.filter(job=job).update(due_at=clock.now() - timedelta(seconds=1))


def save_now(job: Job) -> JobOutput:
    make_due(job)
    saver.save_due()
    return JobOutput.objects.select_related("version", "repository").get(job=job)


def contents(row: JobOutput) -> dict[str, str]:
    store = file_store()
    return {
        entry.path: store.open(row.org_id, entry.sha256).read().decode()
        for entry in tree_of(row.version).below("")
    }


def test_output_is_saved_while_it_runs_and_at_its_end(stage):
    job, attempt = started(stage)
    assert saver.save_due() == 0  # not due yet
    write(attempt, weights="one", **{"sub/config.json": "{}"})
    points = [series.Point("loss", {}, clock.now_ms(), 0.5, step=400)]
    store_points([(f"job:{job.id.hex}", {})], points, org_id=job.org_id)
    row = save_now(job)
    assert (row.state, row.message, row.is_over) == ("saved", "", False)
    assert contents(row) == {"weights": "one", "sub/config.json": "{}"}
    assert (row.version.message, row.version.job_id) == (f"Job #{job.number}: step 400", job.id)
    assert (row.repository.name, row.repository.team.slug) == ("resnet", "vision")
    assert row.version.author.email == job.owner.email
    assert row.due_at > clock.now() + timedelta(minutes=9)

    assert save_now(job).version == row.version  # nothing has changed
    write(attempt, weights="two")
    (folder_of(attempt) / "sub/config.json").unlink()
    end(attempt, Reason.USER_ERROR)
    saver.save_due()
    row = JobOutput.objects.select_related("version").get(job=job)
    assert (contents(row), row.version.number) == ({"weights": "two"}, 2)
    assert row.is_over
    assert saver.save_due() == 0
    saved = Event.objects.filter(kind="job.output_saved", subject_id=job.id).order_by("position")
    assert [event.data["version"] for event in saved] == [1, 2]
