"""The watcher's cache of active attempts equals the database after any change."""

from __future__ import annotations

from random import Random

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from jobs.dispatch.watch import attempts, observations
from jobs.models import Attempt
from portal.core import clock
from schedulers.states import State
from tests.jobs.stage import cluster_with, submit
from workspaces.tenancy.scope import platform_scope

TASKS = 60


@pytest.fixture
def cluster(story, monkeypatch):
    monkeypatch.setattr(attempts, "FEW", 0)
    made = cluster_with(cpus=1000)
    with platform_scope("test"):
        submit(story, array=f"0-{TASKS - 1}")
        Attempt.objects.update(state=State.SUBMITTED, native_id="7")
        yield made


def same(found: list[observations.WatchedAttempt], cluster) -> bool:
    return sorted(found, key=lambda one: one.id) == observations.active_attempts(cluster)


def change(cluster, random: Random) -> None:
    """Change some rows as a poll, a cancel or a worker may."""
    ids = random.sample(list(Attempt.objects.values_list("id", flat=True)), random.randint(1, 5))
    values = random.choice(
        [
            {"state": State.STOPPING},
            {"state": State.SUCCEEDED},
            {"state": State.SUBMITTED},
            {"native_id": str(random.random())},
            {"confirmed_at": clock.now()},
            {"missing_since": clock.now()},
            {"missing_since": None},
            {"lease_until": clock.now()},
            {"started_at": clock.now()},
            {"stop_sent_at": clock.now()},
            {"state_at": clock.now()},
        ]
    )
    Attempt.objects.filter(id__in=ids).update(**values)


@pytest.mark.both_databases
def test_cache_equals_the_database_after_any_change(cluster):
    cached, random = attempts.AttemptCache(), Random(7)
    for _ in range(60):
        assert same(cached.active(cluster), cluster)
        change(cluster, random)


def test_cache_is_empty_after_the_last_attempt_ends(cluster):
    cached = attempts.AttemptCache()
    assert len(cached.active(cluster)) == len(cached.active(cluster)) == TASKS
    Attempt.objects.update(state=State.CANCELED)
    assert cached.active(cluster) == cached.active(cluster) == []
    Attempt.objects.filter(index=3).update(state=State.RUNNING)
    assert same(cached.active(cluster), cluster)


@pytest.mark.both_databases
def test_unchanged_rows_are_not_read_again_on_postgresql(cluster):
    cached = attempts.AttemptCache()
    cached.active(cluster)
    before = {one.id: one for one in cached.active(cluster)}
    Attempt.objects.filter(index=3).update(state=State.RUNNING)
    with CaptureQueriesContext(connection) as queries:
        after = cached.active(cluster)
    again = [one for one in after if before[one.id] is not one]
    assert {3} <= {Attempt.objects.get(id=one.id).index for one in again}
    assert (
        (len(again) < TASKS / 4 and len(queries) == 2)
        if connection.vendor == "postgresql"
        else len(again) == TASKS
    )
