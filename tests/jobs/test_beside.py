"""Commands beside jobs: who may run them beside whose. A job that has not started answers 409 to who may."""

from __future__ import annotations

import pytest

from tests.jobs.stage import cluster_with, submit

EXEC = "/api/v1/orgs/atlas/jobs/1/exec"


def run(client) -> int:
    return client.post(EXEC, {"argv": ["id"]}, content_type="application/json").status_code


@pytest.mark.parametrize("owner", ["ada", "ben"])
def test_nobody_who_acts_as_a_person_runs_commands_beside_that_persons_job_or_anothers(story, owner):
    cluster_with()
    submit(story, getattr(story, owner))
    browser = story.client(story.dot)
    browser.post(f"/atlas/platform/people/{story.ada.id}/act", {"why": "sees no jobs", "minutes": "30"})
    assert run(browser) == 403
    assert run(story.client(story.ada)) == 409


def test_a_token_without_the_right_to_run_commands_runs_none_beside_anothers_job(story):
    cluster_with()
    submit(story, story.ben)
    assert run(story.api(story.ada, scopes=("jobs:read", "jobs:admin"))) == 403
    assert run(story.api(story.ada, scopes=("jobs:read", "jobs:exec"))) == 403
    assert run(story.api(story.ada, scopes=("jobs:read", "jobs:exec", "jobs:admin"))) == 409
