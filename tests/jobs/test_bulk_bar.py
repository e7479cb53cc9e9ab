"""Bulk actions on the list of jobs."""

from __future__ import annotations

import pytest

from jobs.models import Job
from portal.core.models import Event
from tests.jobs.stage import cluster_with, submit
from workspaces.tenancy.scope import platform_scope

pytestmark = pytest.mark.usefixtures("home")


@pytest.fixture(autouse=True)
def everywhere(db):
    with platform_scope("test"):
        yield


@pytest.mark.parametrize("verb", ["", "stop", "CANCEL", "hold"])
def test_unknown_bulk_action_is_refused_and_changes_nothing(story, verb):
    cluster_with()
    job, ada = submit(story), story.client(story.ada)
    ada.get("/atlas/jobs")
    before = Event.objects.count()
    answer = ada.post("/atlas/jobs/act", {"verb": verb, "job": [job.number]})
    assert (
        answer.status_code == 400
        and "must be one of cancel, rerun, delete-logs" in answer.content.decode()
    )
    assert Job.objects.get(id=job.id).state == job.state and Event.objects.count() == before
    assert "submitted again" not in ada.get("/atlas/jobs").content.decode()


def test_bulk_action_applies_to_each_job_and_is_counted(story):
    cluster_with()
    jobs = [submit(story) for _ in range(2)]
    ada = story.client(story.ada)
    ada.post("/atlas/jobs/act", {"verb": "rerun", "job": [job.number for job in jobs]})
    assert (
        "2 jobs: submitted again." in ada.get("/atlas/jobs").content.decode()
        and Job.objects.count() == 4
    )
    ada.post("/atlas/jobs/act", {"verb": "cancel", "job": [job.number for job in jobs]})
    assert "2 jobs: being stopped." in ada.get("/atlas/jobs").content.decode()
