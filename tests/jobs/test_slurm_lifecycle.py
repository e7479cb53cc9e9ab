"""Smoke test of a real Slurm, by slurmrestd and by commands: three jobs from API to end."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from schedulers.states import Reason, State
from tests.jobs.slurm_site import site_on
from tests.rig.slurm import Slurm
from tests.story import Story

JOBS = "/api/v1/orgs/atlas/jobs"


@pytest.mark.parametrize("by_rest", [True, False], ids=["rest", "commands"])
def test_slurm_jobs_are_submitted_run_logged_canceled_and_fail(
    story: Story, slurm: Slurm, home: Path, by_rest: bool
) -> None:
    client = story.api(story.ada)

    def post(path: str, body: dict[str, Any]) -> dict[str, Any]:
        answer = client.post(path, json.dumps(body), content_type="application/json")
        assert answer.status_code in {200, 201}, answer.content
        return answer.json()

    def submit(run: str, gpus: int) -> int:
        spec = {"run": run, "envs": {"WORD": "it's ä"}, "resources": {"accelerators": gpus}}
        return post(JOBS, {"team": "vision", "spec": spec})["number"]

    def job(number: int) -> dict[str, Any]:
        return client.get(f"{JOBS}/{number}").json()

    def log(number: int) -> bytes:
        return client.get(f"{JOBS}/{number}/logs/download").getvalue()

    with site_on(story, slurm, by_rest=by_rest) as site:
        works = submit(
            'echo "$WORD"; id -un; echo "$CUDA_VISIBLE_DEVICES" | tr , "\\n" | wc -l', gpus=2
        )
        fails = submit("no-such-program --now; exit $?", gpus=0)
        stays = submit("trap 'echo bye; exit 0' TERM; echo up; while :; do sleep 0.1; done", gpus=0)
        site.until(lambda: b"up\n" in log(stays), 60)
        assert job(stays)["state"] == "running"
        post(f"{JOBS}/{stays}/cancel", {"why": "seen enough"})
        site.until(site.is_over, 60)
        site.until(lambda: b"bye\n" in log(stays), 30)
        site.until(lambda: log(works).count(b"\n") == 3, 30)

        assert site.states() == [State.SUCCEEDED, State.FAILED, State.CANCELED], site.describe()
        assert log(works).decode() == f"it's ä\n{slurm.user}\n2\n"
        failed = job(fails)
        assert (failed["reason"]["code"], failed["exit_code"]) == (Reason.COMMAND_NOT_FOUND, 127)
        assert "no-such-program: command not found" in failed["reason"]["evidence"]
