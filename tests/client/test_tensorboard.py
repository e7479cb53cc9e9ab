"""Test `muster tensorboard sync`: event files of real writers reach the run of the job, once each."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from math import isnan

import pytest

from muster import tensorboard
from muster.training import place_of_job
from tests.client.portal_double import Fault, PortalDouble
from tests.client.test_training import inside, values  # noqa: F401  a fixture
from tests.experiments.test_tensorboard import NEW, OLD, event
from tests.rig.environment import ROOT
from tests.stand_in import StandIn

SYNC = [sys.executable, "-m", "muster", "tensorboard", "sync"]
LOSS = [("loss/train", n, pytest.approx(1 / (n + 1))) for n in range(5)]


@pytest.fixture
def logs(tmp_path):
    shutil.copy(OLD, tmp_path / "events.out.tfevents.1")
    return tmp_path


def sync(*words: object, **more) -> subprocess.Popen[str]:
    env = {**os.environ, "PYTHONPATH": str(ROOT / "client")}
    return subprocess.Popen(
        [*SYNC, *map(str, words)], env=env, stdout=subprocess.PIPE, text=True, **more
    )


@pytest.mark.usefixtures("inside")
def test_growing_files_are_sent_once_also_over_restarts(portal: PortalDouble, logs, wait_for):
    data = OLD.read_bytes()
    (logs / "events.out.tfevents.1").write_bytes(data[:300])
    process = sync(logs, "--every", "0.1")
    wait_for(lambda: portal.points)
    (logs / "events.out.tfevents.1").write_bytes(data)
    shutil.copy(NEW, logs / "events.out.tfevents.2")
    wait_for(lambda: len(portal.points) == 8)
    (logs / "val").mkdir()
    (logs / "val/events.out.tfevents.3").write_bytes(event(b"loss", float("nan")))
    process.send_signal(signal.SIGTERM)
    assert (process.communicate(timeout=30)[0], process.returncode) == ("Sent 9 points.\n", 0)
    assert values(portal)[:5] == LOSS
    assert values(portal)[8][:2] == ("val/loss", 1) and isnan(values(portal)[8][2])
    assert sync(logs, "--once").communicate(timeout=30)[0] == "Sent 0 points.\n"
    assert len(portal.points) == 9
    assert [path.name for path in logs.iterdir() if path.name.startswith(".")] == []


@pytest.mark.usefixtures("inside")
def test_outage_delays_and_refused_and_damaged_files_do_not_stop_others(
    portal: PortalDouble, logs, monkeypatch
):
    monkeypatch.setattr(tensorboard, "time", StandIn(tensorboard.time, sleep=lambda _: None))
    os.mkfifo(logs / "events.out.tfevents.0")
    damaged = event(b"good", 1) + b"damaged" + event(b"later", 3)
    (logs / "events.out.tfevents.2").write_bytes(damaged)
    shutil.copy(NEW, logs / "events.out.tfevents.3")
    portal.faults += [Fault(503), Fault("drop"), Fault(400)]
    said: list[str] = []
    found = tensorboard.Sync(logs, place_of_job(), said.append)
    assert found.send_new() == 5
    assert [text.split()[0].strip(":") for text in said] == [
        f"events.out.tfevents.{n}" for n in (1, 2)
    ]
    assert said[1].endswith(" 7 bytes are damaged and were skipped")
    names = [name for name, *_ in values(portal)]
    assert names == ["good", "later", *["epoch_loss"] * 3]
    assert found.send_new() == 0


def test_sync_outside_of_a_job_is_an_error(tmp_path, monkeypatch):
    monkeypatch.delenv("MUSTER_JOB_ID", raising=False)
    process = sync(tmp_path, stderr=subprocess.PIPE)
    assert "inside a job" in process.communicate(timeout=30)[1] and process.returncode == 5
