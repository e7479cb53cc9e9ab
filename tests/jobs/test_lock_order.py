"""Planners, watchers and people that lock the same rows concurrently never deadlock."""

from __future__ import annotations

import threading

import pytest
from django.db import connections

from jobs import services
from jobs.dispatch import claims as dispatch
from jobs.dispatch import job_status
from jobs.dispatch.claims import claim_due
from jobs.dispatch.lifecycle import StateChange, transition
from jobs.models import Attempt
from schedulers.states import Reason, State
from tests.jobs.stage import claim_all, cluster_with, submit
from workspaces.models import Quota
from workspaces.tenancy.scope import org_scope, platform_scope

pytestmark = pytest.mark.both_databases


@pytest.fixture(autouse=True)
def everywhere():
    with platform_scope("test"):
        yield


def test_planners_of_two_clusters_lock_meters_without_a_deadlock(story, monkeypatch):
    monkeypatch.setattr(dispatch, "WINDOW", 5)
    cluster, holds, claims, hold = cluster_with(cpus=100), [], [], dispatch.hold
    monkeypatch.setattr(dispatch, "hold", lambda amounts: holds.append(amounts) or hold(amounts))
    for person in (story.ada, story.ben, story.ada):
        for _ in range(5):
            submit(story, person)
    while claim := claim_due(cluster.id):
        claims.append(claim)
        assert len(holds) == len(claims)
    assert sum(len(claim.attempts) for claim in claims) == 15


def _cancel(story, job):
    with org_scope(story.atlas.id):
        services.cancel_job(actor=story.actor(story.ada), job=job)


@pytest.mark.django_db(transaction=True)
def test_cancel_during_a_claim_waits_for_it(transactional_db, monkeypatch, wait_for):
    from tests.story import create_story

    story, cluster = create_story(), cluster_with()
    job = submit(story)
    claimed, go_on = threading.Event(), threading.Event()
    refresh = job_status.refresh_jobs

    def slowly(*given, **more):
        if threading.current_thread() is planner:
            claimed.set()
            go_on.wait(10)
        return refresh(*given, **more)

    monkeypatch.setattr(job_status, "refresh_jobs", slowly)
    planner = _thread(lambda: claim_due(cluster.id))
    planner.start()
    assert claimed.wait(10)
    person = _thread(lambda: _cancel(story, job))
    person.start()
    person.join(0.3)
    go_on.set()
    planner.join(30)
    person.join(30)
    assert (planner.failed, person.failed) == (None, None)
    assert Attempt.objects.get(job=job).state == State.STOPPING


@pytest.mark.django_db(transaction=True)
def test_task_that_ends_during_a_claim_of_its_array_does_not_deadlock(
    transactional_db, monkeypatch
):
    from tests.story import create_story

    story, cluster = create_story(), cluster_with()
    submit(story, array={"size": 4})
    first = claim_due(cluster.id, 1).attempts[0]
    settled, go_on = threading.Event(), threading.Event()
    refresh = job_status.refresh_jobs

    def slowly(*given, **more):
        if threading.current_thread() is watcher:
            settled.set()
            go_on.wait(10)
        return refresh(*given, **more)

    monkeypatch.setattr(job_status, "refresh_jobs", slowly)
    watcher = _thread(
        lambda: transition([StateChange(first.id, State.SUCCEEDED, "test", Reason.COMPLETED)])
    )
    watcher.start()
    assert settled.wait(10)
    planner = _thread(lambda: claim_due(cluster.id))
    planner.start()
    planner.join(0.5)
    go_on.set()
    watcher.join(30)
    planner.join(30)
    assert (watcher.failed, planner.failed) == (None, None)
    claim_all(cluster)
    assert Quota.objects.get(scope="org", resource="jobs").used == 3


@pytest.mark.django_db(transaction=True)
def test_end_that_frees_jobs_does_not_deadlock_with_their_cancel(transactional_db, monkeypatch):
    from tests.story import create_story

    story, cluster = create_story(), cluster_with()
    first = submit(story)
    waiting = [submit(story, after=[first.number]) for _ in range(3)]
    [ending] = claim_due(cluster.id).attempts
    freed, go_on = threading.Event(), threading.Event()
    judged, message = job_status.verdict_of, job_status.wake_worker

    def slowly(name):
        if threading.current_thread() is watcher and not freed.is_set():
            freed.set()
            go_on.wait(10)
        message(name)

    monkeypatch.setattr(
        job_status,
        "verdict_of",
        lambda jobs: dict(sorted(judged(jobs).items(), key=lambda pair: pair[0].id, reverse=True)),
    )
    monkeypatch.setattr(job_status, "wake_worker", slowly)
    watcher = _thread(
        lambda: transition([StateChange(ending.id, State.SUCCEEDED, "test", Reason.COMPLETED)])
    )
    watcher.start()
    assert freed.wait(10)
    theirs = list(Attempt.objects.filter(job__in=waiting).values_list("id", flat=True))
    person = _thread(
        lambda: transition(
            [StateChange(pk, State.CANCELED, "test", Reason.CANCELED) for pk in theirs]
        )
    )
    person.start()
    person.join(0.5)
    go_on.set()
    watcher.join(30)
    person.join(30)
    assert (watcher.failed, person.failed) == (None, None)
    assert set(Attempt.objects.filter(id__in=theirs).values_list("state", flat=True)) == {
        State.CANCELED
    }
    assert Attempt.objects.get(id=ending.id).state == State.SUCCEEDED


class _Thread(threading.Thread):
    """Keep the exception raised in the thread, and close its connection."""

    failed: BaseException | None = None

    def run(self):
        try:
            with platform_scope("test"):
                super().run()
        except BaseException as error:
            self.failed = error
        finally:
            connections.close_all()


def _thread(call) -> _Thread:
    return _Thread(target=call, daemon=True)


@pytest.mark.django_db(transaction=True)
def test_claim_after_a_planner_without_capacity_takes_what_was_freed(transactional_db, monkeypatch):
    from tests.story import create_story

    story, cluster = create_story(), cluster_with(cpus=1)
    submit(story)
    [running] = claim_due(cluster.id).attempts
    waiting = submit(story)
    saw_no_room, go_on = threading.Event(), threading.Event()
    room_of = dispatch.snapshot_of

    def slowly(*given):
        snapshot = room_of(*given)
        if threading.current_thread() is first:
            saw_no_room.set()
            go_on.wait(10)
        return snapshot

    monkeypatch.setattr(dispatch, "snapshot_of", slowly)
    first = _thread(lambda: claim_due(cluster.id))
    first.start()
    assert saw_no_room.wait(10)
    claims = []

    def end_and_claim():
        transition([StateChange(running.id, State.SUCCEEDED, "test", Reason.COMPLETED)])
        claims.append(claim_due(cluster.id))

    second = _thread(end_and_claim)
    second.start()
    second.join(0.5)
    go_on.set()
    first.join(30)
    second.join(30)
    assert (first.failed, second.failed) == (None, None)
    assert [attempt.job_id for attempt in claims[0].attempts] == [waiting.id]
