"""Faults between the portal and a real Slurm: every attempt runs exactly once."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any

import pytest

from clusters.models import Cluster
from clusters.services.connections import change_cluster
from jobs import services
from jobs.models import Attempt, Job
from portal.core import clock
from schedulers.contract import Unavailable
from schedulers.slurm.rest import RestClient
from schedulers.states import State
from tests.jobs.slurm_site import SEEDS, Site, site_on, token
from tests.jobs.stage import dispatch_all
from tests.rig.processes import Folder
from tests.rig.slurm import Slurm, start_slurm
from tests.story import Story
from workspaces.tenancy.scope import org_scope

pytestmark = pytest.mark.integration
SUBMIT = RestClient.submit


class Killed(BaseException):
    """The death of a worker; no handler catches it."""


@pytest.fixture(scope="module")
def slurm() -> Iterator[Slurm]:
    """Start a separate Slurm, because a controller that lost its state distrusts its nodes."""
    rig = Folder()
    try:
        yield start_slurm(rig, accounting=False)
    finally:
        rig.close()


@pytest.fixture
def site(story: Story, slurm: Slurm, home: Path) -> Iterator[Site]:
    with site_on(story, slurm) as site:
        yield site


def faulty(seed: int, before: BaseException, after: BaseException) -> Callable[..., int]:
    """Lose some submissions and some responses."""
    random = Random(seed)

    def submit_or_not(self: RestClient, request: Any, script: str) -> int:
        if random.random() < 0.25:
            raise before
        number = SUBMIT(self, request, script)
        if random.random() < 0.5:
            raise after
        return number

    return submit_or_not


@SEEDS
@pytest.mark.parametrize(
    "fault", [Killed(), Unavailable("no answer")], ids=["worker killed", "reply lost"]
)
def test_attempt_is_one_job_whatever_fails_between_submit_and_record(
    site, monkeypatch, seed, fault
):
    for _ in range(4):
        site.submit()
    monkeypatch.setattr(RestClient, "submit", faulty(seed, fault, fault))
    for _ in range(2):
        try:
            dispatch_all()
        except Killed:
            pass
        site.expire_leases()
    monkeypatch.undo()
    site.until(site.is_over, 30)
    assert (site.remote(), site.runs(), set(site.states())) == ([1] * 4, [1] * 4, {State.SUCCEEDED})


@SEEDS
def test_jobs_forgotten_by_a_killed_controller_are_resubmitted_once(site, seed):
    """Slurm saves its state every five seconds at most; jobs acknowledged since are lost."""
    random = Random(seed)
    site.submit("sleep 1")
    site.until(site.is_over, 30)  # its state was just saved or soon will be
    for _ in range(3):
        site.submit("sleep 2")
    dispatch_all()
    time.sleep(random.uniform(0, 1))
    site.slurm.kill_controller()
    site.slurm.start_controller()
    known = lambda: min(site.remote()[1:]) >= 1 or site.is_over()  # noqa: E731
    assert site.until(known, 40) < 30
    site.until(site.is_over, 60)
    assert max(site.remote()) <= 1
    assert set(site.states()) == {State.SUCCEEDED}, site.describe()
    assert all(count >= 1 for count in site.runs())


@SEEDS
def test_controller_outage_changes_no_state_and_is_caught_up_with(site, seed):
    site.submit(f"sleep {3 + seed}")
    site.submit("sleep 600")
    site.until(lambda: State.RUNNING in site.states() and min(site.states()) == State.RUNNING, 30)
    site.slurm.save()
    before = site.states()
    site.slurm.kill_controller()
    try:
        late = site.submit()
        for _ in range(3):
            site.look()
            dispatch_all()
        assert site.states() == [*before, State.QUEUED]
        trouble = Cluster.objects.get(id=site.cluster.id)
        assert trouble.trouble and trouble.trouble_since
        with org_scope(site.story.atlas.id):
            began = time.monotonic()
            services.cancel_job(actor=site.story.actor(site.story.ada), job=late)
            assert time.monotonic() - began < 0.5  # web requests never wait for Slurm
    finally:
        site.slurm.start_controller()
    site.until(lambda: site.states() == [State.SUCCEEDED, State.RUNNING, State.CANCELED], 20)
    assert Cluster.objects.get(id=site.cluster.id).trouble == ""
    assert site.runs() == [1, 1, 0]


@SEEDS
def test_expired_token_is_reported_and_a_new_one_recovers(site, slurm, seed):
    site.submit("sleep 1")
    dispatch_all()
    operator = site.story.actor(site.story.dot)
    change_cluster(
        actor=operator,
        cluster=site.cluster,
        options={"rest_token": token(slurm, -100 * seed)} | _plain(site),
    )
    for _ in range(2):
        site.look()
    assert "token" in Cluster.objects.get(id=site.cluster.id).trouble
    assert site.states() == [State.SUBMITTED]
    change_cluster(
        actor=operator,
        cluster=site.cluster,
        options={"rest_token": token(slurm, 600)} | _plain(site),
    )
    site.until(site.is_over, 20)
    assert (site.states(), site.runs()) == ([State.SUCCEEDED], [1])


def _plain(site: Site) -> dict[str, Any]:
    return dict(Cluster.objects.get(id=site.cluster.id).config)


@SEEDS
def test_cancel_at_any_moment_ends_the_job_on_both_sides(site, seed, wait_for):
    random = Random(seed)
    waits = [random.uniform(0, 1.5) for _ in range(8)]
    for _ in waits:
        site.submit(f"sleep {random.uniform(0, 1.5):.2f}")
    began = time.monotonic()
    due = sorted(zip(waits, site.jobs, strict=True), key=lambda pair: pair[0])
    while due:
        if random.random() < 0.5:
            dispatch_all()
        if random.random() < 0.5:
            site.look()
        while due and time.monotonic() - began >= due[0][0]:
            _cancel(site, due.pop(0)[1])
    site.until(site.is_over, 60)
    assert set(site.states()) <= {State.CANCELED, State.SUCCEEDED}
    assert max(site.runs()) <= 1
    queue = ["squeue", "--noheader", "--user", site.slurm.user]
    assert site.slurm.run(*queue, "--states=PENDING,RUNNING,SUSPENDED").strip() == ""
    wait_for(lambda: not site.slurm.run(*queue).strip())  # the node may still be cleaning up


def _cancel(site: Site, job: Job) -> None:
    fresh = Job.objects.get(id=job.id)
    if not State(fresh.state).is_final:
        with org_scope(site.story.atlas.id):
            services.cancel_job(actor=site.story.actor(site.story.ada), job=fresh)


@SEEDS
@pytest.mark.parametrize("hours", [-1, 1])
def test_clock_skew_of_an_hour_changes_nothing(site, monkeypatch, hours, seed):
    offset = timedelta(hours=hours, seconds=Random(seed).uniform(-60, 60))
    monkeypatch.setattr(clock, "now", lambda: datetime.now(UTC) + offset)
    for _ in range(2):
        site.submit("sleep 0.5")
    site.until(site.is_over, 30)
    assert (set(site.states()), site.runs(), site.told("attempt.sent_again")) == (
        {State.SUCCEEDED},
        [1, 1],
        0,
    )
    for attempt in Attempt.objects.all():
        assert timedelta(0) < attempt.finished_at - attempt.started_at < timedelta(seconds=20)
