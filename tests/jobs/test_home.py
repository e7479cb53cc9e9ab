"""The home page: real counts, what needs attention, first steps of newcomers."""

from __future__ import annotations

from datetime import timedelta

import pytest

from jobs.models import Job
from jobs.selectors import dashboard
from portal.core import clock
from schedulers.states import State
from tests.jobs.stage import cluster_with, submit
from workspaces.models import AccessToken
from workspaces.quotas.requests import request_limit
from workspaces.quotas.set_limits import set_quota
from workspaces.tenancy.scope import org_scope, platform_scope


@pytest.fixture
def jobs(story):
    """Create 14 running and 13 failed jobs of Ben, and one that has waited for two hours."""
    cluster_with()
    for _ in range(28):
        submit(story, person=story.ben)
    now = clock.now()
    with platform_scope("test"):
        rows = Job.objects.order_by("number")
        running, failed = [14, 27]
        for job in rows[:running]:
            Job.objects.filter(id=job.id).update(state=State.RUNNING, started_at=now)
        for job in rows[running:failed]:
            Job.objects.filter(id=job.id).update(
                state=State.FAILED, reason="user_error", finished_at=now, started_at=now
            )
        Job.objects.filter(state=State.QUEUED).update(created_at=now - timedelta(hours=2))


def home(story, person) -> str:
    return story.client(person).get("/atlas/").content.decode()


def test_counts_are_real_and_not_the_length_of_the_shown_rows(story, jobs):
    with org_scope(story.atlas.id):
        actor = story.actor(story.ben)
        count, rows = dashboard.running_jobs(actor)
        assert (count, len(rows)) == (14, dashboard.SHOWN)
        found = dashboard.attention(actor)
        assert (found["failed_count"], found["waiting_count"], found["count"]) == (13, 1, 14)
        assert dashboard.queued_jobs(actor) == 1
        assert dashboard.running_count(actor) == 14
        assert dashboard.job_stats(actor)["success"] == 0
    page = home(story, story.ben)
    listed = story.client(story.ben).get(f"/atlas/jobs?{found['failed_url']}&limit=50")
    assert found["failed_url"] == "state=failed&ended=24h&owner=me"
    assert listed.content.decode().count("<tr data-id=") == 13
    assert "13 failed in the last 24 h" in page and '<span class="count">14</span>' in page


def test_home_of_admin_covers_teams_and_of_other_team_nothing(story, jobs):
    with org_scope(story.atlas.id):
        assert dashboard.attention(story.actor(story.ada))["failed_count"] == 13
        assert dashboard.running_count(story.actor(story.ada)) == 0
    with org_scope(story.borealis.id):
        assert dashboard.attention(story.actor(story.cyd))["count"] == 0


def test_requests_that_the_reader_may_decide_come_first(story, jobs):
    whose = {"org": story.atlas, "scope": "team", "subject": "vision", "resource": "gpu"}
    with org_scope(story.atlas.id):
        set_quota(actor=story.actor(story.ada), limit=2, **whose)
        request_limit(actor=story.actor(story.ben), amount=8, why="A sweep", **whose)
    page = home(story, story.ada)
    assert page.index("A sweep") < page.index("failed in the last 24 h")
    assert "A sweep" not in home(story, story.ben)


def test_newcomer_sees_three_steps_that_complete_themselves(story):
    ben = story.client(story.ben)
    assert "Run your first job" in home(story, story.ben)
    assert '<li class="is-done">' not in ben.get("/atlas/").content.decode()
    assert ben.post("/atlas/", follow=True).content.decode().count('<li class="is-done">') == 1
    with platform_scope("test"):
        story.token(story.ben)
        AccessToken.objects.filter(user=story.ben).update(last_used_at=clock.now())
    page = home(story, story.ben)
    assert page.count('<li class="is-done">') == 2
    assert "No cluster is connected yet" in page
    cluster_with()
    assert "No cluster is connected yet" not in home(story, story.ben)
    submit(story, person=story.ben)
    with platform_scope("test"):
        Job.objects.update(state=State.SUCCEEDED, finished_at=clock.now())
    assert "Run your first job" not in home(story, story.ben)
