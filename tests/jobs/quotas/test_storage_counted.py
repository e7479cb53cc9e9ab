"""Sealed logs count exactly once for person, team and organization, and are released once."""

from __future__ import annotations

import threading
from collections import Counter
from uuid import UUID

import pytest
from django.db import connection, connections, transaction
from django.test.utils import CaptureQueriesContext
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from jobs import tasks
from jobs.data import log_storage
from jobs.models import Attempt, Job
from portal.blobs.logs import log_store
from portal.core import clock
from schedulers.states import State
from tests.jobs.stage import cluster_with, submit
from tests.jobs.test_log_deletion import delete, ended, written
from tests.rig.seeds import examples
from tests.story import create_story
from workspaces.models import Quota
from workspaces.tenancy.scope import platform_scope

pytestmark = pytest.mark.usefixtures("home")


@pytest.fixture(autouse=True)
def everywhere(db):
    with platform_scope("test"):
        yield


def counted() -> dict[tuple[str, object], int]:
    return {
        (q.scope, q.subject_id): q.used for q in Quota.objects.filter(resource="storage") if q.used
    }


def kept() -> dict[tuple[str, object], int]:
    """Return the readable bytes of sealed logs by scope and subject."""
    found: Counter[tuple[str, object]] = Counter()
    for attempt in Attempt.objects.filter(is_log_sealed=True).select_related("job"):
        for whose in (
            ("org", attempt.org_id),
            ("team", attempt.job.team_id),
            ("user", attempt.job.owner_id),
        ):
            found[whose] += log_store().size(attempt.id.hex)
    return dict(+found)


def test_sealed_log_counts_once_for_owner_team_and_organization(story):
    ended(story)
    ended(story, person=story.ben)
    assert counted() == {}
    for _ in range(3):
        tasks.count_logs()
    assert counted() == {
        ("org", story.atlas.id): 1400,
        ("team", story.vision.id): 1400,
        ("user", story.ada.id): 700,
        ("user", story.ben.id): 700,
    }
    assert set(Attempt.objects.values_list("log_bytes", flat=True)) == {700}


def test_open_log_does_not_count(story):
    job = ended(story, sealed=False)
    tasks.count_logs()
    assert counted() == {} and job.attempts.get().log_bytes is None


def test_deleted_log_is_released_once(story):
    job, other = ended(story), ended(story)
    tasks.count_logs()
    delete(story, job)
    for _ in range(3):
        tasks.delete_logs()
        log_storage.release_storage(list(job.attempts.values_list("id", flat=True)))
        tasks.count_logs()
    assert counted() == kept() and counted()["org", story.atlas.id] == 700
    assert other.attempts.get().log_bytes == 700


def test_log_deleted_before_it_was_counted_never_counts(story):
    job = ended(story)
    delete(story, job)
    tasks.delete_logs()
    tasks.count_logs()
    assert counted() == {} and job.attempts.get().log_bytes == 0


def test_kill_between_file_and_meter_releases_at_the_retry(story, monkeypatch):
    job = ended(story, array="0-4")
    tasks.count_logs()
    delete(story, job)

    def killed(ids):
        raise KeyboardInterrupt

    monkeypatch.setattr(log_storage, "release_storage", killed)
    with pytest.raises(KeyboardInterrupt):
        tasks.delete_logs()
    assert counted()["org", story.atlas.id] == 3500 and kept() == {}
    monkeypatch.undo()
    tasks.delete_logs()
    assert counted() == {}


def test_log_removed_by_a_killed_deletion_counts_nothing(story):
    job = ended(story)
    log_store().delete(job.attempts.get().id.hex, "ada@atlas.example", 1)
    tasks.count_logs()
    assert counted() == {} and job.attempts.get().log_bytes == 0


def test_rolled_back_count_counts_once_at_the_retry(story):
    ended(story)
    with transaction.atomic():
        tasks.count_logs()
        transaction.set_rollback(True)
    assert counted() == {}
    tasks.count_logs()
    assert counted() == kept()


@pytest.mark.both_databases
def test_batch_takes_as_many_statements_as_one_log(story):
    def statements():
        with CaptureQueriesContext(connection) as queries:
            log_storage._count_next(UUID(int=0))
        return len(queries)

    ended(story)
    few = statements()
    ended(story, array="0-9")
    assert statements() == few and counted()["org", story.atlas.id] == 7700


def test_long_sweep_yields_to_others_and_continues(story, monkeypatch):
    ended(story, array="0-9")
    monkeypatch.setattr(log_storage, "BATCH", 3)
    monkeypatch.setattr(log_storage, "PIECE", -1.0)
    for total in (2100, 4200, 6300, 7000):
        tasks.count_logs()
        assert counted()["org", story.atlas.id] == total


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["write", "count", "ask", "delete"]),
            st.integers(0, 5),
            st.integers(0, 900),
        ),
        max_size=14,
    )
)
@settings(max_examples=examples(40), deadline=None, suppress_health_check=list(HealthCheck))
def test_counted_bytes_equal_stored_bytes_after_any_order_of_events(story, steps):
    with transaction.atomic():
        jobs = []
        cluster_with()
        for what, which, size in steps:
            if what == "write":
                jobs.append(submit(story, [story.ada, story.ben][which % 2]))
                Job.objects.filter(id=jobs[-1].id).update(state=State.SUCCEEDED)
                Attempt.objects.filter(job=jobs[-1]).update(
                    state=State.SUCCEEDED, finished_at=clock.now()
                )
                written(jobs[-1].attempts.get(), b"x" * size)
            elif what == "ask" and jobs:
                delete(story, jobs[which % len(jobs)])
            elif what == "count":
                tasks.count_logs()
            elif what == "delete":
                tasks.delete_logs()
        tasks.delete_logs()
        tasks.count_logs()
        assert counted() == kept()
        transaction.set_rollback(True)


@pytest.mark.both_databases
@pytest.mark.django_db(transaction=True)
def test_concurrent_sweeps_and_deletions_count_and_release_each_log_once(
    transactional_db, monkeypatch
):
    story = create_story()
    monkeypatch.setattr(log_storage, "BATCH", 2)
    jobs = [ended(story) for _ in range(8)]
    for job in jobs[:4]:
        delete(story, job)

    def work(one):
        with platform_scope("race"):
            for _ in range(3):
                one()
        connections.close_all()

    threads = [
        threading.Thread(target=work, args=(one,))
        for one in (tasks.count_logs, tasks.delete_logs, tasks.count_logs, tasks.delete_logs)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    tasks.delete_logs()
    tasks.count_logs()
    assert counted() == kept() and counted()["org", story.atlas.id] == 4 * 700
