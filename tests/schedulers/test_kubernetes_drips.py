"""Test Kubernetes with a double of the API server that never completes a response."""

from __future__ import annotations

import time

import pytest

from schedulers.contract import Unavailable
from schedulers.kubernetes import observed, transport
from schedulers.states import State
from tests.rig.kubernetes_double import Drip
from tests.schedulers.kubernetes_stage import launch, state_of


@pytest.mark.parametrize("part", ["POST /apis/batch", "POST /secrets"])
def test_submit_to_trickling_server_starts_job_once(
    double, backend, monkeypatch, tmp_path, wait_for, part
):
    wanted = launch(f"echo started >> {tmp_path}/starts")
    backend.submit(launch())  # creates the namespace
    monkeypatch.setattr(transport, "WHOLE", 0.5)
    double.fail(part, Drip(0.1))
    start = time.monotonic()
    with pytest.raises(Unavailable, match="in time"):
        backend.submit(wanted)
    assert time.monotonic() - start < 5
    backend.submit(wanted)
    wait_for(lambda: state_of(backend, wanted.key) == State.SUCCEEDED)
    assert (tmp_path / "starts").read_text() == "started\n"


def test_trickling_server_is_unavailable_and_recovers(double, backend, monkeypatch, wait_for):
    key = backend.submit(launch()).key
    wait_for(lambda: state_of(backend, key) == State.RUNNING)
    monkeypatch.setattr(observed, "SILENT", 0.0)
    monkeypatch.setattr(transport, "WHOLE", 0.5)
    double.fail("/readyz", Drip(0.1))
    with pytest.raises(Unavailable, match="in time"):
        backend.poll([key])
    wait_for(lambda: state_of(backend, key) == State.RUNNING)


def test_interrupted_watch_is_logged_in_words(double, backend, wait_for, caplog):
    caplog.set_level("INFO")
    key = backend.submit(launch()).key
    wait_for(lambda: state_of(backend, key) == State.RUNNING)

    def is_cut() -> bool:
        double.cut()  # the watch may not be connected the first time
        return "broke:" in caplog.text

    wait_for(is_cut, 60, 0.5)
    assert f"The connection to {double.url} was interrupted." in caplog.text
    wait_for(lambda: state_of(backend, key) == State.RUNNING)
