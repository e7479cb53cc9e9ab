"""Random simulations: hundreds of jobs with events at the worst moments, checked by invariants.

Each seed is a sequence of submissions, delayed or lost hand-overs, cancels, holds and ends, on a
cluster that rejects, loses jobs and reports late. It then settles, and is checked for leaks.
"""

from __future__ import annotations

import random
from collections import Counter
from datetime import datetime, timedelta
from uuid import UUID

import pytest

from clusters.models import Cluster
from jobs import services
from jobs.dispatch.claims import claim_due
from jobs.dispatch.job_status import array_state
from jobs.dispatch.submission import Claim
from jobs.dispatch.watch import observations
from jobs.models import Attempt, Job
from portal.core import clock
from portal.core.errors import PortalError
from portal.core.models import Event
from schedulers.contract import Poll, Rejected, Unavailable
from schedulers.states import Reason, State
from tests.jobs.backend_double import BackendDouble
from tests.jobs.stage import cluster_with, dispatch_all, hand_over, submit
from tests.rig.seeds import courses
from workspaces.models import AccessToken, Quota
from workspaces.tenancy.scope import org_scope, platform_scope

ENDS = (
    Reason.COMPLETED,
    Reason.COMPLETED,
    Reason.USER_ERROR,
    Reason.OUT_OF_MEMORY,
    Reason.NODE_FAILED,
    Reason.PREEMPTED,
)
FINAL = [f"attempt.{state.label}" for state in State if state.is_final]


@pytest.fixture
def double(monkeypatch):
    made = BackendDouble()
    monkeypatch.setattr("clusters.backends.backend_of", lambda cluster: made)
    return made


class World:
    """One simulation."""

    def __init__(self, story, double: BackendDouble, cluster: Cluster, seed: int):
        self.story, self.double, self.cluster = story, double, cluster
        self.chance = random.Random(seed)
        self.now: datetime = clock.now()
        self.jobs: list[Job] = []
        self.claims: list[Claim] = []
        self.news: list[tuple[list[Attempt], Poll]] = []
        double.before_submit = self._disturb

    def _disturb(self, launch):
        what = self.chance.random()
        if what < 0.1:
            raise Unavailable("busy")
        if what < 0.13:
            raise Rejected("never")
        # The owner cancels, and the watcher polls, during the hand-over.
        if what < 0.25:
            job = Job.objects.get(attempts__id=id_of(launch.key))
            self._act(services.cancel_job, job)
            self.learn()
            observations.apply_poll(self.cluster, *self.news[-1])

    def submit(self):
        policy = {"retries": self.chance.randint(0, 2), "backoff": self.chance.choice([1, 5])}
        spec: dict[str, object] = {
            "resources": {"cpus": self.chance.choice([1, 2])},
            "policy": policy,
        }
        if self.jobs and self.chance.random() < 0.3:
            spec["after"] = [
                f"#{self.chance.choice(self.jobs).number}{self.chance.choice(['', ':any', ':failed'])}"
            ]
        if self.chance.random() < 0.15:
            spec["array"] = {
                "size": self.chance.randint(1, 4),
                "max_parallel": self.chance.randint(1, 2),
            }
        try:
            self.jobs.append(submit(self.story, **spec))
        except PortalError:
            return  # a dependency has already ended otherwise

    def claim(self):
        if claim := claim_due(self.cluster.id, self.chance.choice([1, 1, 4])):
            self.claims.append(claim)

    def hand_over(self):
        if self.claims:
            claim = self.claims.pop(self.chance.randrange(len(self.claims)))
            if self.chance.random() < 0.85:  # else the worker died with it
                hand_over(claim, workers=1)

    def learn(self):
        """Poll the cluster now; the portal gets the result later, twice, or never."""
        active = observations.active_attempts(self.cluster)
        self.news.append((active, self.double.poll([a.key for a in active])))

    def tell(self):
        if self.news:
            attempts, poll = self.chance.choice(self.news[-3:])
            observations.apply_poll(self.cluster, attempts, poll)

    def stop(self):
        observations.send_stops(self.double, observations.active_attempts(self.cluster))

    def finish(self):
        for key in self.chance.sample(sorted(self.double.alive), min(2, len(self.double.alive))):
            self.double.finish(key, self.chance.choice(ENDS))

    def cancel(self):
        self._act(services.cancel_job)

    def hold(self):
        self._act(
            self.chance.choice([services.hold_job, services.release_job, services.release_job])
        )

    def _act(self, act, job: Job | None = None):
        if job or self.jobs:
            with org_scope(self.story.atlas.id):
                try:
                    act(
                        actor=self.story.actor(self.story.ada),
                        job=job or self.chance.choice(self.jobs[-15:]),
                    )
                except PortalError:
                    return

    def live(self, steps: int):
        turns = {
            self.submit: 4,
            self.claim: 5,
            self.hand_over: 5,
            self.learn: 3,
            self.tell: 4,
            self.stop: 2,
            self.finish: 3,
            self.cancel: 1,
            self.hold: 1,
        }
        for turn in self.chance.choices(list(turns), list(turns.values()), k=steps):
            self.now += timedelta(seconds=self.chance.choice([0, 0.1, 1, 5, 20]))
            with clock.frozen(self.now):
                turn()
            given_up = Attempt.objects.filter(
                id__in=[id_of(key) for key in self.double.alive], state__gte=State.SUCCEEDED
            )
            assert not given_up.exists(), (
                f"after {turn.__name__}: it runs, and the portal has given it up"
            )

    def settle(self):
        """Let the portal work without new events until nothing changes."""
        self.double.before_submit = lambda launch: None
        with org_scope(self.story.atlas.id):
            for job in Job.objects.filter(
                is_held=True, cancel_asked_at=None, state__lt=State.SUCCEEDED
            ):
                services.release_job(actor=self.story.actor(self.story.ada), job=job)
        for _ in range(400):
            self.now += timedelta(seconds=31)
            with clock.frozen(self.now):
                dispatch_all()
                active = observations.active_attempts(self.cluster)
                observations.apply_poll(
                    self.cluster, active, self.double.poll([a.key for a in active])
                )
                self.stop()
                for key in self.double.alive.keys() & {a.key for a in active}:
                    # A job that the portal gave up would run forever.
                    self.double.finish(key)
            if not Attempt.objects.filter(state__lt=State.SUCCEEDED).exists():
                return
        raise AssertionError("it never came to rest")


def id_of(key: str) -> UUID:
    return UUID(key.removeprefix("muster-"))


@pytest.mark.both_databases
@courses(range(14), few=1)
def test_random_worlds_leak_nothing(story, double, monkeypatch, seed):
    monkeypatch.setattr("jobs.dispatch.claims.WINDOW", 5)
    with platform_scope("test"):
        cluster = cluster_with(cpus=6)
        world = World(story, double, cluster, seed)
        world.live(steps=350)
        assert_nothing_is_over_committed()
        world.settle()
        assert len(world.jobs) > 30
        assert_every_end_is_recorded_once()
        assert_nothing_is_left(double)


def assert_nothing_is_over_committed():
    held = Attempt.objects.filter(has_reservation=True)
    assert sum(a.placement["cpus"] for a in held) <= 6000
    assert all(a.placement for a in held)
    used = Quota.objects.get(scope="org", resource="cpu").used
    assert used == sum(a.job.resources["cpu"] for a in held.select_related("job"))


def assert_every_end_is_recorded_once():
    ends = Counter(e.data["attempt"] for e in Event.objects.filter(kind__in=FINAL))
    assert set(ends.values()) == {1}
    assert set(ends) == {str(pk) for pk in Attempt.objects.values_list("id", flat=True)}
    events = Counter(
        Event.objects.filter(kind__in=[f"job.{s.label}" for s in State if s.is_final]).values_list(
            "subject_id", flat=True
        )
    )
    assert set(events.values()) == {1}
    assert set(events) == set(Job.objects.values_list("id", flat=True))


def assert_nothing_is_left(double: BackendDouble):
    assert double.alive == {}
    assert max(Counter(double.starts).values()) == 1
    assert set(Quota.objects.values_list("used", flat=True)) == {0}
    assert not AccessToken.objects.exists()
    assert not Attempt.objects.filter(has_reservation=True).exists()
    for job in Job.objects.all():
        tasks = Attempt.objects.filter(job=job)
        latest = tasks.filter(is_current=True)
        assert latest.count() == (job.array_size or 1)
        assert State(job.state) == array_state(Counter(State(a.state) for a in latest))
        assert job.cancel_asked_at is None or State(job.state) != State.QUEUED
        assert not job.wait
        assert tasks.count() == job.attempt_count
