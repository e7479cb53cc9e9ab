"""Dispatch: claims, orphans, rejected submissions, concurrent planners and lost jobs."""

from __future__ import annotations

import threading
from datetime import timedelta

import pytest
from django.db import connection, connections

from clusters.models import Gpu
from jobs.dispatch import claims
from jobs.dispatch.claims import LEASE, claim_due
from jobs.dispatch.watch import observations
from jobs.models import Attempt, Job
from jobs.scheduling.pending_explanation import explanation_of
from portal.core import clock
from schedulers.contract import Capability, Handle, Observation, Poll, Rejected, Unavailable
from schedulers.states import Reason, State, Wait
from tests.jobs.stage import cluster_with, dispatch_all, hand_over, only_attempt, submit
from workspaces.models import Quota
from workspaces.organizations.services import create_team
from workspaces.quotas.set_limits import LimitChange, set_quota, set_quotas
from workspaces.tenancy.scope import org_scope, platform_scope


class ScriptedBackend:
    """A double of a scheduler with scripted results; tests/schedulers tests the real ones."""

    name, title, capabilities = "local", "this machine", frozenset({Capability.PLACES})

    def __init__(self):
        self.started, self.refuse = [], None

    def output_of(self, key):
        return None

    def submit(self, launch):
        if self.refuse:
            raise self.refuse
        self.started.append(launch)
        return Handle(launch.key, f"native-{len(self.started)}")


@pytest.fixture
def backend(monkeypatch):
    made = ScriptedBackend()
    monkeypatch.setattr("clusters.backends.backend_of", lambda cluster: made)
    return made


@pytest.fixture(autouse=True)
def everywhere():
    with platform_scope("test"):
        yield


def test_fitting_jobs_start_by_priority_and_age_and_others_get_a_reason(story, backend):
    cluster_with(cpus=2)
    low, normal, high = (
        submit(story, name=p, policy={"priority": p}) for p in ("low", "normal", "high")
    )
    dispatch_all()
    assert [launch.name for launch in backend.started] == ["high", "normal"]
    assert Job.objects.get(id=low.id).wait == Wait.CAPACITY
    assert only_attempt(low).wait_facts["free"] == 0
    assert Job.objects.get(id=high.id).state == State.SUBMITTED


def test_unchanged_reason_writes_nothing(story, backend, django_assert_max_num_queries):
    cluster_with(cpus=1)
    submit(story)
    waits = submit(story)
    dispatch_all()
    before = only_attempt(waits).spells.count()
    dispatch_all()
    assert only_attempt(waits).spells.count() == before == 1


def test_rejected_submission_ends_the_job_with_the_clusters_message(story, backend):
    cluster_with()
    backend.refuse = Rejected("no such partition", "policy.pool")
    job = submit(story)
    dispatch_all()
    job = Job.objects.get(id=job.id)
    assert (job.state, job.reason) == (State.FAILED, Reason.REJECTED)
    assert job.evidence == "policy.pool: no such partition"
    assert set(Quota.objects.values_list("used", flat=True)) == {0}


def test_unavailable_cluster_gets_the_job_later(story, backend):
    cluster_with()
    backend.refuse = Unavailable("the controller is restarting")
    job = submit(story)
    dispatch_all()
    assert Job.objects.get(id=job.id).state == State.DISPATCHING
    backend.refuse = None
    with clock.frozen(clock.now() + timedelta(seconds=5)):
        dispatch_all()
    assert Job.objects.get(id=job.id).state == State.SUBMITTED
    assert len(backend.started) == 1


def test_failed_submissions_are_not_counted_as_handed_over(story, backend):
    cluster_with()
    backend.refuse = Unavailable("the controller is restarting")
    submit(story)
    assert dispatch_all() == 0
    backend.refuse = None
    with clock.frozen(clock.now() + timedelta(seconds=5)):
        assert dispatch_all() == 1


def test_claim_of_a_dead_worker_is_resubmitted_under_the_same_key(story, backend):
    cluster = cluster_with()
    job = submit(story)
    dead = claim_due(cluster.id)
    assert claim_due(cluster.id) is None
    with clock.frozen(clock.now() + timedelta(seconds=LEASE + 1)):
        dispatch_all()
    assert [launch.key for launch in backend.started] == [only_attempt(job).key]
    hand_over(dead)  # The worker was only slow: its lease is gone, so it does nothing.
    assert len(backend.started) == 1


@pytest.mark.both_databases
def test_last_of_a_quota_is_reserved_once(story, backend):
    cluster_with(cpus=100)
    with org_scope(story.atlas.id):
        set_quota(
            actor=story.actor(story.ada),
            org=story.atlas,
            scope="team",
            subject="vision",
            resource="cpu",
            limit=3,
        )
    jobs = [submit(story) for _ in range(5)]
    dispatch_all()
    assert len(backend.started) == 3
    assert Job.objects.get(id=jobs[-1].id).wait == Wait.QUOTA_TEAM
    assert Quota.objects.get(scope="team", resource="cpu").used == 3000


def test_array_runs_at_most_its_parallel_tasks(story, backend):
    cluster_with(cpus=100)
    job = submit(story, array={"size": 10, "max_parallel": 3})
    dispatch_all()
    assert len(backend.started) == 3
    assert Attempt.objects.filter(job=job, wait=Wait.ARRAY_LIMIT).count() == 7


def test_silent_cluster_changes_no_state_and_is_the_reason(story, backend):
    cluster = cluster_with()
    cluster.trouble, cluster.trouble_since = "connection refused", clock.now()
    cluster.save()
    job = submit(story)
    dispatch_all()
    assert Job.objects.get(id=job.id).wait == Wait.CLUSTER_DOWN
    assert not backend.started


@pytest.mark.parametrize(
    ("state", "after", "lost"),
    [
        (State.DISPATCHING, 600, False),
        (State.RUNNING, 0, False),
        (State.RUNNING, 20, False),
        (State.RUNNING, 40, True),
    ],
)
def test_unknown_attempt_is_lost_after_the_grace_and_never_during_hand_over(
    story, state, after, lost
):
    cluster = cluster_with()
    job = submit(story)
    Attempt.objects.filter(job=job).update(state=state)
    unknown = Poll(missing=[only_attempt(job).key])
    observations.apply_poll(cluster, observations.active_attempts(cluster), unknown)
    with clock.frozen(clock.now() + timedelta(seconds=after)):
        observations.apply_poll(cluster, observations.active_attempts(cluster), unknown)
    attempt = Attempt.objects.filter(job=job).order_by("ordinal").first()
    assert (attempt.reason == Reason.LOST) is lost


def test_attempt_seen_again_resets_the_lost_timer(story):
    cluster = cluster_with()
    job = submit(story)
    Attempt.objects.filter(job=job).update(state=State.RUNNING)
    key = only_attempt(job).key
    observations.apply_poll(cluster, observations.active_attempts(cluster), Poll(missing=[key]))
    observations.apply_poll(
        cluster, observations.active_attempts(cluster), Poll([Observation(key, State.RUNNING)])
    )
    assert only_attempt(job).missing_since is None


@pytest.mark.both_databases
@pytest.mark.django_db(transaction=True)
def test_concurrent_planners_never_claim_the_same_attempt(mode, transactional_db):
    from tests.story import create_story

    story, cluster = create_story(), cluster_with(cpus=1000)
    for _ in range(40):
        submit(story)
    taken: list[object] = []

    def plan():
        with platform_scope("test"):
            while claim := claim_due(cluster.id, 3):
                taken.extend(a.id for a in claim.attempts)
        connections.close_all()

    threads = [threading.Thread(target=plan) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    # A claim that met a locked cluster returned; the sweep would call it again.
    while claim := claim_due(cluster.id, 50):
        taken.extend(a.id for a in claim.attempts)
    assert len(taken) == len(set(taken)) == 40, connection.vendor


def test_sweep_finds_work_whose_hint_was_lost(story, backend, monkeypatch):
    cluster_with()
    submit(story)
    requests = []
    monkeypatch.setattr(claims, "wake_worker", requests.append)
    claims.due_sweep()
    assert requests == ["jobs.dispatch"]


def test_pending_job_names_each_holder_of_its_gpu_type_once(story, backend):
    cluster_with(gpus=2)
    Gpu.objects.filter(index=1).update(type="l40s")
    other_type = submit(story, resources={"accelerators": {"l40s": 1}})
    holder = submit(story, resources={"accelerators": {"h100": 1}})
    waits = submit(story, resources={"accelerators": {"h100": 1}})
    dispatch_all()
    assert Attempt.objects.filter(job__in=[other_type, holder], has_reservation=True).count() == 2
    with org_scope(story.atlas.id):
        explanation = explanation_of(Job.objects.get(id=waits.id), story.actor(story.ada))
    assert [h["number"] for h in explanation.holders] == [holder.number]


def test_pending_job_names_an_array_once_with_all_its_tasks(story, backend):
    cluster_with(gpus=3)
    array = submit(story, resources={"accelerators": 1}, array={"size": 3})
    waits = submit(story, resources={"accelerators": 1})
    dispatch_all()
    with org_scope(story.atlas.id):
        explanation = explanation_of(Job.objects.get(id=waits.id), story.actor(story.ada))
    assert [h["number"] for h in explanation.holders] == [array.number]
    assert "3 GPUs" in explanation.holders[0]["text"]


def test_pending_job_names_the_limit_its_owner_holders_and_sufficient_value(story, backend):
    cluster_with(cpus=100)
    with org_scope(story.atlas.id):
        set_quota(
            actor=story.actor(story.ada),
            org=story.atlas,
            scope="team",
            subject="vision",
            resource="cpu",
            limit=3,
        )
    first = submit(story, resources={"cpus": 2})
    waits = submit(story, resources={"cpus": 2})
    dispatch_all()
    with org_scope(story.atlas.id):
        explanation = explanation_of(Job.objects.get(id=waits.id), story.actor(story.ada))
    assert explanation.text == "Team Vision is using 2 of 3 cores; 2 cores requested."
    assert explanation.advice == "Would start now if the limit of team Vision were 4 cores."
    assert [h["number"] for h in explanation.holders] == [first.number]
    assert explanation.change["to"] == 1


def test_guarantee_of_another_team_is_not_taken_and_is_explained(story, backend):
    cluster_with(cpus=100)
    with org_scope(story.atlas.id):
        create_team(actor=story.actor(story.ada), org=story.atlas, slug="language")
        set_quotas(
            actor=story.actor(story.ada),
            org=story.atlas,
            changes=[
                LimitChange("org", "", "cpu", 8),
                LimitChange("team", "language", "cpu", guaranteed=6),
            ],
        )
    submit(story, resources={"cpus": 1})
    waits = submit(story, resources={"cpus": 2})
    dispatch_all()
    assert len(backend.started) == 1
    with org_scope(story.atlas.id):
        explanation = explanation_of(Job.objects.get(id=waits.id), story.actor(story.ada))
    assert explanation.text == (
        "Atlas is using 1 of 8 cores, and 6 cores of it are reserved for the guaranteed quotas of "
        "others; 2 cores requested."
    )
    assert explanation.advice == "Would start now if the limit of Atlas were 9 cores."
    assert explanation.change["to"] == 1


def test_job_behind_many_kinds_of_refused_ones_starts_within_a_few_rounds(
    story, backend, monkeypatch
):
    monkeypatch.setattr(claims, "WINDOW", 2)
    monkeypatch.setattr(claims, "HORIZON", 2)
    monkeypatch.setattr(claims, "MAX_KINDS", 1)
    cluster_with(cpus=30)
    for cpus in (20, *range(11, 21)):
        submit(story, resources={"cpus": cpus})
    last = submit(story, resources={"cpus": 1})
    for _ in range(6):
        dispatch_all()
    assert len(backend.started) == 2 and only_attempt(last).state == State.SUBMITTED
