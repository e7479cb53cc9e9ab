"""Commands inside running jobs: permissions and environment.

A caller with permission gets 409 for a job that does not run.
"""

from __future__ import annotations

import os
import subprocess

import pytest

from jobs.models import Attempt, Job
from jobs.services import exec as exec_service
from portal.core.models import Event
from schedulers.contract import Capability
from schedulers.states import State
from tests.jobs.backend_double import BackendDouble
from tests.jobs.stage import cluster_with, submit
from workspaces.credentials.secrets import set_secret
from workspaces.tenancy.scope import org_scope, platform_scope

EXEC = "/api/v1/orgs/atlas/jobs/1/exec"


def run(client) -> int:
    return client.post(EXEC, {"argv": ["id"]}, content_type="application/json").status_code


@pytest.mark.parametrize("owner", ["ada", "ben"])
def test_exec_as_another_person_is_forbidden(story, owner):
    cluster_with()
    submit(story, getattr(story, owner))
    browser = story.client(story.dot)
    browser.post(f"/platform/people/{story.ada.id}/act", {"why": "sees no jobs", "minutes": "30"})
    assert run(browser) == 403
    assert run(story.client(story.ada)) == 409


def test_exec_in_anothers_job_without_the_scope_is_forbidden(story):
    cluster_with()
    submit(story, story.ben)
    assert run(story.api(story.ada, scopes=("jobs:read", "jobs:admin"))) == 403
    assert run(story.api(story.ada, scopes=("jobs:read", "jobs:exec"))) == 403
    assert run(story.api(story.ada, scopes=("jobs:read", "jobs:exec", "jobs:admin"))) == 403
    assert run(story.api(story.ada, scopes=("jobs:read", "jobs:exec", "jobs:exec-others"))) == 409


class ExecBackend(BackendDouble):
    """Record the command and run it here with the variables of a job."""

    capabilities = frozenset({Capability.EXEC})

    def exec(self, key: str, argv: list[str], timeout: float) -> tuple[int, bytes]:
        env = {
            "PATH": os.environ["PATH"],
            "MUSTER_TOKEN": "s3same",
            "KEY": "s3same",
            "WORD": "plain",
        }
        done = subprocess.run(argv, env=env, capture_output=True, check=False)
        return done.returncode, done.stdout


def test_exec_in_anothers_job_hides_token_and_secrets_and_is_recorded(story, monkeypatch):
    cluster_with()
    with org_scope(story.atlas.id):
        set_secret(
            actor=story.actor(story.ada),
            org=story.atlas,
            team=story.vision,
            name="key",
            value="s3same",
        )
    job = submit(story, story.ben, secrets={"KEY": "team/key"})
    monkeypatch.setattr(exec_service, "backend_of", lambda cluster: ExecBackend())
    with platform_scope("test"):
        Attempt.objects.update(state=State.RUNNING)
        Job.objects.update(state=State.RUNNING)
    body = {"argv": ["env"]}
    own = story.client(story.ben).post(EXEC, body, content_type="application/json").json()
    anothers = story.client(story.ada).post(EXEC, body, content_type="application/json").json()
    assert str(own).count("s3same") == 2
    assert "plain" in str(anothers) and "s3same" not in str(anothers)
    assert Event.objects.filter(
        kind="job.command_run",
        subject_id=job.id,
        data__owner=story.ben.email,
        actor=story.ada.email,
    ).exists()
