"""The example trainer on the real digits, with each engine installed on this machine."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest

from schedulers.spec.examples import EXAMPLES_DIR
from tests.rig.http_server import LoopbackServer
from tests.rig.processes import free_port

TRAINER = EXAMPLES_DIR / "digits" / "train.py"
SYSTEM = "/usr/bin/python3"  # Debian's Python, which has Debian's PyTorch
ENGINES = {
    "plain": sys.executable,
    "torch": SYSTEM,
    **({"numpy": sys.executable} if importlib.util.find_spec("numpy") else {}),
}
LINE = re.compile(r"^ *(\d+) +(\d+\.\d+) +(\d\.\d+)$", re.MULTILINE)


def train(
    folder: Path, python: str = sys.executable, **variables: str
) -> subprocess.CompletedProcess[str]:
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder), **variables}
    return subprocess.run(
        [python, "-u", TRAINER],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


class Portal(LoopbackServer):
    """A double of the portal's route that the trainer calls: records requests, answers `status`."""

    def __init__(self, status: int):
        super().__init__(_Handler)
        self.status, self.seen = status, []

    @property
    def variables(self) -> dict[str, str]:
        return {
            "MUSTER_URL": self.url,
            "MUSTER_ORG": "atlas",
            "MUSTER_JOB_ID": "j1",
            "MUSTER_TOKEN": "mst_t",
        }


class _Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        sent = self.rfile.read(int(self.headers["Content-Length"]))
        is_json = self.headers["Content-Type"] == "application/json"
        body = json.loads(sent) if is_json else sent
        self.server.seen.append((self.path, self.headers["Authorization"], body))  # type: ignore[attr-defined]
        self.send_response(self.server.status)  # type: ignore[attr-defined]
        self.end_headers()

    do_PUT = do_POST  # noqa: N815 - named by http.server

    def log_message(self, *_: Any) -> None:
        """Log nothing."""


@pytest.fixture
def portal(request: pytest.FixtureRequest) -> Iterator[Portal]:
    with Portal(getattr(request, "param", 202)) as server:
        yield server


@pytest.mark.parametrize(
    "engine",
    [
        "plain",
        *(pytest.param(name, marks=pytest.mark.integration) for name in ENGINES if name != "plain"),
    ],
)
def test_network_learns_to_read_unseen_digits(tmp_path: Path, engine: str) -> None:
    epochs = {"plain": "8", "numpy": "1000", "torch": "30"}[engine]
    done = train(
        tmp_path, ENGINES[engine], DIGITS_ENGINE=engine, DIGITS_EPOCHS=epochs, DIGITS_SECONDS="60"
    )
    assert done.returncode == 0, done.stderr
    assert float(done.stdout.split()[-1]) > 0.9
    curve = [(int(epoch), float(loss)) for epoch, loss, _ in LINE.findall(done.stdout)]
    assert (curve[0][0], curve[-1][0]) == (1, int(epochs))
    assert curve[-1][1] < curve[0][1] / 3
    assert [path.stem for path in (tmp_path / "out").iterdir()] == ["model"]
    assert "no live curves" in done.stdout


@pytest.mark.integration
def test_two_nodes_train_together_and_the_first_reports(tmp_path: Path) -> None:
    folders, port = [tmp_path / "first", tmp_path / "second"], free_port()
    with ThreadPoolExecutor() as pool:
        result = [pool.submit(_node, folder, rank, port) for rank, folder in enumerate(folders)]
        first, second = (one.result() for one in result)
    assert (first.returncode, second.returncode) == (0, 0), first.stderr + second.stderr
    assert float(first.stdout.split()[-1]) > 0.9
    assert "2 ranks" in first.stdout
    assert (second.stdout, (folders[1] / "out").exists()) == ("", False)
    assert [folder.joinpath("parted").read_text() for folder in folders] == ["True", "True"]


@pytest.mark.integration
def test_first_node_leaves_last(tmp_path: Path) -> None:
    """gloo resets connections at its end, so a peer that has not read the last message hangs."""
    folders, port = [tmp_path / "first", tmp_path / "second"], free_port()
    with ThreadPoolExecutor() as pool:
        result = [
            pool.submit(_node, folder, rank, port, LATE=str(3 * rank))
            for rank, folder in enumerate(folders)
        ]
        first, second = (one.result() for one in result)
    assert (first.returncode, second.returncode) == (0, 0), first.stderr + second.stderr
    assert float((folders[0] / "ended").read_text()) >= float((folders[1] / "agreed").read_text())


@pytest.mark.integration
def test_failing_node_leaves_no_other_waiting(tmp_path: Path) -> None:
    folders, port = [tmp_path / "first", tmp_path / "second"], free_port()
    with ThreadPoolExecutor() as pool:
        result = [
            pool.submit(_node, folder, rank, port, MUSTER_OUTPUT_DIR="/proc/nothing")
            for rank, folder in enumerate(folders)
        ]
        first, second = (one.result() for one in result)
    assert "/proc/nothing" in first.stderr and "Traceback" in first.stderr
    assert (first.returncode, second.returncode) == (1, 1), second.stderr
    assert [folder.joinpath("parted").read_text() for folder in folders] == ["True", "True"]


# The trainer, reporting whether the ranks had parted at its end. LATE seconds pass after the
# barrier.
WATCHED = """import atexit, os, pathlib, runpy, sys, time
from torch import distributed
barrier, write = distributed.barrier, lambda name, value: pathlib.Path(name).write_text(str(value))
atexit.register(lambda: (write("parted", not distributed.is_initialized()), write("ended", time.time())))
distributed.barrier = lambda: (barrier(), time.sleep(float(os.environ.get("LATE", "0"))), write("agreed", time.time()))
sys.path.insert(0, str(pathlib.Path(sys.argv[1]).parent))
runpy.run_path(sys.argv[1], run_name="__main__")
"""


def _node(folder: Path, rank: int, port: int, **variables: str) -> subprocess.CompletedProcess[str]:
    folder.mkdir()
    (folder / "watched.py").write_text(WATCHED)
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "DIGITS_ENGINE": "torch",
        "DIGITS_EPOCHS": "30",
        "DIGITS_SECONDS": "60",
        "NODE_RANK": str(rank),
        "NNODES": "2",
        "MASTER_ADDR": "127.0.0.1",
        "MASTER_PORT": str(port),
        **variables,
    }
    return subprocess.run(
        [SYSTEM, "-u", "watched.py", TRAINER],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_test_digits_are_not_in_the_training_set(monkeypatch: pytest.MonkeyPatch) -> None:
    spec = importlib.util.spec_from_file_location(
        "digits_data", EXAMPLES_DIR / "digits" / "data.py"
    )
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "digits_data", module)
    spec.loader.exec_module(module)
    split = module.load()
    learnt, judged = ({tuple(image) for image in part.images} for part in split)
    assert (len(split.train.labels), len(split.test.labels)) == (1437, 360)
    assert not learnt & judged
    assert set(split.test.labels) == set(range(10))


def test_run_stops_at_its_time_limit(tmp_path: Path) -> None:
    done = train(tmp_path, DIGITS_ENGINE="plain", DIGITS_SECONDS="0.5")
    assert done.returncode == 0
    assert 1 <= int(LINE.findall(done.stdout)[-1][0]) < 50


def test_live_curves_arrive_with_the_jobs_token(tmp_path: Path, portal: Portal) -> None:
    done = train(tmp_path, DIGITS_ENGINE="plain", DIGITS_EPOCHS="2", **portal.variables)
    points = [point for _, _, body in portal.seen for point in body["points"]]
    assert {(path, token) for path, token, _ in portal.seen} == {
        ("/api/v1/orgs/atlas/jobs/j1/metrics", "Bearer mst_t")
    }
    assert [(point["name"], point["step"]) for point in points] == [
        ("loss", 1),
        ("accuracy", 1),
        ("loss", 2),
        ("accuracy", 2),
    ]
    assert all(
        isinstance(point["value"], float) and point["at"] > 1_600_000_000_000 for point in points
    )
    assert "4 points sent to the portal" in done.stdout
    assert done.stderr == ""


def test_run_gets_params_and_the_model(tmp_path: Path, portal: Portal) -> None:
    settings = {"DIGITS_ENGINE": "plain", "DIGITS_EPOCHS": "1", "DIGITS_RATE": "0.5"}
    done = train(tmp_path, **settings, MUSTER_RUN_ID="r1", **portal.variables)
    (log, _, logged), *_, (file, _, model) = portal.seen
    assert log == "/api/v1/orgs/atlas/runs/r1/log"
    assert logged["params"] == {
        "engine": "plain Python",
        "learning_rate": "0.0015",
        "seed": "0",
        "seconds": "25.0",
    }
    assert file == "/api/v1/orgs/atlas/runs/r1/artifacts/model.json"
    assert model == (tmp_path / "out/model.json").read_bytes()
    assert "model stored with the run" in done.stdout


@pytest.mark.integration
def test_each_array_task_draws_its_own_curve(tmp_path: Path, portal: Portal) -> None:
    train(
        tmp_path,
        DIGITS_ENGINE="plain",
        DIGITS_EPOCHS="1",
        MUSTER_ARRAY_INDEX="3",
        **portal.variables,
    )
    assert [point["name"] for _, _, body in portal.seen for point in body["points"]] == [
        "loss/3",
        "accuracy/3",
    ]


@pytest.mark.integration
def test_diverging_training_ends_well_and_reports_only_numbers(
    tmp_path: Path, portal: Portal
) -> None:
    done = train(
        tmp_path, DIGITS_ENGINE="plain", DIGITS_EPOCHS="2", DIGITS_RATE="1e200", **portal.variables
    )
    assert done.returncode == 0, done.stderr
    assert {point["name"] for _, _, body in portal.seen for point in body["points"]} == {"accuracy"}


@pytest.mark.parametrize("portal", [403], indirect=True)
def test_refusing_portal_costs_one_warning(tmp_path: Path, portal: Portal) -> None:
    done = train(tmp_path, DIGITS_ENGINE="plain", DIGITS_EPOCHS="3", **portal.variables)
    assert done.returncode == 0
    assert done.stderr.count("warning: the portal did not take data") == 1
    assert "points sent" not in done.stdout
    assert len(portal.seen) >= 1


def test_unreachable_portal_costs_one_warning(tmp_path: Path) -> None:
    done = train(
        tmp_path,
        DIGITS_ENGINE="plain",
        DIGITS_EPOCHS="2",
        MUSTER_URL="http://127.0.0.1:1",
        MUSTER_ORG="a",
        MUSTER_JOB_ID="b",
    )
    assert done.returncode == 0
    assert done.stderr.count("warning") == 1


def test_missing_engine_is_an_error(tmp_path: Path) -> None:
    done = train(tmp_path, DIGITS_ENGINE="abacus", DIGITS_EPOCHS="1")
    assert done.returncode == 1
    assert "engine_abacus" in done.stderr
