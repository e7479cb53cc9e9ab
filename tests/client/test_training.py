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
    if training._current:
        training._current.close()


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
