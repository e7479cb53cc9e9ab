"""An idle watcher does almost nothing and misses nothing."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db import connection

from clusters.models import Cluster
from jobs.dispatch.watch import observations, watcher
from jobs.models import Attempt
from portal.core import clock
from schedulers.states import State
from tests.jobs.stage import cluster_with, only_attempt, submit
from workspaces.tenancy.scope import platform_scope


@pytest.fixture
def watch(story, monkeypatch):
    """Return a watcher that has polled an idle cluster once; further polls are only counted."""
    made = watcher.Watcher(cluster_with().id)
    made.polled, made._interval.poll_every = [], 0
    monkeypatch.setattr(
        made,
        "_poll",
        lambda cluster, backend: made._is_due("probe", 0) and made.polled.append(cluster),
    )
    with platform_scope("test"):
        made.look()
        yield made


def test_idle_watcher_uses_two_statements_and_calls_no_backend(watch):
    sent = []
    with connection.execute_wrapper(
        lambda execute, sql, *rest: sent.append(sql) or execute(sql, *rest)
    ):
        assert watch.look() is False
    assert len(sent) == 2 and len(watch.polled) == 1


def test_idle_watcher_notices_active_attempts_and_open_logs_at_the_next_look(watch, story):
    attempt, unseen = only_attempt(submit(story)), []
    for state in State:
        Attempt.objects.filter(id=attempt.id).update(state=state)
        watch.polled.clear()
        watch.look()
        if len(watch.polled) != (state > State.QUEUED):
            unseen.append(f"{state.name}: {len(watch.polled)} looks")
    assert unseen == []


def test_idle_watcher_ignores_queued_and_ended_attempts_and_other_clusters(watch, story):
    waiting, over, sealed, elsewhere = (only_attempt(submit(story)) for _ in range(4))
    other = Cluster.objects.create(name="other", backend="local")
    rows = Attempt.objects
    rows.filter(id=over.id).update(state=State.FAILED, is_forgotten=True)
    rows.filter(id=sealed.id).update(state=State.FAILED, is_log_sealed=True)
    rows.filter(id=elsewhere.id).update(state=State.RUNNING, cluster=other)
    watch.look()
    assert (
        len(watch.polled) == 1
        and not observations.has_work(waiting.cluster_id)
        and observations.has_work(other.id)
    )


def test_idle_watcher_keeps_regular_polls_and_polls_a_troubled_cluster_each_time(
    watch, monkeypatch
):
    ahead = clock.monotonic() + watcher.SEEN_EVERY * 4
    watch._leads_until = ahead + watcher.LEASE
    monkeypatch.setattr(clock, "monotonic", lambda: ahead)
    watch.look()
    assert len(watch.polled) == 2
    Cluster.objects.filter(id=watch.cluster_id).update(
        trouble="it is away", trouble_since=clock.now() - timedelta(hours=1)
    )
    ahead += watcher.SEEN_EVERY * 4
    for _ in range(3):
        ahead += 1
        watch.look()
    assert len(watch.polled) == 5
