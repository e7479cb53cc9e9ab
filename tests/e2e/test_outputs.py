"""The example with checkpoints on this machine: it is killed, retried, and continues."""

from __future__ import annotations

import os
import re
import signal
from pathlib import Path
from uuid import UUID

import httpx
import pytest
import yaml

from tests.rig.environment import ROOT

EXAMPLE = ROOT / "examples" / "digits" / "resume.yaml"


def kill_job(key: str) -> None:
    """Kill all processes of a job with SIGKILL, also the shell that would write its exit code."""
    mark = f"MUSTER_JOB_KEY={key}".encode()
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and mark in (entry / "environ").read_bytes():
                os.kill(int(entry.name), signal.SIGKILL)
        except OSError:
            continue


@pytest.mark.integration  # in the gate: tests/jobs/test_saving.py
def test_killed_job_continues_from_its_last_checkpoint(embedded_portal, wait_for):
    spec = yaml.safe_load(EXAMPLE.read_text())
    spec["envs"] |= {"DIGITS_ENGINE": "plain", "DIGITS_SAVE_EVERY": "2", "DIGITS_SECONDS": "600"}
    # Only the attempt that continues ends by itself.
    spec["run"] = f'[ -z "$MUSTER_RESUME" ] || export DIGITS_SECONDS=8\n{spec["run"]}'
    spec["outputs"]["ckpt"]["every"] = "2s"
    headers = {"Authorization": f"Bearer {embedded_portal.token()}"}
    with httpx.Client(base_url=f"{embedded_portal.url}/api/v1/orgs/home", headers=headers) as api:
        number = api.post("/jobs", json={"team": "default", "spec": spec}).json()["number"]

        def job() -> dict:
            return api.get(f"/jobs/{number}").json()

        def log(attempt: int) -> str:
            return api.get(f"/jobs/{number}/logs", params={"attempt": attempt}).text

        def output() -> dict:
            return api.get(f"/jobs/{number}/outputs").json()["items"][0]

        wait_for(lambda: output()["versions"], 120, 0.5)
        attempt = UUID(job()["attempts"][0]["id"])
        kill_job(f"muster-{attempt.hex}")
        wait_for(lambda: job()["attempt_count"] == 2, 60, 0.5)
        wait_for(lambda: job()["state"] in ("succeeded", "failed"), 180, 0.5)
        assert job()["state"] == "succeeded", log(2)
        wait_for(lambda: output()["state"] == "saved" and "checkpoint" in log(2), 60, 0.5)

        before = [int(n) for n in re.findall(r"checkpoint epoch-(\d+)", log(1))]
        continued = re.search(r"continues after epoch (\d+)", log(2))
        assert continued, log(2)
        assert int(continued[1]) in before  # of a whole checkpoint of the killed attempt
        wait_for(lambda: "epoch" in str(files(api, output())), 60, 0.5)
        saved = output()
        assert saved["is_resumed"]
        assert len(saved["versions"]) <= 4  # the last three, and the best
        last = [int(n) for n in re.findall(r"checkpoint epoch-(\d+)", log(2))][-1]
        wait_for(lambda: files(api, output())[-1].startswith(f"epoch-{last:06d}/"), 60, 0.5)
        version = api.get("/checkpoints/digits/versions/main").json()
        assert version["job_id"] == job()["id"]
        assert version["message"].startswith(f"Job #{number}: step ")


def files(api: httpx.Client, output: dict) -> list[str]:
    """Return the files of the newest version of an output."""
    where = f"/checkpoints/{output['repository']}/tree"
    tree = api.get(
        where, params={"revision": str(output["versions"][0]["version"]), "recursive": 1}
    )
    return [item["path"] for item in tree.json()["items"]]
