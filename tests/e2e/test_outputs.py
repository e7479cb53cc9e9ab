"""The example takes its data from a dataset, is killed, retried, and continues from a checkpoint."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from uuid import UUID

import httpx
import pytest
import yaml

from tests.e2e.test_inputs import connect, connect_pods, slurm_options
from tests.rig.environment import ROOT
from tests.rig.portal import Portal

EXAMPLE = ROOT / "examples" / "digits" / "resume.yaml"
DATA = ROOT / "examples" / "digits" / "digits.csv.gz"


@pytest.fixture(params=("local", "slurm", "kubernetes"))
def where(embedded_portal: Portal, request: pytest.FixtureRequest) -> str:
    """Return the name of a connected cluster of each kind."""
    if request.param == "slurm":
        slurm = request.getfixturevalue("slurm")
        connect(embedded_portal, "slurm", "slurm", slurm_options(slurm, "checkpoints"))
    if request.param == "kubernetes":
        connect_pods(embedded_portal)
        return "pods"
    return str(request.param)


def upload_data(portal: Portal, name: str) -> None:
    """Upload the data of the example as the first version of a dataset."""
    folder = portal.folder.path / name
    folder.mkdir()
    shutil.copy(DATA, folder)
    plain = {name: value for name, value in os.environ.items() if not name.startswith("MUSTER_")}
    ours = {
        "PYTHONPATH": str(ROOT / "client"),
        "MUSTER_URL": portal.url,
        "MUSTER_TOKEN": portal.token(),
    }
    words = ("dataset", "upload", str(folder), name)
    subprocess.run([sys.executable, "-m", "muster", *words], env=plain | ours, check=True)


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
def test_killed_job_continues_from_its_last_checkpoint(embedded_portal, where, wait_for):
    portal, name = embedded_portal, f"digits-{where}"
    upload_data(portal, name)
    spec = yaml.safe_load(EXAMPLE.read_text()) | {"inputs": {"data": f"{name}@1"}}
    spec["outputs"]["ckpt"]["checkpoint"] = f"trained-{where}"
    spec["policy"]["pool"] = where
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
        kill_job(f"muster-{UUID(job()['attempts'][0]['id']).hex}")
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
        version = api.get(f"/checkpoints/trained-{where}/versions/main").json()
        assert version["job_id"] == job()["id"]
        assert version["message"].startswith(f"Job #{number}: step ")


def files(api: httpx.Client, output: dict) -> list[str]:
    """Return the files of the newest version of an output."""
    where = f"/checkpoints/{output['repository']}/tree"
    tree = api.get(
        where, params={"revision": str(output["versions"][0]["version"]), "recursive": 1}
    )
    return [item["path"] for item in tree.json()["items"]]
