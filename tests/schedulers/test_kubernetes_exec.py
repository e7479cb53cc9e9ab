"""Test exec in a running pod.

Against a double with the websocket of `kubectl exec`, or a real cluster (tests/rig/kube.py).
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from schedulers.contract import Rejected, Unavailable
from schedulers.kubernetes.backend import KubernetesBackend
from schedulers.states import State
from tests.rig.kube import folder_of, options_of
from tests.schedulers.kubernetes_stage import launch, state_of


@pytest.fixture
def anywhere() -> Iterator[KubernetesBackend]:
    """A backend on the double or on a real cluster."""
    made = KubernetesBackend.configured(options_of())
    yield made
    made.close()


@pytest.fixture
def running(anywhere, wait_for) -> Iterator[str]:
    key = started(anywhere, wait_for)
    yield key
    anywhere.cancel(key, 0)


def started(backend: KubernetesBackend, wait_for) -> str:
    key: str = backend.submit(launch("echo here > note; exec sleep 60", env={"WORD": "it's"})).key
    wait_for(lambda: state_of(backend, key) == State.RUNNING, 20)
    return key


def test_exec_uses_directory_and_variables_of_job(anywhere, running, wait_for):
    wait_for(lambda: anywhere.exec(running, ["sh", "-c", "ls"])[1])
    assert anywhere.exec(running, ["sh", "-c", "cat note; echo $WORD; exit 3"]) == (
        3,
        b"here\nit's\n",
    )
    assert anywhere.exec(running, ["printf", "%s|", "a b", "$HOME", "*", "ä"]) == (
        0,
        "a b|$HOME|*|ä|".encode(),
    )


def test_exec_returns_stdout_and_stderr(anywhere, running):
    code, output = anywhere.exec(running, ["sh", "-c", "echo one; echo two >&2"])
    assert code == 0 and set(output.splitlines()) == {b"one", b"two"}


def test_exec_large_output_is_complete_and_excess_is_rejected(anywhere, running):
    code, output = anywhere.exec(running, ["head", "-c", "3000000", "/dev/zero"])
    assert (code, len(output)) == (0, 3_000_000)
    with pytest.raises(Rejected, match="more than 16 MiB"):
        anywhere.exec(running, ["head", "-c", "20000000", "/dev/zero"])


def test_exec_timeout_kills_whole_process_group(anywhere, running, wait_for, tmp_path):
    beat = folder_of(tmp_path) / "beat"
    began = time.monotonic()
    with pytest.raises(Rejected, match="did not end within"):
        anywhere.exec(
            running,
            ["sh", "-c", f"(while true; do echo x >> {beat}; sleep 0.1; done) & sleep 61"],
            timeout=0.5,
        )
    assert time.monotonic() - began < 20  # the command takes 61
    wait_for(lambda: _is_still(beat), 10)


def _is_still(path: Path) -> bool:
    before = path.stat().st_size
    time.sleep(0.5)
    return path.stat().st_size == before


def test_exec_missing_command_is_reported(anywhere, running):
    code, output = anywhere.exec(running, ["no-such-program"])
    assert code == 127 and b"no-such-program: command not found" in output


def test_exec_without_running_job_is_rejected(anywhere, running):
    with pytest.raises(Rejected, match="not running"):
        anywhere.exec("t-none", ["true"])


def test_exec_missing_permission_is_named(double, backend, wait_for):
    running = started(backend, wait_for)
    double.denied.add("get pods/exec")
    with pytest.raises(Unavailable, match="pods/exec"):
        backend.exec(running, ["true"])


def test_exec_unreachable_server_is_unavailable(double, backend, wait_for):
    running = started(backend, wait_for)
    double._server.shutdown()
    double._server.server_close()
    with pytest.raises(Unavailable):
        backend.exec(running, ["true"])
