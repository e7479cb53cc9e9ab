"""Clusters with their own scheduler: pending reasons are stored, forgotten jobs resubmitted."""

from __future__ import annotations

from datetime import timedelta

import pytest

from clusters.models import Cluster
from jobs import services
from jobs.dispatch.watch import native_queue, observations
from jobs.models import Attempt, Job, PendingSpell
from jobs.scheduling import pending_explanation
from jobs.scheduling.pending_summary import pending_summary
from portal.core import clock
from portal.core.models import Event
from schedulers.contract import Capability, Launch, Observation, PendingReason, Poll, Unavailable
from schedulers.spec import parse_mapping
from schedulers.states import Reason, State, Wait
from tests.jobs.backend_double import BackendDouble
from tests.jobs.stage import cluster_with, dispatch_all, only_attempt, submit
from workspaces.tenancy.scope import org_scope, platform_scope

FULL = PendingReason(
    Wait.CLUSTER_LIMIT,
    "AssocGrpGRES",
    "Account atlas is using 8 of 8 GPUs; this job needs 2.",
    "Ask for fewer GPUs.",
    {"limit": 8},
)
BEHIND = PendingReason(Wait.BEHIND, "Priority", "12 jobs come first.", "", {"before": 12})


@pytest.fixture
def double(monkeypatch):
    made = BackendDouble()
    monkeypatch.setattr("clusters.backends.backend_of", lambda cluster: made)
    monkeypatch.setattr(
        native_queue, "capabilities_of", lambda name: frozenset({Capability.CONFIRM})
    )
    return made


@pytest.fixture(autouse=True)
def everywhere():
    with platform_scope("test"):
        yield


@pytest.fixture
def cluster(story):
    return cluster_with(cpus=8)


@pytest.fixture
def handed_over(story, double, cluster) -> Job:
    job = submit(story)
    dispatch_all()
    return job


def report_reason(
    cluster: Cluster, waiting: PendingReason, reasons: native_queue.Reasons | None = None
) -> None:
    """Let the scheduler report all attempts as queued for this reason."""
    active = observations.active_attempts(cluster)
    poll = Poll([Observation(a.key, State.SUBMITTED, "PENDING", waiting=waiting) for a in active])
    observations.apply_poll(cluster, active, poll)
    (reasons or native_queue.Reasons()).note({a.key: a for a in active}, poll)


def watch_once(cluster: Cluster, double: BackendDouble, seconds: float = 0) -> None:
    """Take one turn of the watcher, so many seconds in the future."""
    with clock.frozen(clock.now() + timedelta(seconds=seconds)):
        active = observations.active_attempts(cluster)
        poll = double.poll([a.key for a in active])
        observations.apply_poll(cluster, active, poll)
        native_queue.resubmit(cluster, double, [a for a in active if a.key in poll.missing])
        observations.send_stops(double, observations.active_attempts(cluster))


def forget_all(double: BackendDouble) -> None:
    """Kill slurmctld right after it acknowledged."""
    double.alive.clear()


def test_scheduler_reason_is_shown_in_its_words_and_kept_in_history(story, cluster, handed_over):
    report_reason(cluster, FULL)
    report_reason(cluster, BEHIND)
    handed_over.refresh_from_db()
    explanation = pending_explanation.explanation_of(handed_over, story.actor(story.ada))
    assert explanation is not None and (explanation.code, explanation.text) == (
        "behind",
        "12 jobs come first.",
    )
    assert [spell["text"] for spell in explanation.history] == [
        "Account atlas is using 8 of 8 GPUs; this job needs 2.",
        "12 jobs come first.",
    ]
    assert pending_summary(handed_over) is not None


def test_reason_comes_with_advice(story, cluster, handed_over):
    report_reason(cluster, FULL)
    handed_over.refresh_from_db()
    explanation = pending_explanation.explanation_of(handed_over, story.actor(story.ada))
    assert (
        explanation is not None
        and explanation.advice == "Ask for fewer GPUs."
        and explanation.numbers["limit"] == 8
    )


def test_unchanged_reason_writes_nothing(cluster, handed_over, django_assert_num_queries):
    reasons = native_queue.Reasons()
    report_reason(cluster, FULL, reasons)
    with django_assert_num_queries(1):  # the query of the turn itself
        report_reason(cluster, FULL, reasons)


def test_restarted_watcher_opens_no_second_spell_for_the_same_reason(cluster, handed_over):
    report_reason(cluster, FULL)
    report_reason(cluster, FULL)
    assert PendingSpell.objects.filter(wait=Wait.CLUSTER_LIMIT).count() == 1


def test_started_job_is_not_pending(story, cluster, double, handed_over):
    report_reason(cluster, FULL)
    watch_once(cluster, double)
    handed_over.refresh_from_db()
    assert (handed_over.state, handed_over.wait) == (State.RUNNING, "")
    assert pending_explanation.explanation_of(handed_over, story.actor(story.ada)) is None
    assert not PendingSpell.objects.filter(until=None).exists()


def test_submission_forgotten_after_acknowledgement_is_resubmitted_once(
    cluster, double, handed_over
):
    forget_all(double)
    for seconds in (0, 6, 7, 8):
        watch_once(cluster, double, seconds)
    attempt = only_attempt(handed_over)
    assert (
        double.starts == [attempt.key, attempt.key]
        and attempt.ordinal == 1
        and attempt.lease is None
    )
    assert Event.objects.filter(kind="attempt.sent_again").count() == 1


def test_confirmed_attempt_is_lost_and_not_resubmitted(cluster, double, handed_over):
    with clock.frozen(clock.now() + timedelta(seconds=12)):
        report_reason(cluster, BEHIND)
    assert only_attempt(handed_over).confirmed_at is not None
    forget_all(double)
    for seconds in (13, 20, 45):
        watch_once(cluster, double, seconds)
    assert double.starts == [only_attempt(handed_over).key]
    assert only_attempt(handed_over).reason == Reason.LOST


def test_forgotten_running_attempt_becomes_a_new_attempt(cluster, double, handed_over):
    watch_once(cluster, double)
    assert only_attempt(handed_over).state == State.RUNNING
    forget_all(double)
    watch_once(cluster, double, 1)
    watch_once(cluster, double, 7)
    tries = list(Attempt.objects.filter(job=handed_over).order_by("ordinal"))
    assert [(State(t.state), t.reason) for t in tries] == [
        (State.FAILED, "forgotten"),
        (State.QUEUED, ""),
    ]


def test_resubmission_waits_for_an_unavailable_scheduler(cluster, double, handed_over):
    forget_all(double)

    def refuse(launch: Launch) -> None:
        raise Unavailable("starting up")

    watch_once(cluster, double)
    double.before_submit = refuse
    watch_once(cluster, double, 6)
    assert only_attempt(handed_over).state == State.SUBMITTED
    double.before_submit = lambda launch: None
    watch_once(cluster, double, 8)
    assert len(double.starts) == 2


def test_resubmission_of_a_killed_watcher_is_completed_by_the_next(cluster, double, handed_over):
    class Killed(BaseException):
        """The death of a worker; no handler catches it."""

    def die(launch: Launch) -> None:
        double.before_submit = lambda launch: None
        raise Killed

    forget_all(double)
    watch_once(cluster, double)
    double.before_submit = die
    with pytest.raises(Killed):
        watch_once(cluster, double, 6)
    watch_once(cluster, double, 7)
    assert len(double.starts) == 1  # the first watcher may still be active
    watch_once(cluster, double, 6 + native_queue.RESEND_LEASE + 1)
    attempt = only_attempt(handed_over)
    assert double.starts == [attempt.key, attempt.key] and attempt.lease is None


@pytest.mark.parametrize("when", ["before", "while"])
def test_cancel_wins_over_resubmission(story, cluster, double, handed_over, when):
    def cancel(_: Launch | None = None) -> None:
        with org_scope(story.atlas.id):
            services.cancel_job(actor=story.actor(story.ada), job=handed_over)

    forget_all(double)
    watch_once(cluster, double)
    if when == "before":
        cancel()
    else:
        double.before_submit = cancel
    for seconds in (6, 30, 60, 90):
        watch_once(cluster, double, seconds)
    assert only_attempt(handed_over).state == State.CANCELED and not double.alive


def test_local_backend_never_counts_as_forgetful(cluster, double, handed_over, monkeypatch):
    monkeypatch.setattr(native_queue, "capabilities_of", lambda name: frozenset())
    forget_all(double)
    watch_once(cluster, double)
    watch_once(cluster, double, 20)
    assert len(double.starts) == 1


def test_holders_are_named_within_permissions_and_counted_otherwise(
    story, cluster, double, handed_over
):
    mine = submit(story)
    with org_scope(story.borealis.id):
        theirs = services.submit_job(
            actor=story.actor(story.cyd), team=story.north, spec=parse_mapping({"run": "true"})
        )
    dispatch_all()
    held = [
        {"key": only_attempt(job).key, "amount": 2, "since": 1700000000.0} for job in (mine, theirs)
    ]
    facts = {
        "resource": "gpu",
        "limit": 8,
        "held": [*held, {"key": "somebody's", "amount": 1, "since": 0}],
        "others": {"jobs": 2, "amount": 3},
        "change": {"resource": "gpu", "from": 4, "to": 1},
    }
    report_reason(
        cluster,
        PendingReason(
            Wait.CLUSTER_LIMIT,
            "AssocGrpGRES",
            "Account a is using 8 of 8 GPUs; this job needs 4 GPUs.",
            "",
            facts,
        ),
    )
    handed_over.refresh_from_db()
    explanation = pending_explanation.explanation_of(handed_over, story.actor(story.ada))
    assert explanation is not None
    assert [one["number"] for one in explanation.holders] == [mine.number, None]
    assert (
        explanation.holders[0]["text"].endswith("is using 2 GPUs")
        and explanation.holders[1]["text"] == "4 other jobs are using 6 GPUs"
    )
    assert explanation.change == {
        "field": "resources.accelerators",
        "from": 4,
        "to": 1,
        "text": "Would start now with 1 GPU instead of 4 GPUs.",
    }
    assert not {"held", "others"} & set(explanation.numbers) and "muster-" not in str(
        explanation.numbers
    )
