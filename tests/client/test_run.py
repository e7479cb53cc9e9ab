"""Test `muster run` as a process: bytes, exit codes and signals."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from typing import IO

import pytest

from tests.client.portal_double import TOKEN, Fault, PortalDouble
from tests.rig.environment import ROOT

QUICK = "import muster.commands.run as r; r.CANCEL_WINDOW = {}; from muster.cli import main; main()"
Start = Callable[..., subprocess.Popen[bytes]]


@pytest.fixture
def start(portal: PortalDouble) -> Start:
    def begin(
        *words: str, second_thought: float = 30, stdout: int | IO[bytes] = subprocess.PIPE
    ) -> subprocess.Popen[bytes]:
        env = {
            **os.environ,
            "PYTHONPATH": str(ROOT / "client"),
            "MUSTER_URL": portal.url,
            "MUSTER_TOKEN": TOKEN,
            "MUSTER_ORG": "atlas",
        }
        return subprocess.Popen(
            [sys.executable, "-c", QUICK.format(second_thought), *words],
            env=env,
            stdout=stdout,
            stderr=subprocess.PIPE,
            bufsize=0,
        )

    return begin


def is_there(portal: PortalDouble) -> Callable[[], bool]:
    return lambda: 1 in portal.jobs and 1 in portal.attempts


def runs(portal: PortalDouble, log: bytes) -> None:
    """Let the submitted job start and write."""
    portal.jobs[1].update(
        {"state": "running", "pending": None, "started_at": "2026-11-20T10:00:00Z"}
    )
    portal.attempts[1][0].update({"state": "running", "started_at": "2026-11-20T10:00:00Z"})
    portal.logs[1, 1].data = log


@pytest.mark.parametrize(
    ("state", "fields", "code"),
    [
        ("succeeded", {"exit_code": 0}, 0),
        ("failed", {"exit_code": 3}, 3),
    ],
)
def test_run_prints_the_log_and_exits_like_the_job(
    portal: PortalDouble, start: Start, wait_for: Callable, state: str, fields: dict, code: int
):
    log = bytes(range(256)) + b"\r\xff no end of line"
    process = start("run", "--", "python", "train.py")
    wait_for(is_there(portal))
    runs(portal, log)
    portal.end(1, state, **fields)
    out, err = process.communicate(timeout=30)
    assert (process.returncode, out) == (code, log)
    assert f"#1 job-1: {state}".encode() in err


def test_run_shows_the_pending_reason_and_next_step(
    portal: PortalDouble, start: Start, wait_for: Callable
):
    process = start("run", "--", "true")
    assert process.stderr
    wait_for(is_there(portal))
    lines = [process.stderr.readline() for _ in range(2)]
    assert b"/atlas/jobs/1" in lines[0]
    assert lines[1] == b"queued: Waits for 1 GPU. Ask for 0.\n"
    portal.end(1, "canceled")
    process.communicate(timeout=30)
    assert process.returncode == 130


def test_run_output_is_exact_after_a_lost_connection(
    portal: PortalDouble, start: Start, wait_for: Callable
):
    process = start("run", "--", "true")
    wait_for(is_there(portal))
    portal.faults.extend([Fault("cut", "/logs"), Fault("drop", "/logs"), Fault(503, "/logs")])
    runs(portal, b"line\n" * 1000)
    portal.end(1, "succeeded", exit_code=0)
    out, _ = process.communicate(timeout=30)
    assert (process.returncode, out) == (0, b"line\n" * 1000)
    assert not portal.faults


def interrupted(process: subprocess.Popen[bytes]) -> None:
    """Send Ctrl-C after the first line of the log; return once it was handled."""
    assert process.stdout
    assert process.stderr
    assert process.stdout.readline() == b"one\n"
    process.send_signal(signal.SIGINT)
    while b"muster job logs -f 1" not in (line := process.stderr.readline()):
        assert line, "it ended without a word about Ctrl-C"


def test_run_first_ctrl_c_leaves_the_job_running(
    portal: PortalDouble, start: Start, wait_for: Callable
):
    process = start("run", "--", "true", second_thought=0.05)
    wait_for(is_there(portal))
    runs(portal, b"one\n")
    interrupted(process)
    process.communicate(timeout=30)
    assert process.returncode == 130
    assert portal.posts("/cancel") == []


def test_run_second_ctrl_c_cancels_and_shows_the_log(
    portal: PortalDouble, start: Start, wait_for: Callable
):
    def ends(number: int) -> None:
        portal.logs[number, 1].data += b"cleaning up\n"
        portal.end(number, "canceled", exit_code=143)

    portal.on_cancel = ends
    process = start("run", "--", "true")
    wait_for(is_there(portal))
    runs(portal, b"one\n")
    interrupted(process)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert (process.returncode, out) == (130, b"cleaning up\n")
    assert len(portal.posts("/cancel")) == 1
    assert b"#1 job-1: canceled" in err


def test_run_closed_pipe_ends_quietly(portal: PortalDouble, start: Start):
    portal.add_job("succeeded", log=b"line\n" * 400_000, complete=True)
    read, write = os.pipe()
    process = start("job", "logs", "1", stdout=write)
    os.close(write)
    assert os.read(read, 4) == b"line"
    os.close(read)
    _, err = process.communicate(timeout=30)
    assert (process.returncode, err) == (141, b"")


def test_run_json_separates_log_and_document(
    portal: PortalDouble, start: Start, wait_for: Callable
):
    process = start("run", "--json", "--", "true")
    wait_for(is_there(portal))
    runs(portal, b"one\n")
    portal.end(1, "succeeded", exit_code=0)
    out, err = process.communicate(timeout=30)
    assert out.startswith(b"{")
    assert err == b"one\n"
