"""A plugin of pytest: writes the ids of tests that fail, a line each, into the file that $MUSTER_TEST_FAILED names. It is empty where a failure
was the end (`-x`: what did not run is not made good by those that failed), and where a test took its process with it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

_CRASHED = "???"        # what xdist calls the phase in which a process ended
_ended: list[str] = []


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """With several processes each tells the first one, and this writes it down."""
    if report.failed and "PYTEST_XDIST_WORKER" not in os.environ:
        with Path(os.environ["MUSTER_TEST_FAILED"]).open("a") as file:
            file.write(f"{report.nodeid}\n")
    if str(report.when) == _CRASHED:
        _ended.append(report.nodeid)


def pytest_sessionfinish(session: pytest.Session) -> None:
    if session.shouldfail or _ended:
        Path(os.environ["MUSTER_TEST_FAILED"]).write_text("")
