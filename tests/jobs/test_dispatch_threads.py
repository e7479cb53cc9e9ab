"""Dispatch and cleanup of a cluster are independent of other clusters."""

from __future__ import annotations

import threading
from datetime import timedelta

import pytest
from django.db import connections

from clusters.models import Cluster, Node
from jobs import background, tasks
from jobs.data.outputs import KEPT
from jobs.dispatch import threads
from jobs.models import Attempt
from portal.core import clock, wakeups
from portal.core.redis_outages import CircuitBreaker
from schedulers.contract import Unavailable
from schedulers.slurm.files import MountedSpool
from schedulers.states import State
from tests.jobs.backend_double import BackendDouble
from tests.jobs.stage import cluster_with, submit
from workspaces.tenancy.scope import platform_scope


@pytest.fixture
def doubles(monkeypatch):
    """Return a double for each cluster, by name."""
    made = {"local": BackendDouble(), "other": BackendDouble()}
    for where in ("clusters.backends.backend_of", "jobs.tasks.backend_of"):
        monkeypatch.setattr(where, lambda cluster: made[cluster.name])
    yield made
    threads.end_dispatchers()


@pytest.mark.both_databases
@pytest.mark.django_db(transaction=True)
def test_dispatch_to_a_hanging_cluster_delays_no_other(
    transactional_db, doubles, monkeypatch, wait_for
):
    from tests.story import create_story

    story, _, go_on, dispatch = (
        create_story(),
        cluster_with(),
        threading.Event(),
        threads.dispatch_cluster,
    )
    other = Cluster.objects.create(name="other", backend="local")
    Node.objects.create(cluster=other, name="m0", cpus=8000, memory=8 << 30)
    doubles["local"].before_submit = lambda launch: go_on.wait(20) and None
    over = []

    def closing(one):
        dispatch(one)
        connections.close_all()
        over.append(one.name)

    monkeypatch.setattr(threads, "dispatch_cluster", closing)
    with platform_scope("test"):
        submit(story)
        theirs = submit(story)
        Attempt.objects.filter(job=theirs).update(cluster=other)
    caller = threading.Thread(
        target=lambda: (tasks.dispatch(), connections.close_all()), daemon=True
    )
    caller.start()
    try:
        wait_for(lambda: doubles["other"].starts, 10)
        assert not doubles["local"].starts
    finally:
        go_on.set()
        caller.join(30)
        wait_for(lambda: len(over) >= 2, 30)


def test_cleanup_continues_on_other_clusters_when_one_is_silent(story, doubles, monkeypatch):
    other, request = Cluster.objects.create(name="other", backend="local"), []

    def silent(key):
        request.append(key)
        raise Unavailable("no answer")

    monkeypatch.setattr(doubles["local"], "forget", silent)
    cluster_with()
    with platform_scope("test"):
        jobs = [submit(story) for _ in range(4)]
        Attempt.objects.filter(job__in=jobs).update(
            state=State.SUCCEEDED,
            is_log_sealed=True,
            finished_at=clock.now() - KEPT - timedelta(days=1),
        )
        Attempt.objects.filter(job=jobs[-1]).update(cluster=other)
        tasks.forget()
        forgotten = set(Attempt.objects.filter(is_forgotten=True).values_list("job_id", flat=True))
    assert (len(request), forgotten) == (1, {jobs[-1].id})


def test_cleanup_without_the_spool_directory_is_postponed(tmp_path):
    with pytest.raises(Unavailable):
        MountedSpool(tmp_path / "not mounted").remove("muster-1")


def test_housekeeping_that_hangs_delays_no_dispatch(monkeypatch, wait_for):
    ran, stop, go_on = [], threading.Event(), threading.Event()
    monkeypatch.setattr(
        background,
        "_run",
        lambda task: ran.append(task) or (task == "jobs.forget" and go_on.wait(20)),
    )
    ticker = threading.Thread(target=background.ticker, args=(stop,), daemon=True)
    ticker.start()
    try:
        wait_for(lambda: "jobs.dispatch" in ran, 10)
        wakeups._wake("jobs.forget")
        wait_for(lambda: "jobs.forget" in ran, 10)
        ran.clear()
        wakeups._wake("jobs.dispatch")
        wait_for(lambda: "jobs.dispatch" in ran, 5)
    finally:
        stop.set()
        go_on.set()
        ticker.join(10)


@pytest.mark.django_db(transaction=True)
def test_watcher_process_starts_jobs_while_the_broker_is_down(
    transactional_db, doubles, monkeypatch, wait_for
):
    from tests.story import create_story

    story, dispatch, over = create_story(), threads.dispatch_cluster, []

    def refuse(task):
        raise ConnectionError("refused")

    def closing(one):
        dispatch(one)
        connections.close_all()
        over.append(one)

    monkeypatch.setattr(threads, "dispatch_cluster", closing)
    monkeypatch.setattr("django.conf.settings.MUSTER_EMBEDDED", False)
    monkeypatch.setattr(wakeups, "_send_task", refuse)
    monkeypatch.setattr(wakeups, "_debouncer", wakeups._Debouncer())
    monkeypatch.setattr(wakeups, "_fallback", wakeups._fallback)
    monkeypatch.setattr(wakeups, "breaker", CircuitBreaker())
    wakeups.set_sender(None)
    cluster_with()
    with platform_scope("test"):
        submit(story)
    assert not doubles["local"].starts
    background.standby(threading.Event())
    wait_for(lambda: over, 10)
    assert len(doubles["local"].starts) == 1
