"""Background loops are repeated, retried and stopped."""

from __future__ import annotations

import sys
import threading
from types import ModuleType

import pytest

from portal.background import Background, every


@pytest.fixture
def loops(monkeypatch) -> ModuleType:
    module = ModuleType("loops_of_this_test")
    monkeypatch.setitem(sys.modules, module.__name__, module)
    return module


def test_background_loop_is_called_at_its_interval_until_stopped(loops, wait_for):
    calls: list[int] = []
    loops.tick = every(0.01)(lambda stop: calls.append(1))
    background = Background(["loops_of_this_test.tick"])
    background.start()
    wait_for(lambda: len(calls) >= 3)
    assert background.stop() == []
    seen = len(calls)
    assert not threading.Event().wait(0.05)
    assert len(calls) == seen


def test_background_loop_that_raises_is_logged_and_retried(loops, wait_for, caplog):
    calls: list[int] = []

    @every(0.01)
    def moody(stop: threading.Event) -> None:
        calls.append(1)
        if len(calls) == 1:
            raise OSError("the disk is full")

    loops.moody = moody
    background = Background(["loops_of_this_test.moody"])
    background.start()
    wait_for(lambda: len(calls) >= 2)
    background.stop()
    assert "loops_of_this_test.moody failed; retrying in 1 s" in caplog.text


def test_background_loop_that_does_not_stop_is_named(loops):
    release = threading.Event()
    loops.stubborn = lambda stop: release.wait(20)
    background = Background(["loops_of_this_test.stubborn"])
    background.start()
    assert background.stop(0.05) == ["loops_of_this_test.stubborn"]
    release.set()


def test_background_unknown_path_raises_at_start():
    with pytest.raises(ImportError):
        Background(["jobs.no_such_module.loop"])
