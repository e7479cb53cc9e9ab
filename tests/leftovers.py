"""Find what a test leaves behind in its process.

A thread goes on calling what the next test patches or counts; with another umask, later tests write
files that their components cannot read.
"""

from __future__ import annotations

import gc
import os
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from asgiref.sync import SyncToAsync

ROOT = Path(__file__).resolve().parents[1]
PATIENCE = 15.0  # seconds for threads that are about to end
SOON = 0.2  # seconds after which garbage is collected: an object in a cycle may keep a thread
# Threads that serve a whole process, by the first words of their names, and why.
KEPT = {
    "WSGI_": "portal.asgi has pools that live as long as an application",
    "sending_": "the same",
    "shared Kubernetes double": "tests.rig.kube starts one for all tests of a process",
    "images_": "a process has one pool that looks up images",
    "stage_": "a process has one pool that stages inputs",
    "streams-": "a process has one bus to Redis, with a thread that writes and one that reads",
}
_PLACE = "_started_at"


class Leftovers:
    """A plugin that fails a test after all of its fixtures if it leaves something behind.

    Threads that a fixture of a wider scope starts may live as long as the fixture.
    """

    def __init__(self) -> None:
        self._known: set[threading.Thread] = set()
        self._of_fixtures: dict[pytest.FixtureDef[Any], set[threading.Thread]] = {}
        self._umask = umask()
        # asgiref has one thread for synchronous code of coroutines: it starts before all tests.
        SyncToAsync.single_thread_executor.submit(int)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_setup(self) -> Iterator[None]:
        self._known, self._umask = {*threading.enumerate()}, umask()
        return (yield)

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: pytest.FixtureDef[Any]) -> Iterator[None]:
        before = {*threading.enumerate()}
        try:
            return (yield)
        finally:
            if fixturedef.scope != "function":
                self._of_fixtures[fixturedef] = {*threading.enumerate()} - before
                self._known |= self._of_fixtures[fixturedef]

    def pytest_fixture_post_finalizer(self, fixturedef: pytest.FixtureDef[Any]) -> None:
        self._known -= self._of_fixtures.pop(fixturedef, set())

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_teardown(self, item: pytest.Item) -> Iterator[None]:
        result = yield
        item.funcargs.clear()  # type: ignore[attr-defined]  # what only they refer to ends
        if left := self._threads():
            pytest.fail(f"it left threads behind: {'; '.join(left)}", pytrace=False)
        if umask() != self._umask:
            os.umask(self._umask)
            pytest.fail("it left another umask behind", pytrace=False)
        return result

    def _threads(self) -> list[str]:
        """Return the threads that were started since and do not end."""
        began, is_collected = time.monotonic(), False
        while found := [thread for thread in threading.enumerate() if self._is_left(thread)]:
            waited = time.monotonic() - began
            if waited > PATIENCE:
                return sorted(map(described, found))
            if waited > SOON and not is_collected:
                gc.collect()
                is_collected = True
            time.sleep(0.005)
        return []

    def _is_left(self, thread: threading.Thread) -> bool:
        return thread not in self._known and not thread.name.startswith(tuple(KEPT))


def umask() -> int:
    """Return the umask of this process without changing it, as `os.umask` would."""
    with open("/proc/self/status") as status:
        return next(int(line.split()[1], 8) for line in status if line.startswith("Umask"))


def note_places() -> None:
    """Note from now on where each thread is started, which nothing else tells afterwards."""
    start = threading.Thread.start

    def noting(self: threading.Thread) -> None:
        setattr(self, _PLACE, _place(sys._getframe(1)))
        start(self)

    threading.Thread.start = noting  # type: ignore[method-assign]


def described(thread: threading.Thread) -> str:
    return f"{thread.name}, started at {getattr(thread, _PLACE, 'an unknown place')}"


def _place(frame: FrameType | None) -> str:
    """Return the innermost line of this repository, else the innermost one."""
    inner = frame
    while frame is not None:
        path = frame.f_code.co_filename
        if path.startswith(str(ROOT)) and "/.venv" not in path:
            return f"{path.removeprefix(f'{ROOT}/')}:{frame.f_lineno}"
        frame = frame.f_back
    return f"{inner.f_code.co_filename}:{inner.f_lineno}" if inner else "?"
