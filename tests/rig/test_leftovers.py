"""A test that leaves something behind is told what and where from."""

from __future__ import annotations

import threading

from tests import leftovers
from tests.leftovers import Leftovers


def test_thread_left_behind_is_named_with_its_place_until_it_ends(monkeypatch):
    monkeypatch.setattr(leftovers, "PATIENCE", 0.05)
    stop, found = threading.Event(), Leftovers()
    next(found.pytest_runtest_setup())
    assert found._threads() == []
    thread = threading.Thread(target=stop.wait, name="poller", daemon=True)
    thread.start()
    [left] = found._threads()
    assert left.startswith("poller, started at tests/rig/test_leftovers.py:")
    stop.set()
    thread.join()
    assert found._threads() == []
