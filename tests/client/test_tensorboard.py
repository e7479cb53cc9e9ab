"""Test `muster tensorboard sync`: event files of real writers reach the run of the job, once each."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys

import pytest

from experiments import event_files as ours
from muster import event_files, tensorboard
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


def test_client_has_the_same_reader_as_the_portal():
    with open(ours.__file__) as portal, open(event_files.__file__) as client:
        assert portal.read() == client.read()


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
    assert values(portal)[8] == ("val/loss", 1, "NaN")
    assert sync(logs, "--once").communicate(timeout=30)[0] == "Sent 0 points.\n"
    assert len(portal.points) == 9
    (logs / tensorboard.STATE).unlink()  # a new pod sends everything again; the portal ignores it
    assert sync(logs, "--once").communicate(timeout=30)[0] == "Sent 9 points.\n"


@pytest.mark.usefixtures("inside")
def test_outage_delays_and_refused_and_damaged_files_do_not_stop_others(
    portal: PortalDouble, logs, monkeypatch
):
    monkeypatch.setattr(tensorboard, "time", StandIn(tensorboard.time, sleep=lambda _: None))
    os.mkfifo(logs / "events.out.tfevents.0")
    (logs / "events.out.tfevents.2").write_text("not a record, but long enough to be read")
    shutil.copy(NEW, logs / "events.out.tfevents.3")
    portal.faults += [Fault(503), Fault("drop"), Fault(400)]
    said: list[str] = []
    found = tensorboard.Sync(logs, place_of_job(), said.append)
    assert found.send_new() == 3
    assert [text.split()[0] for text in said] == [f"events.out.tfevents.{n}" for n in (1, 2)]
    assert [name for name, *_ in values(portal)] == ["epoch_loss"] * 3
    assert (
        json.loads((logs / tensorboard.STATE).read_text())["offsets"]["events.out.tfevents.1"] < 0
    )
    assert found.send_new() == 0


def test_sync_outside_of_a_job_is_an_error(tmp_path, monkeypatch):
    monkeypatch.delenv("MUSTER_JOB_ID", raising=False)
    process = sync(tmp_path, stderr=subprocess.PIPE)
    assert "inside a job" in process.communicate(timeout=30)[1] and process.returncode == 5
