"""Test `muster.log`: points arrive, and errors never affect the training."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from decimal import Decimal

import pytest

import muster
from muster import training
from tests.client.portal_double import TOKEN, Fault, PortalDouble
from tests.rig.environment import ROOT
from tests.stand_in import StandIn


@pytest.fixture
def inside(portal: PortalDouble, monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, str]]:
    """Set the environment of a job, without an earlier test's reporter."""
    portal.add_job()
    env = {
        "MUSTER_URL": portal.url,
        "MUSTER_ORG": "atlas",
        "MUSTER_JOB_ID": "1",
        "MUSTER_TOKEN": TOKEN,
    }
    for name, value in env.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(training, "_current", None)
    monkeypatch.setattr(training, "EVERY", 0.01)
    yield env
    if reporter := training._current:
        reporter.close()
        reporter._is_closed = True
        reporter._due.set()
        reporter._thread.join()


def script(text: str, env: dict[str, str]) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, **env, "PYTHONPATH": str(ROOT / "client")}
    return subprocess.run(
        [sys.executable, "-c", text],
        env=env,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def values(portal: PortalDouble) -> list[tuple[str, int | None, float]]:
    return [(point["name"], point["step"], point["value"]) for point in portal.points]


def test_points_arrive_with_name_step_value_and_time(portal: PortalDouble, inside: dict, wait_for):
    before = int(time.time() * 1000)
    muster.log(step=1, loss=0.5)
    muster.log({"val/acc": Decimal("0.25")}, step=2)
    muster.log(lr=1)
    wait_for(lambda: len(portal.points) == 3)
    assert values(portal) == [("loss", 1, 0.5), ("val/acc", 2, 0.25), ("lr", None, 1.0)]
    assert all(before <= point["at"] <= time.time() * 1000 for point in portal.points)


def test_points_survive_an_outage_in_order(
    portal: PortalDouble, inside: dict, wait_for, capsys: pytest.CaptureFixture[str]
):
    portal.faults.extend([Fault(503), Fault("drop"), Fault(429)])
    for step in range(50):
        muster.log(step=step, loss=step)
    wait_for(lambda: len(portal.points) >= 50)
    assert values(portal) == [("loss", step, step) for step in range(50)]


def test_points_left_are_sent_at_exit(portal: PortalDouble, inside: dict):
    done = script("import muster\nfor s in range(2500): muster.log(step=s, loss=s)", inside)
    assert (done.returncode, done.stderr) == (0, "")
    assert [point["step"] for point in portal.points] == list(range(2500))


def test_log_without_a_portal_neither_fails_nor_blocks_training(portal: PortalDouble, inside: dict):
    portal.close()
    done = script(
        "import muster, muster.training as t\nt.EXIT_WAIT = 0.3\nmuster.log(step=1, "
        "loss=1)\nprint('trained')",
        inside,
    )
    assert (done.returncode, done.stdout) == (0, "trained\n")
    assert done.stderr.count("muster:") == len(done.stderr.splitlines()) <= 2


def test_points_refused_are_dropped_with_one_warning(
    portal: PortalDouble, inside: dict, wait_for, capsys: pytest.CaptureFixture[str]
):
    portal.faults.extend([Fault(403), Fault(403)])
    muster.log(step=1, loss=1)
    wait_for(lambda: len(portal.asked) == 1)
    muster.log(step=2, loss=2)
    wait_for(lambda: len(portal.asked) == 2)
    muster.log(step=3, loss=3)
    wait_for(lambda: portal.points)
    assert values(portal) == [("loss", 3, 3.0)]
    assert capsys.readouterr().err.count("metrics were rejected") == 1


@pytest.mark.parametrize("odd", [None, "text", object(), float("nan"), float("inf")])
def test_log_skips_non_numbers_with_a_warning(
    portal: PortalDouble, inside: dict, wait_for, capsys, odd: object
):
    muster.log(step=1, odd=odd, loss=1)  # type: ignore[arg-type]
    wait_for(lambda: portal.points)
    assert values(portal) == [("loss", 1, 1.0)]
    assert "odd" in capsys.readouterr().err


def test_log_outside_a_job_does_nothing(portal: PortalDouble):
    done = script(
        "import muster, threading\nmuster.log(step=1, loss=1)\nprint(threading.active_count())", {}
    )
    assert (done.stdout, done.stderr) == ("1\n", "")


def facts(portal: PortalDouble, kind: str = "params") -> list[tuple[str, str]]:
    return [(row["key"], row["value"]) for body in portal.batches for row in body.get(kind, [])]


def test_params_and_tags_go_to_the_run_of_the_job(portal: PortalDouble, inside: dict, wait_for):
    portal.faults.append(Fault(503, "log-batch"))
    muster.log_param("lr", 3e-4)
    muster.log_params({f"p{n}": n for n in range(150)})
    muster.set_tags({"stage": "sft"})
    wait_for(lambda: facts(portal, "tags"))
    assert facts(portal) == [("lr", "0.0003"), *((f"p{n}", str(n)) for n in range(150))]
    assert facts(portal, "tags") == [("stage", "sft")]
    assert {body["run_id"] for body in portal.batches} == {"1"}
    assert max(len(body.get("params", [])) for body in portal.batches) <= 100


def test_refused_param_stops_neither_the_others_nor_the_training(
    portal: PortalDouble, inside: dict, wait_for, capsys
):
    muster.log_params({"a": 1, "taken": 2, "b": 3})
    wait_for(lambda: len(facts(portal)) == 2)
    assert facts(portal) == [("a", "1"), ("b", "3")]
    wait_for(lambda: not training._current.rows)
    err = capsys.readouterr().err
    assert err.count("muster:") == 1 and "params taken were rejected" in err


def test_files_and_folders_are_stored_with_the_run(portal, inside, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(training, "time", StandIn(training.time, sleep=lambda _: None))
    (tmp_path / "model/sub").mkdir(parents=True)
    for name in ("model/a.bin", "model/sub/b c.txt"):
        (tmp_path / name).write_bytes(name.encode())
    portal.faults.append(Fault(503, "artifacts"))
    assert muster.log_artifact(tmp_path / "model", to="best")
    assert muster.log_artifact(str(tmp_path / "model/a.bin"))
    assert portal.files == {
        "1/best/model/a.bin": b"model/a.bin",
        "1/best/model/sub/b c.txt": b"model/sub/b c.txt",
        "1/a.bin": b"model/a.bin",
    }
    portal.faults.append(Fault(409, "artifacts"))
    assert not muster.log_artifact(tmp_path / "model/a.bin")
    assert not muster.log_artifact(tmp_path / "nothing")
    assert capsys.readouterr().err.count("was not stored") == 2


OUTSIDE = """
import muster
with muster.init("{experiment}", name="try", params={{"lr": 1}}) as run:
    muster.log({{"loss": 0.5}}, step=3)
    print(run.id)
"""


@pytest.mark.parametrize(("experiment", "number"), [("known", "7"), ("new", "8")])
def test_init_outside_of_jobs_creates_a_run(portal: PortalDouble, experiment, number):
    env = {"MUSTER_URL": portal.url, "MUSTER_TOKEN": TOKEN, "MUSTER_ORG": "atlas"}
    done = script(OUTSIDE.format(experiment=experiment), env)
    assert (done.returncode, done.stdout, done.stderr) == (0, "r1\n", "")
    created, ended = portal.run_updates
    assert (created["experiment_id"], created["run_name"]) == (number, "try")
    assert ended["run_id"] == "r1" and ended["status"] == "FINISHED"
    metrics = [row for body in portal.batches for row in body.get("metrics", [])]
    assert [(m["key"], m["value"], m["step"]) for m in metrics] == [("loss", 0.5, 3)]
    assert facts(portal) == [("lr", "1")]


def test_run_of_a_program_that_fails_is_marked(portal: PortalDouble):
    env = {"MUSTER_URL": portal.url, "MUSTER_TOKEN": TOKEN, "MUSTER_ORG": "atlas"}
    done = script("import muster\nmuster.init()\nmuster.log(loss=1)\n1 / 0", env)
    assert done.returncode == 1 and "ZeroDivisionError" in done.stderr
    assert portal.run_updates[-1]["status"] == "FAILED" and portal.batches


def test_init_says_what_is_missing(portal: PortalDouble):
    done = script("import muster\nmuster.init()", {"MUSTER_URL": "", "MUSTER_CONFIG": "/none"})
    assert "muster login" in done.stderr
    env = {"MUSTER_URL": portal.url, "MUSTER_TOKEN": "mst_wrong", "MUSTER_ORG": "atlas"}
    assert "NotAuthenticated: Sign in" in script("import muster\nmuster.init()", env).stderr


def test_log_in_a_forked_worker_sends_only_its_points(portal: PortalDouble, inside: dict):
    text = (
        "import muster, os, sys\nmuster.log(step=1, parent=1)\nif os.fork() == 0:\n    "
        "muster.log(step=2, child=1)\n    sys.exit()\nos.wait()"
    )
    assert script(text, inside).returncode == 0
    assert sorted(point["name"] for point in portal.points) == ["child", "parent"]


def test_log_imports_only_the_standard_library(inside: dict):
    done = script(
        "import muster, sys\nmuster.log(step=1, loss=1)\nprint([m for m in ('httpx', 'typer', "
        "'rich') if m in sys.modules])",
        inside,
    )
    assert done.stdout == "[]\n"
