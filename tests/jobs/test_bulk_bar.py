"""What the bar below the list of jobs does with those that are ticked."""

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
def test_what_it_does_not_know_is_refused_in_words_and_nothing_is_done(story, verb):
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


def test_what_it_knows_is_done_to_each_and_counted(story):
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
