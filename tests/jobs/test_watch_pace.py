"""The watcher's pace: what ends makes room for what waits, so a queue of short jobs goes as fast as the machine."""

from __future__ import annotations

import pytest

from jobs.dispatch import dispatch_all
from jobs.watch.pace import LINGER, POLL_EVERY, QUICK, Pace
from jobs.watch.watcher import Watcher
from portal.core import clock
from tests.jobs.backend_double import BackendDouble
from tests.jobs.stage import cluster_with, submit
from workspaces.tenancy.scope import platform_scope


@pytest.fixture
def tick(monkeypatch):
    """A clock that stands still until it is told to go on."""
    at = [1000.0]
    monkeypatch.setattr(clock, "monotonic", lambda: at[0])

    def go(seconds: float) -> None:
        at[0] += seconds

    return go


def test_while_something_moves_polls_are_quick_and_then_slow_down_again(tick):
    pace = Pace()
    assert (pace.poll_every, pace.is_lively) == (POLL_EVERY, False)
    pace.polled(0.001, is_moving=True, is_scheduler=False)
    assert (pace.poll_every, pace.is_lively) == (QUICK, True)
    seen = []
    for _ in range(4):
        tick(pace.poll_every)
        pace.polled(0.001, is_moving=False, is_scheduler=False)
        seen.append(pace.poll_every)
    assert seen == [2 * QUICK, POLL_EVERY, POLL_EVERY, POLL_EVERY]
    tick(LINGER)
    assert not pace.is_lively


def test_a_scheduler_is_asked_at_most_a_tenth_of_the_time_whatever_moves(tick):
    pace = Pace()
    pace.polled(0.01, is_moving=True, is_scheduler=True)
    assert pace.poll_every == POLL_EVERY
    pace.polled(2.0, is_moving=True, is_scheduler=True)
    assert pace.poll_every == 20
    pace.polled(0.01, is_moving=True, is_scheduler=True)
    assert pace.poll_every == POLL_EVERY


def test_a_machine_with_many_jobs_is_not_looked_at_all_the_time_either(tick):
    pace = Pace()
    pace.polled(0.04, is_moving=True, is_scheduler=False)
    assert pace.poll_every == 0.4


def test_the_watcher_does_not_rest_between_the_end_of_one_batch_and_the_start_of_the_next(story, monkeypatch, tick):
    double, cluster = BackendDouble(), cluster_with()
    for where in ("jobs.clusters.backend_of", "jobs.watch.watcher.backend_of"):
        monkeypatch.setattr(where, lambda row: double)
    submit(story)
    dispatch_all()
    watch = Watcher(cluster.id)
    with platform_scope("test"):
        assert watch.look()
        double.finish(*double.alive)
        tick(QUICK)
        assert watch.look() and not watch._active
        tick(LINGER)
        assert not watch.look()
