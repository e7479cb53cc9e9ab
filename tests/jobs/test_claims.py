"""Claims across windows, leases and cancellations: nothing is allocated twice or left running."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from datetime import timedelta
from threading import Event
from uuid import UUID

import pytest

from clusters.models import Cluster, Gpu, Node
from jobs import services
from jobs.dispatch import claims, submission
from jobs.dispatch.claims import LEASE, claim_due
from jobs.dispatch.watch import observations
from jobs.models import Attempt, Job
from portal.core import clock
from portal.core.lease_holder import new_lease
from schedulers.contract import Unavailable
from schedulers.states import Reason, State, Wait
from tests.jobs.backend_double import BackendDouble
from tests.jobs.stage import claim_all, cluster_with, dispatch_all, hand_over, only_attempt, submit
from tests.rig.environment import ROOT
from workspaces.credentials.token_format import authenticate_token
from workspaces.models import AccessToken, Quota
from workspaces.quotas.set_limits import set_quota
from workspaces.tenancy.scope import org_scope, platform_scope

pytestmark = pytest.mark.both_databases


@pytest.fixture
def double(monkeypatch):
    made = BackendDouble()
    monkeypatch.setattr("clusters.backends.backend_of", lambda cluster: made)
    return made


@pytest.fixture(autouse=True)
def everywhere():
    with platform_scope("test"):
        yield


def cancel(story, job: Job) -> None:
    with org_scope(story.atlas.id):
        services.cancel_job(actor=story.actor(story.ada), job=job)


def watch_once(cluster: Cluster, double: BackendDouble) -> None:
    """Take one turn of the watcher."""
    active = observations.active_attempts(cluster)
    observations.apply_poll(cluster, active, double.poll([a.key for a in active]))
    observations.send_stops(double, observations.active_attempts(cluster))


def test_job_that_cannot_be_stopped_keeps_no_other_running(story, double, monkeypatch):
    cluster = cluster_with(cpus=9)
    jobs = [submit(story) for _ in range(5)]
    hand_over(claim_due(cluster.id))
    watch_once(cluster, double)
    for job in jobs:
        cancel(story, job)
    refused, real = list(double.alive)[:2], double.cancel

    def reluctant(key: str, grace: float = 30) -> None:
        if key in refused:
            raise Unavailable("it does not hear")
        real(key, grace)

    monkeypatch.setattr(double, "cancel", reluctant)
    with pytest.raises(Unavailable):
        observations.send_stops(double, observations.active_attempts(cluster))
    assert set(double.alive) == set(refused)


def test_node_is_not_allocated_twice_across_windows(story, monkeypatch):
    monkeypatch.setattr(claims, "WINDOW", 5)
    cluster = cluster_with(cpus=3, gpus=2)
    for _ in range(8):
        submit(story, resources={"cpus": 1})
    for _ in range(8):
        submit(story, resources={"cpus": 0.1, "accelerators": 1})
    taken = claim_all(cluster)
    assert sum(a.placement["cpus"] for a in taken) <= 3000
    assert (
        max(Counter(uuid for a in taken for uuid in a.placement["uuids"]).values(), default=0) <= 1
    )


def test_array_limit_holds_across_windows(story, monkeypatch):
    monkeypatch.setattr(claims, "WINDOW", 5)
    cluster = cluster_with(cpus=100)
    submit(story, array={"size": 30, "max_parallel": 2})
    assert len(claim_all(cluster)) == 2


def test_quota_holds_across_windows(story, monkeypatch):
    monkeypatch.setattr(claims, "WINDOW", 5)
    cluster = cluster_with(cpus=100)
    with org_scope(story.atlas.id):
        set_quota(
            actor=story.actor(story.ada),
            org=story.atlas,
            scope="org",
            subject="",
            resource="jobs",
            limit=7,
        )
    for _ in range(20):
        submit(story)
    assert len(claim_all(cluster)) == 7
    assert Quota.objects.get(scope="org", resource="jobs").used == 7


def test_fitting_job_behind_a_window_of_refused_ones_is_found(story, monkeypatch):
    monkeypatch.setattr(claims, "WINDOW", 5)
    cluster = cluster_with(cpus=4)
    submit(story, resources={"cpus": 3})
    claim_due(cluster.id)
    for _ in range(12):
        submit(story, resources={"cpus": 2})
    small = submit(story, resources={"cpus": 1})
    assert [a.job_id for a in claim_due(cluster.id).attempts] == [small.id]


def test_claim_on_a_full_cluster_reads_only_the_front_of_the_queue(story, monkeypatch):
    monkeypatch.setattr(claims, "WINDOW", 5)
    cluster, judged, plan = cluster_with(cpus=1), [], claims.plan
    jobs = [submit(story) for _ in range(20)]
    assert len(claim_due(cluster.id).attempts) == 1
    assert claim_due(cluster.id) is None
    assert set(
        Job.objects.filter(id__in=[job.id for job in jobs[1:]]).values_list("wait", flat=True)
    ) == {Wait.CAPACITY}
    monkeypatch.setattr(claims, "plan", lambda room, asks: judged.extend(asks) or plan(room, asks))
    assert claim_due(cluster.id) is None
    assert len(judged) == 5


def test_claim_is_limited_and_the_next_takes_the_rest(story):
    cluster = cluster_with(cpus=100)
    jobs = {submit(story).id for _ in range(7)}
    first, second, third = (
        claim_due(cluster.id, 3),
        claim_due(cluster.id, 3),
        claim_due(cluster.id, 3),
    )
    assert [len(c.attempts) for c in (first, second, third)] == [3, 3, 1]
    assert {a.job_id for c in (first, second, third) for a in c.attempts} == jobs
    assert claim_due(cluster.id, 3) is None


def test_troubled_cluster_gets_no_new_work_while_old_claims_are_retried(story, double):
    cluster = cluster_with()
    submit(story)
    claim_due(cluster.id)
    Cluster.objects.update(trouble="connection refused", trouble_since=clock.now())
    waits = submit(story)
    with clock.frozen(clock.now() + timedelta(seconds=LEASE + 1)):
        assert len(claim_due(cluster.id).attempts) == 1
    assert Job.objects.get(id=waits.id).wait == Wait.CLUSTER_DOWN


def test_quota_taken_by_another_planner_admits_as_many_as_fit(story, monkeypatch):
    cluster = cluster_with(cpus=100)
    with org_scope(story.atlas.id):
        set_quota(
            actor=story.actor(story.ada),
            org=story.atlas,
            scope="org",
            subject="",
            resource="jobs",
            limit=2,
        )
    for _ in range(5):
        submit(story)
    seen = claims.snapshot_of

    def with_stale_view(*args):
        room = seen(*args)
        room.limits.clear()
        return room

    monkeypatch.setattr(claims, "snapshot_of", with_stale_view)
    assert len(claim_due(cluster.id).attempts) == 2
    assert Quota.objects.get(scope="org", resource="jobs").used == 2
    assert Attempt.objects.filter(has_reservation=True).count() == 2


def test_attempt_canceled_before_hand_over_never_starts(story, double):
    cluster, job = cluster_with(), submit(story)
    claim = claim_due(cluster.id)
    cancel(story, job)
    hand_over(claim)
    watch_once(cluster, double)
    assert double.starts == []
    assert Job.objects.get(id=job.id).state == State.CANCELED


def test_attempt_canceled_during_hand_over_is_stopped_and_not_forgotten(story, double):
    cluster, job = cluster_with(), submit(story)

    def meanwhile(launch):
        cancel(story, job)
        # Unknown to the cluster, which means nothing during the hand-over.
        watch_once(cluster, double)

    double.before_submit = meanwhile
    hand_over(claim_due(cluster.id))
    for _ in range(3):
        watch_once(cluster, double)
    assert double.alive == {}
    assert Job.objects.get(id=job.id).state == State.CANCELED
    assert set(Quota.objects.values_list("used", flat=True)) == {0}


def test_attempt_canceled_while_its_worker_dies_ends_after_the_lease(story, double):
    cluster, job = cluster_with(), submit(story)
    claim_due(cluster.id)
    cancel(story, job)
    watch_once(cluster, double)
    assert Job.objects.get(id=job.id).state == State.STOPPING
    with clock.frozen(clock.now() + timedelta(seconds=LEASE + 1)):
        watch_once(cluster, double)
    assert Job.objects.get(id=job.id).state == State.CANCELED


def test_attempt_canceled_while_the_cluster_is_unavailable_ends_soon(story, double):
    cluster, job = cluster_with(), submit(story)

    def refuse(launch):
        raise Unavailable("restarting")

    double.before_submit = refuse
    hand_over(claim_due(cluster.id))
    cancel(story, job)
    with clock.frozen(clock.now() + timedelta(seconds=LEASE + 1)):
        watch_once(cluster, double)
    assert Job.objects.get(id=job.id).state == State.CANCELED


def test_worker_with_an_expired_lease_starts_nothing(story, double):
    cluster = cluster_with()
    late = [submit(story) for _ in range(3)]
    claim = claim_due(cluster.id)
    with clock.frozen(clock.now() + timedelta(seconds=LEASE + 1)):
        hand_over(claim)
        assert double.starts == []
        dispatch_all()
    with clock.frozen(clock.now() + timedelta(seconds=3 * LEASE)):
        dispatch_all()
    assert sorted(double.starts) == sorted(only_attempt(job).key for job in late)


def test_slow_cluster_gets_no_more_than_it_takes_within_a_lease(story, double, monkeypatch):
    cluster, limits, claim = cluster_with(cpus=100), [], claims.claim_due
    for _ in range(50):
        submit(story)

    def claim_and_note(cluster_id, limit):
        limits.append(limit)
        return claim(cluster_id, limit)

    monkeypatch.setattr(claims, "claim_due", claim_and_note)
    monkeypatch.setattr(claims, "LEASE", 1.5)
    monkeypatch.setattr(claims, "_pace", {})
    pause = Event()
    double.before_submit = lambda launch: pause.wait(0.3) and None
    while len(double.starts) < 50:
        dispatch_all()
    first, second, *later = limits
    assert first == claims.FIRST and second > first  # nothing was known
    assert later and max(later) * 0.3 / submission.WORKERS <= 1.5 / claims.SHARE
    assert not Attempt.objects.filter(cluster=cluster, tries__gt=0).exists()


@pytest.mark.parametrize("is_killed", [True, False])
def test_claims_of_a_killed_worker_are_taken_at_once_and_of_a_live_one_not(
    story, double, monkeypatch, is_killed
):
    cluster, job = cluster_with(), submit(story)
    lease = "from portal.core.lease_holder import new_lease; print(new_lease())"
    theirs = UUID(
        subprocess.run(
            [sys.executable, "-c", lease], cwd=ROOT, capture_output=True, text=True, check=True
        ).stdout.strip()
    )
    with monkeypatch.context() as patch:
        patch.setattr(claims, "new_lease", lambda: theirs if is_killed else new_lease())
        claim_due(cluster.id)
    dispatch_all()
    assert double.starts == ([only_attempt(job).key] if is_killed else [])
    assert only_attempt(job).state == (State.SUBMITTED if is_killed else State.DISPATCHING)


def test_job_started_by_a_dead_worker_is_adopted_with_a_valid_token(story, double):
    cluster = cluster_with()
    submit(story)

    class Killed(BaseException):
        """The death of a worker; no handler catches it."""

    def die(*args):
        raise Killed

    claim, apply = claim_due(cluster.id), submission.transition
    try:
        submission.transition = die
        with pytest.raises(Killed):
            hand_over(claim)
    finally:
        submission.transition = apply
    [launch] = double.alive.values()
    with clock.frozen(clock.now() + timedelta(seconds=LEASE + 1)):
        dispatch_all()
    assert len(double.starts) == 1
    assert authenticate_token(launch.env["MUSTER_TOKEN"])
    double.finish(launch.key)
    watch_once(cluster, double)
    assert not AccessToken.objects.exists()


def test_held_job_does_not_retry(story, double):
    cluster = cluster_with()
    job = submit(story, policy={"retries": 1, "backoff": 1})
    dispatch_all()
    with org_scope(story.atlas.id):
        services.hold_job(actor=story.actor(story.ada), job=job)
    double.finish(only_attempt(job).key, Reason.NODE_FAILED)
    watch_once(cluster, double)
    with clock.frozen(clock.now() + timedelta(hours=2)):
        dispatch_all()
        assert len(double.starts) == 1
        assert Job.objects.get(id=job.id).wait == Wait.HELD
        with org_scope(story.atlas.id):
            services.release_job(actor=story.actor(story.ada), job=job)
        dispatch_all()
    assert len(double.starts) == 2


def test_job_for_any_gpu_holds_the_limit_of_the_type_that_it_gets(story, double):
    cluster = cluster_with(cpus=100, gpus=4)
    limit = {"actor": story.actor(story.ada), "org": story.atlas, "scope": "org", "subject": ""}
    with org_scope(story.atlas.id):
        set_quota(**limit, resource="gpu.h100", limit=3)
    first, second = (submit(story, resources={"accelerators": 2}) for _ in range(2))
    hand_over(claim_due(cluster.id))
    assert claim_due(cluster.id) is None
    assert only_attempt(first).gpu_types == {"h100": 2}
    meter = Quota.objects.get(scope="org", resource="gpu.h100")
    assert (meter.used, meter.limit) == (2, 3)
    waiting = only_attempt(second)
    assert waiting.wait == Wait.QUOTA_ORG
    assert {name: waiting.wait_facts[name] for name in ("resource", "ask", "used", "limit")} == {
        "resource": "gpu.h100",
        "ask": 2,
        "used": 2,
        "limit": 3,
    }

    node = Node.objects.get(cluster=cluster)
    Gpu.objects.filter(node=node, index__in=(2, 3)).update(type="l40s")  # without a limit
    assert [a.gpu_types for a in claim_due(cluster.id).attempts] == [{"l40s": 2}]

    watch_once(cluster, double)
    cancel(story, first)
    watch_once(cluster, double)
    watch_once(cluster, double)
    assert only_attempt(first).state == State.CANCELED
    meter.refresh_from_db()
    assert meter.used == 0
    with org_scope(story.atlas.id):
        assert Quota.objects.get(scope="org", resource="gpu").used == 2
