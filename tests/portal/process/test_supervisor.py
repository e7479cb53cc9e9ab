"""The supervisor with real forked processes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from portal.process.supervisor import SupervisedPart, Supervisor
from tests.rig.environment import ROOT

SCRIPT = """
import os, sys, time
from pathlib import Path
from portal.process.supervisor import Supervisor

def steady():
    time.sleep(600)

def broken():
    with open(os.environ["STARTS"], "a") as file:
        file.write("x")
    raise SystemExit(3)

supervisor = Supervisor({"steady": steady, "broken": broken}, Path(os.environ["RUN"]))
supervisor.start()
print("up", flush=True)
while supervisor.tick():
    pass
supervisor.stop()
print("down", flush=True)
"""


class Supervised:
    def __init__(self, folder: Path) -> None:
        self.run, self.starts = folder / "run", folder / "starts"
        environment = {**os.environ, "RUN": str(self.run), "STARTS": str(self.starts)}
        self.process = subprocess.Popen(
            [sys.executable, "-c", SCRIPT],
            cwd=ROOT,
            env=environment,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        assert self.process.stdout is not None
        assert self.process.stdout.readline() == "up\n"

    def pid(self, name: str) -> int:
        return int((self.run / f"{name}.pid").read_text() or 0)


@pytest.fixture
def supervised(tmp_path):
    made = Supervised(tmp_path)
    yield made
    made.process.kill()
    made.process.communicate()


def is_alive(pid: int) -> bool:
    return Path(f"/proc/{pid}").exists()


def test_killed_component_restarts_at_once_with_new_pid_file(supervised, wait_for):
    before = supervised.pid("steady")
    os.kill(before, signal.SIGKILL)
    after = wait_for(
        lambda: supervised.pid("steady") not in {0, before} and supervised.pid("steady"), seconds=5
    )
    assert is_alive(after)


def test_failing_component_restarts_with_growing_pauses(supervised, wait_for):
    wait_for(
        lambda: supervised.starts.exists() and len(supervised.starts.read_text()) >= 4, seconds=5
    )
    seen = len(supervised.starts.read_text())
    assert seen < 8  # 0.1, 0.2, 0.4, 0.8 s …: no busy loop


@pytest.mark.parametrize(("lived", "longest"), [(0.5, 10.0), (4.0, 0.05)])
def test_steady_component_restarts_at_once_after_earlier_failures(tmp_path, lived, longest):
    supervisor, part = Supervisor({}, tmp_path), SupervisedPart("steady", time.sleep, pause=6.4)
    for _ in range(3):
        part.born = time.monotonic() - lived
        supervisor._handle_exit(part, signal.SIGKILL)
    assert longest - 1 < part.due - time.monotonic() <= longest


def test_sigterm_stops_components_then_supervisor(supervised):
    steady = supervised.pid("steady")
    supervised.process.terminate()
    out, _ = supervised.process.communicate(timeout=10)
    assert out == "down\n"
    assert not is_alive(steady)
    assert not list(supervised.run.glob("*.pid"))


def test_components_do_not_outlive_killed_supervisor(supervised, wait_for):
    steady = supervised.pid("steady")
    supervised.process.kill()
    assert wait_for(lambda: not is_alive(steady), seconds=5)


def test_jobs_do_not_inherit_ignored_signals(supervised, wait_for):
    """Signals are blocked during the fork, and unblocked afterwards."""
    path = Path(f"/proc/{supervised.pid('steady')}/status")
    held = sum(
        1 << (number - 1)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGCHLD, signal.SIGHUP)
    )

    def masks() -> int:
        lines = dict(line.split(":", 1) for line in path.read_text().splitlines())
        return int(lines["SigIgn"], 16) | int(lines["SigBlk"], 16)

    wait_for(lambda: not masks() & held)
