"""State changes: all pairs of states, reservations, retries, dependencies, arrays and races."""

from __future__ import annotations

import itertools
import random
from datetime import timedelta
from uuid import uuid4

import pytest
from django.db import transaction

from jobs import services
from jobs.dispatch.claims import claim_due
from jobs.dispatch.job_status import array_state
from jobs.dispatch.lifecycle import MOST_FORGOTTEN, StateChange, transition
from jobs.models import Attempt, Job
from portal.core import clock
from portal.core.models import Event
from schedulers.states import Reason, State
from tests.jobs.stage import cluster_with, only_attempt, submit
from tests.rig.seeds import courses
from workspaces.credentials.tokens import Bearer, issue_attempt_tokens
from workspaces.models import AccessToken, Quota
from workspaces.tenancy.scope import org_scope, platform_scope

ENDS = {
    State.SUCCEEDED: Reason.COMPLETED,
    State.FAILED: Reason.USER_ERROR,
    State.CANCELED: Reason.CANCELED,
}


@pytest.fixture(autouse=True)
def everywhere(db):
    with platform_scope("test"):
        yield


def step(attempt: Attempt, to: State, reason: Reason | None = None, **more) -> list[Attempt]:
    return transition([StateChange(attempt.id, to, "test", reason or ENDS.get(to), **more)])


def test_state_never_decreases_and_a_final_one_stays(story):
    cluster_with()
    attempt = only_attempt(submit(story))
    wrong = []
    for before, after in itertools.product(State, State):
        with transaction.atomic():
            Attempt.objects.filter(id=attempt.id).update(state=before)
            moved = bool(step(attempt, after))
            found = State(Attempt.objects.get(id=attempt.id).state)
            transaction.set_rollback(True)
        may_move = not before.is_final and after > before
        if (moved, found) != (may_move, after if may_move else before):
            wrong.append(f"{before.name} to {after.name}: {moved=}, {found.name}")
    assert wrong == []


def test_change_under_an_expired_lease_is_dropped(story):
    cluster = cluster_with()
    submit(story)
    claim = claim_due(cluster.id)
    assert not step(claim.attempts[0], State.SUBMITTED, lease=uuid4())
    assert step(claim.attempts[0], State.SUBMITTED, lease=claim.lease)


def test_times_in_the_future_become_the_present(story):
    """A scheduler may report a projected end, or its clock may be ahead."""
    cluster = cluster_with()
    submit(story)
    attempt, now = claim_due(cluster.id).attempts[0], clock.now()
    later = now + timedelta(hours=20)
    with clock.frozen(now):
        step(attempt, State.FAILED, Reason.NODE_FAILED, started_at=later, finished_at=later)
    found = Attempt.objects.get(id=attempt.id)
    assert (found.started_at, found.finished_at) == (now, now)


def test_run_starts_when_it_runs_and_a_clock_that_is_ahead_moves_nothing(story):
    cluster = cluster_with()
    submit(story)
    attempt, now = claim_due(cluster.id).attempts[0], clock.now()
    later, starts = now + timedelta(hours=1), []
    for seconds, to in enumerate((State.STARTING, State.RUNNING, State.SUCCEEDED)):
        with clock.frozen(now + timedelta(seconds=seconds)):
            step(attempt, to, started_at=now if to == State.STARTING else later)
        starts.append(Attempt.objects.get(id=attempt.id).started_at)
    running = now + timedelta(seconds=1)
    assert starts == [None, running, running]


def test_reservation_is_released_once_however_often_the_end_is_reported(story):
    cluster = cluster_with()
    job = submit(story, resources={"cpus": 3, "memory": "1Gi"})
    attempt = claim_due(cluster.id).attempts[0]
    assert set(Quota.objects.filter(resource="cpu").values_list("used", flat=True)) == {3000}
    for _ in range(3):
        step(attempt, State.SUCCEEDED, exit_code=0)
    assert set(Quota.objects.values_list("used", flat=True)) == {0}
    assert Job.objects.get(id=job.id).state == State.SUCCEEDED


def test_platform_errors_are_retried_with_backoff_and_user_errors_are_not(
    story,
):
    cluster_with()
    mine = submit(story, policy={"retries": 3})
    step(only_attempt(mine), State.FAILED, Reason.USER_ERROR)
    assert Attempt.objects.filter(job=mine).count() == 1
    theirs = submit(story, policy={"retries": 2, "backoff": 60})
    waits = []
    for _ in range(3):
        attempt = only_attempt(theirs)
        waits.append((attempt.due_at - attempt.queued_at).total_seconds())
        step(attempt, State.FAILED, Reason.NODE_FAILED)
    assert waits == [0, 60, 120]
    assert Attempt.objects.filter(job=theirs).count() == 3
    assert Job.objects.get(id=theirs.id).state == State.FAILED


def test_forgotten_attempts_are_resubmitted_a_limited_number_of_times(story):
    cluster_with()
    job = submit(story)
    for _ in range(MOST_FORGOTTEN):
        step(only_attempt(job), State.FAILED, Reason.LOST_BY_SCHEDULER)
        assert Job.objects.get(id=job.id).state == State.QUEUED
    step(only_attempt(job), State.FAILED, Reason.LOST_BY_SCHEDULER)
    assert Job.objects.get(id=job.id).state == State.FAILED


def test_retry_on_lists_exactly_what_is_retried(story):
    cluster_with()
    job = submit(story, policy={"retries": 1, "retry_on": ["out_of_memory"]})
    step(only_attempt(job), State.FAILED, Reason.OUT_OF_MEMORY)
    assert Job.objects.get(id=job.id).state == State.QUEUED
    step(only_attempt(job), State.FAILED, Reason.OUT_OF_MEMORY)
    assert Job.objects.get(id=job.id).state == State.FAILED


def test_canceled_job_is_not_retried(story):
    cluster = cluster_with()
    job = submit(story, policy={"retries": 3})
    attempt = claim_due(cluster.id).attempts[0]
    with org_scope(story.atlas.id):
        services.cancel_job(actor=story.actor(story.ada), job=job)
    step(attempt, State.FAILED, Reason.NODE_FAILED)
    assert Attempt.objects.filter(job=job).count() == 1


def test_canceled_job_that_exits_with_zero_is_canceled_and_blocks_dependents(story):
    cluster = cluster_with()
    job = submit(story)
    then = submit(story, after=[f"#{job.number}"])
    attempt = claim_due(cluster.id).attempts[0]
    step(attempt, State.RUNNING)
    with org_scope(story.atlas.id):
        services.cancel_job(actor=story.actor(story.ada), job=job)
    step(attempt, State.SUCCEEDED, exit_code=0)
    job, then = Job.objects.get(id=job.id), Job.objects.get(id=then.id)
    assert (job.state, job.reason, job.exit_code) == (State.CANCELED, Reason.CANCELED, 0)
    assert (then.state, then.reason) == (State.CANCELED, Reason.DEPENDENCY_FAILED)


CONDITIONS = [
    ("", State.SUCCEEDED, True),
    ("", State.FAILED, False),
    ("", State.CANCELED, False),
    (":any", State.FAILED, True),
    (":any", State.SUCCEEDED, True),
    (":failed", State.FAILED, True),
    (":failed", State.SUCCEEDED, False),
]


def test_dependent_job_becomes_due_or_is_canceled_with_its_reason(subtests, story):
    cluster_with()
    for condition, end, runs in CONDITIONS:
        with subtests.test(condition=condition, end=end):
            first = submit(story)
            then = submit(story, after=[f"#{first.number}{condition}"])
            assert only_attempt(then).due_at is None
            step(only_attempt(first), end)
            then = Job.objects.get(id=then.id)
            if runs:
                assert only_attempt(then).due_at <= clock.now()
            else:
                assert (then.state, then.reason) == (State.CANCELED, Reason.DEPENDENCY_FAILED)
                assert f"#{first.number}" in then.evidence


def test_end_of_a_chain_reaches_all_of_it(story):
    cluster_with()
    jobs = [submit(story)]
    for _ in range(4):
        jobs.append(submit(story, after=[jobs[-1].number]))
    step(only_attempt(jobs[0]), State.FAILED)
    assert [Job.objects.get(id=j.id).state for j in jobs[1:]] == [State.CANCELED] * 4


ARRAYS = [
    ({State.SUCCEEDED: 3}, State.SUCCEEDED),
    ({State.SUCCEEDED: 2, State.FAILED: 1}, State.FAILED),
    ({State.SUCCEEDED: 2, State.CANCELED: 1}, State.CANCELED),
    ({State.QUEUED: 1, State.SUCCEEDED: 2}, State.QUEUED),
    ({State.RUNNING: 1, State.QUEUED: 5, State.FAILED: 1}, State.RUNNING),
    ({State.STARTING: 1, State.SUBMITTED: 1}, State.STARTING),
]


def test_array_has_one_state_for_all_its_tasks(subtests):
    for counts, state in ARRAYS:
        with subtests.test(counts=counts, state=state):
            assert array_state(counts) == state


def test_job_token_ends_with_the_attempt(story):
    cluster = cluster_with()
    job = submit(story)
    attempt = claim_due(cluster.id).attempts[0]
    issue_attempt_tokens([Bearer(job.org_id, job.team_id, job.owner_id, attempt.id, "job")])
    step(attempt, State.SUCCEEDED)
    assert not AccessToken.objects.filter(attempt_id=attempt.id).exists()


def test_every_state_change_is_an_event(story):
    cluster = cluster_with()
    job = submit(story)
    attempt = claim_due(cluster.id).attempts[0]
    step(attempt, State.RUNNING)
    step(attempt, State.SUCCEEDED)
    events = list(
        Event.objects.filter(subject_id=job.id).order_by("position").values_list("kind", flat=True)
    )
    assert events == [
        "job.submitted",
        "attempt.dispatching",
        "attempt.running",
        "attempt.succeeded",
        "job.succeeded",
    ]


@courses(range(25), few=1)
def test_cancel_racing_start_and_finish_leaks_nothing(story, seed):
    chance = random.Random(seed)
    cluster = cluster_with(cpus=1000)
    ada = story.actor(story.ada)
    for _ in range(4):
        jobs = [submit(story, policy={"retries": chance.randint(0, 1)}) for _ in range(10)]
        claim_due(cluster.id, chance.randint(1, 10))
        for job in chance.sample(jobs * 3, 30):
            attempt = only_attempt(job)
            with org_scope(story.atlas.id):
                if chance.random() < 0.3:
                    services.cancel_job(actor=ada, job=job)
            step(
                attempt,
                chance.choice([s for s in State if s > State.DISPATCHING]),
                chance.choice([None, None, Reason.NODE_FAILED]),
            )
        for job in jobs:
            step(only_attempt(job), State.CANCELED)
    assert set(Quota.objects.values_list("used", flat=True)) <= {0}
    for job in Job.objects.all():
        ends = [State(s) for s in Attempt.objects.filter(job=job).values_list("state", flat=True)]
        assert all(s.is_final for s in ends) and State(job.state) in ends


def test_retry_is_due_after_its_backoff(story):
    cluster = cluster_with()
    job = submit(story, policy={"retries": 1, "backoff": 300})
    step(claim_due(cluster.id).attempts[0], State.FAILED, Reason.NODE_FAILED)
    assert claim_due(cluster.id) is None
    with clock.frozen(clock.now() + timedelta(seconds=301)):
        assert claim_due(cluster.id).attempts[0].job_id == job.id
