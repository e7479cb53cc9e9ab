"""The poll interval: ends are noticed at once, so a queue of short jobs keeps the machine busy."""

from __future__ import annotations

import threading
from dataclasses import replace

import pytest

from clusters.models import Cluster
from clusters.services import outages
from jobs import services
from jobs.dispatch.watch.poll_interval import LINGER, POLL_EVERY, QUICK, PollInterval
from jobs.dispatch.watch.watcher import Watcher
from jobs.models import Job
from portal.core import clock
from schedulers.contract import Poll
from tests.jobs.backend_double import BackendDouble
from tests.jobs.stage import cluster_with, dispatch_all, submit
from workspaces.tenancy.scope import org_scope, platform_scope


@pytest.fixture
def tick(monkeypatch):
    """Return a clock that only moves when told to."""
    at = [1000.0]
    monkeypatch.setattr(clock, "monotonic", lambda: at[0])

    def go(seconds: float) -> None:
        at[0] += seconds

    return go


def test_polls_are_quick_while_jobs_change_and_slow_down_again(tick):
    pace = PollInterval()
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


def test_scheduler_is_polled_at_most_a_tenth_of_the_time(tick):
    pace = PollInterval()
    pace.polled(0.01, is_moving=True, is_scheduler=True)
    assert pace.poll_every == POLL_EVERY
    pace.polled(2.0, is_moving=True, is_scheduler=True)
    assert pace.poll_every == 20
    pace.polled(0.01, is_moving=True, is_scheduler=True)
    assert pace.poll_every == POLL_EVERY


def test_machine_with_many_jobs_is_not_polled_all_the_time(tick):
    pace = PollInterval()
    pace.polled(0.04, is_moving=True, is_scheduler=False)
    assert pace.poll_every == 0.4


def test_watcher_does_not_pause_between_the_end_of_one_batch_and_the_next(story, monkeypatch, tick):
    double, cluster = BackendDouble(), cluster_with()
    for where in ("clusters.backends.backend_of", "jobs.dispatch.watch.watcher.backend_of"):
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


class Slow(BackendDouble):
    """A backend with polls of simulated length that are counted; `meanwhile` runs during a poll."""

    def __init__(self, tick):
        super().__init__()
        self.tick, self.takes, self.polls, self.meanwhile = tick, 0.0, 0, lambda: None

    def poll(self, keys) -> Poll:
        self.polls += 1
        self.tick(self.takes)
        self.meanwhile()
        return super().poll(keys)


@pytest.fixture
def slow(story, monkeypatch, tick):
    """Return a watcher with one running job, whose cluster just took 34 s to respond."""
    double, cluster = Slow(tick), cluster_with()
    for where in ("clusters.backends.backend_of", "jobs.dispatch.watch.watcher.backend_of"):
        monkeypatch.setattr(where, lambda row: double)
    job = submit(story)
    dispatch_all()
    double.takes, watch = 34.0, Watcher(cluster.id)
    with platform_scope("test"):
        yield watch, double, job


def test_cancel_after_a_slow_response_is_sent_within_seconds_without_a_wake(slow, story, tick):
    watch, double, job = slow
    watch.look()
    double.takes = 0.01
    tick(2)
    with org_scope(story.atlas.id):
        services.cancel_job(actor=story.actor(story.ada), job=Job.objects.get(id=job.id))
    watch.look()
    assert len(double.stops) == 1
    assert double.polls == 1
    tick(30)
    watch.look()
    assert double.polls == 2


def test_first_slow_poll_after_an_outage_delays_no_next_one(slow, story, tick):
    watch, double, _ = slow
    outages.mark_unreachable(Cluster.objects.get(id=watch.cluster_id), "refused")
    watch.look()
    tick(1)
    watch.look()
    assert double.polls == 2


def test_time_spent_waiting_for_a_mirrored_scheduler_is_no_load(slow, story, tick, monkeypatch):
    watch, double, _ = slow
    monkeypatch.setattr(
        double, "poll", lambda keys, poll=double.poll: replace(poll(keys), work=0.01)
    )
    watch.look()
    tick(1)
    watch.look()
    assert double.polls == 2


class Turns(threading.Event):
    """Stop a loop after six turns of 1.5 s each."""

    def __init__(self, tick):
        super().__init__()
        self.tick, self.left = tick, 6

    def is_set(self) -> bool:
        self.tick(1.5)
        self.left -= 1
        return self.left < 0


def test_wake_during_a_poll_is_kept_for_the_next_look(slow, tick, monkeypatch):
    watch, double, _ = slow
    monkeypatch.setattr(watch, "_run_logs", lambda stop: None, raising=False)
    double.takes, double.meanwhile = 2.0, watch.wake.set
    watch.run(Turns(tick))
    assert double.polls == 2
