"""A real job logs with the SDK and writes event files; its run is found, copied and reproduced.

MLflow's own server is imported into the same portal, twice.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.rig.environment import ROOT
from tests.rig.mlflow import MlflowClient, start_mlflow_server
from tests.rig.portal import Portal
from tests.rig.processes import Folder

pytestmark = pytest.mark.integration
EVENTS = ROOT / "tests/experiments/events/tensorboardx.tfevents"
TRAIN = """
import muster, os, shutil, sys
muster.init(experiment="digits")
muster.log_params({"lr": 3e-4, "layers": 4})
for step in range(50):
    muster.log({"loss": 1 / (step + 1)}, step=step)
open("weights.bin", "wb").write(bytes(range(256)) * 1000)
assert muster.log_artifact("weights.bin", to="model")
folder = os.path.join(os.environ["MUSTER_OUTPUT_DIR"], "runs/validation")
os.makedirs(folder)
shutil.copy(sys.argv[1], os.path.join(folder, "events.out.tfevents.1.host"))
"""


@dataclass
class Shell:
    """The `muster` command, signed in to a portal."""

    portal: Portal
    token: str
    folder: Path

    def __call__(self, *words: str, code: int = 0, **env: str) -> Any:
        """Run a command with --json and return its answer."""
        done = subprocess.run(
            [sys.executable, "-m", "muster", "--json", *words],
            env={
                **os.environ,
                "PYTHONPATH": str(ROOT / "client"),
                "MUSTER_URL": self.portal.url,
                "MUSTER_TOKEN": self.token,
                "MUSTER_CONFIG": str(self.folder / "none"),
                **env,
            },
            capture_output=True,
            text=True,
            cwd=self.folder,
            timeout=300,
            check=False,
        )
        assert done.returncode == code, (words, done.stdout[-2000:], done.stderr[-2000:])
        return json.loads(done.stdout)


@pytest.fixture(scope="module")
def portal(rig: Folder) -> Iterator[Portal]:
    made = Portal(rig, name="journey", is_furnished=True)
    made.start()
    yield made
    made.stop()


@pytest.fixture
def muster(portal: Portal, tmp_path: Path) -> Shell:
    return Shell(portal, portal.token(), tmp_path)


def test_run_of_a_real_job_has_what_the_program_logged(
    muster: Shell, shared_folder: Path, wait_for: Callable[..., Any]
):
    script = shared_folder / "train.py"
    script.write_text(TRAIN)
    events = shared_folder / "events"
    events.write_bytes(EVENTS.read_bytes())
    shutil.copytree(ROOT / "client/muster", shared_folder / "muster")
    command = f"PYTHONPATH={shared_folder} {sys.executable} {script} {events}"
    job = muster("run", "--name", "sft", "--", "sh", "-c", command)
    assert job["state"] == "succeeded", job
    run_id = job["id"].replace("-", "")

    def run() -> Any:
        found = muster("runs", "show", run_id)
        return found if len(found["metrics"]) == 2 and found["status"] == "FINISHED" else None

    found = wait_for(run, 30, 0.5)
    assert found["params"] == {"lr": "0.0003", "layers": "4"}
    assert found["metrics"]["loss"]["value"] == 0.02 and found["metrics"]["loss"]["step"] == 49
    assert found["metrics"]["validation/loss/train"]["step"] == 4
    assert (found["job"], found["name"]) == (job["number"], "sft")
    assert muster("experiment", "show", "digits")["number"] == found["experiment"]
    [curve] = muster("runs", "metrics", run_id, "loss")["series"]
    assert curve["steps"] == list(range(50))
    listed = muster("runs", "list", "metrics.loss < 0.1 and params.lr = '0.0003'", "-e", "digits")
    assert [r["id"] for r in listed["items"]] == [run_id]
    muster("runs", "download", run_id, "--to", "copy")
    assert (muster.folder / "copy/model/weights.bin").read_bytes() == bytes(range(256)) * 1000

    again = muster("runs", "reproduce", run_id)
    assert again["number"] == job["number"] + 1
    wait_for(lambda: muster("runs", "show", f"#{again['number']}")["status"] == "FINISHED", 60, 1)
    compared = muster("runs", "compare", run_id, f"#{again['number']}")
    assert compared["runs"][0]["id"] == run_id

    muster("runs", "log", run_id, "accuracy=0.97", "--step", "50", "--tag", "best=yes")
    muster("runs", "upload", run_id, str(script), "--to", "code")
    muster("experiment", "delete", "digits")
    muster("experiment", "restore", str(found["experiment"]))
    final = muster("runs", "show", run_id)
    assert final["metrics"]["accuracy"]["value"] == 0.97 and final["tags"]["best"] == "yes"
    assert final["tags"]["muster.cluster"] == "local"


SOURCE = """
import json, math, mlflow, os, sys
mlflow.set_experiment("vision")
with mlflow.start_run(run_name="parent", tags={"team": "a"}) as parent:
    mlflow.log_params({"lr": 0.1})
    for step in range(30):
        mlflow.log_metric("loss", 1 / (step + 1), step=step)
    mlflow.log_metric("bad", math.nan)
    mlflow.log_metric("big", math.inf)
    mlflow.log_text("hello", "notes/a b.txt")
    with mlflow.start_run(nested=True, run_name="child") as child:
        mlflow.log_metric("loss", 0.5, step=1)
class Double(mlflow.pyfunc.PythonModel):
    def predict(self, context, model_input, params=None):
        return model_input
with mlflow.start_run(run_name="registers") as registers:
    mlflow.pyfunc.log_model(name="m", python_model=Double(), registered_model_name="double")
mlflow.MlflowClient().set_registered_model_alias("double", "champion", 1)
print(json.dumps([parent.info.run_id, child.info.run_id, registers.info.run_id]))
"""


def test_import_of_an_mlflow_server_is_complete_and_repeatable(
    muster: Shell, rig: Folder, tmp_path: Path
):
    url = start_mlflow_server(rig)
    program = tmp_path / "source.py"
    program.write_text(SOURCE)
    source = MlflowClient("mlflow3", url, tmp_path)
    parent, child, registers = source.run(str(program))
    first = muster("experiment", "import", url)
    assert first["failures"] == []
    assert (first["runs"], first["new_runs"], first["versions"]) == (3, 3, 1)
    assert first["points"] == 33

    found = muster("runs", "show", parent)  # it kept its id
    assert (found["name"], found["status"], found["params"]) == (
        "parent",
        "FINISHED",
        {"lr": "0.1"},
    )
    assert found["tags"]["team"] == "a"
    last = {name: (p["value"], p["step"]) for name, p in found["metrics"].items()}
    largest = 1.7976931348623157e308  # which MLflow's own server stores for infinity
    assert last == {"loss": (1 / 30, 29), "bad": ("NaN", 0), "big": (largest, 0)}
    [curve] = muster("runs", "metrics", parent, "loss")["series"]
    assert curve["values"] == [1 / (n + 1) for n in range(30)]
    assert muster("runs", "show", child)["parent"] == parent
    muster("runs", "download", parent, "--to", "copy")
    assert (tmp_path / "copy/notes/a b.txt").read_text() == "hello"

    muster("runs", "download", registers, "--to", "model")
    assert "python_function" in (tmp_path / "model/m/MLmodel").read_text()
    registered = muster("model", "register", "copy", f"runs:/{registers}/m")
    assert registered["version"] == 1

    second = muster("experiment", "import", url)
    assert second["runs"] == 3 and second["failures"] == []
    assert [second[n] for n in ("new_runs", "points", "files", "versions")] == [0, 0, 0, 0]
    program.write_text(
        f"import mlflow\nc = mlflow.MlflowClient()\nc.log_metric('{child}', 'loss', 0.25, step=2)\n"
        f"c.log_text('{child}', 'new', 'new.txt')\nprint('[]')"
    )
    source.run(str(program))
    third = muster("experiment", "import", url)
    assert [third[n] for n in ("new_runs", "files", "versions")] == [0, 1, 0]
    assert muster("runs", "show", child)["metrics"]["loss"]["value"] == 0.25
