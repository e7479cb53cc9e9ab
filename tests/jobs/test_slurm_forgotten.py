"""A killed Slurm controller forgets unsaved jobs and reuses their numbers.

Accounting shows the forgotten jobs as running forever.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from random import Random

import pytest

from jobs.dispatch.watch import native_queue, observations
from jobs.models import Attempt
from schedulers.states import Reason, State
from tests.jobs.slurm_site import SEEDS, Site, site_on
from tests.jobs.stage import dispatch_all, only_attempt
from tests.rig.processes import Folder, RigFailure
from tests.rig.slurm import Slurm, start_slurm
from tests.story import Story

pytestmark = pytest.mark.integration


@pytest.fixture(scope="module")
def slurm() -> Iterator[Slurm]:
    """Start a separate Slurm, because a controller that lost its state distrusts its nodes."""
    rig = Folder()
    try:
        yield start_slurm(rig)
    finally:
        rig.close()


@pytest.fixture
def site(story: Story, slurm: Slurm, home: Path) -> Iterator[Site]:
    with site_on(story, slurm) as site:
        yield site


@pytest.fixture
def site_by_commands(story: Story, slurm: Slurm, home: Path) -> Iterator[Site]:
    """Connect by commands; this Slurm's slurmrestd cannot look up accounting by job name."""
    with site_on(story, slurm, by_rest=False) as site:
        yield site


def lose_all_since(site: Site, act: Callable[[], object]) -> None:
    """Make the controller forget what it learns from `act`, and reuse the job number."""
    state = site.slurm.home / "state"
    site.slurm.save()
    kept = {name: (state / name).read_bytes() for name in ("job_state", "job_state.old")}
    act()
    site.slurm.kill_controller()
    for name, content in kept.items():
        (state / name).write_bytes(content)
    site.slurm.start_controller()


@SEEDS
@pytest.mark.parametrize("is_seen", [True, False], ids=["seen running", "not seen running"])
def test_running_jobs_that_were_forgotten_run_again_under_reused_numbers(
    site, seed, is_seen, wait_for
):
    """The new jobs meet a number in use or an existing folder; neither may look like their end."""
    random = Random(seed)

    def begin() -> None:
        for n in range(2):
            site.submit(f"[ $(wc -l < {site.folder}/{n}) -gt 1 ] || sleep 60")
        dispatch_all()
        wait_for(lambda: site.runs() == [1, 1])
        if is_seen:
            site.until(lambda: set(site.states()) == {State.RUNNING}, 20)
        time.sleep(random.uniform(0, 2))

    lose_all_since(site, begin)
    site.until(site.is_over, 120)
    assert set(site.states()) == {State.SUCCEEDED}, site.describe()
    assert all(1 <= count <= 2 for count in site.runs())
    lost = Attempt.objects.filter(is_current=False)
    assert {attempt.reason for attempt in lost} <= {Reason.LOST_BY_SCHEDULER}, site.describe()


def test_job_killed_by_its_node_after_a_controller_loss_runs_again(site, wait_for):
    """A node kills process by process, so the script may still record the kill of its child."""

    def begin() -> None:
        site.submit(f"[ $(wc -l < {site.folder}/0) -gt 1 ] || sleep 60")
        dispatch_all()
        wait_for(lambda: site.runs() == [1])
        site.until(lambda: site.states() == [State.RUNNING], 20)

    lose_all_since(site, begin)
    record = site.folder / "spool" / only_attempt(site.jobs[0]).key / "end"
    record.write_text(f"137 - {time.time() - 3} {time.time()}\n")
    site.until(site.is_over, 60)
    assert (site.states(), site.runs()) == ([State.SUCCEEDED], [2]), site.describe()
    lost = Attempt.objects.filter(is_current=False)  # the next job may meet its number on the node
    assert {attempt.reason for attempt in lost} == {Reason.LOST_BY_SCHEDULER}


@pytest.mark.parametrize("by_rest", [True, False], ids=["rest", "commands"])
def test_job_that_ended_well_is_not_run_again_after_an_older_state(
    story, slurm, home, by_rest, wait_for
):
    """The controller comes back with a job as running that its node has long ended."""
    with site_on(story, slurm, by_rest=by_rest) as site:
        job = site.submit(f"until [ -e {site.folder}/go ]; do sleep 0.1; done")
        site.until(lambda: site.states() == [State.RUNNING], 30)
        record = site.folder / "spool" / only_attempt(job).key / "end"

        def end() -> None:
            (site.folder / "go").touch()
            wait_for(record.exists)
            wait_for(lambda: not slurm.run("squeue", "--noheader", "--states=R,CG"), 20)

        lose_all_since(site, end)
        node = only_attempt(job).node
        assert "RUNNING" in slurm.run("squeue", "--noheader", "--format=%T")
        slurm.run("scontrol", "update", f"nodename={node}", "state=down", "reason=test")
        with suppress(RigFailure):  # it may have come back by itself
            slurm.run("scontrol", "update", f"nodename={node}", "state=resume")
        assert "RUNNING" not in slurm.run("squeue", "--noheader", "--format=%T")
        site.until(site.is_over, 90)
        for _ in range(20):
            site.look()
            time.sleep(0.1)
        assert (site.states(), site.runs()) == ([State.SUCCEEDED], [1]), site.describe()
        assert only_attempt(job).exit_code == 0


@SEEDS
def test_pending_jobs_that_were_forgotten_run_once(site, seed):
    def fill() -> None:
        for _ in range(2 + seed):
            site.submit("sleep 1")
        site.slurm.run("scontrol", "update", "partitionname=batch", "state=down")
        site.until(lambda: set(site.states()) == {State.SUBMITTED}, 30)

    lose_all_since(site, fill)
    site.slurm.run("scontrol", "update", "partitionname=batch", "state=up")
    site.until(site.is_over, 120)
    assert set(site.states()) == {State.SUCCEEDED}, site.describe()
    assert site.runs() == [1] * (2 + seed)


def test_job_known_only_to_accounting_is_lost(site_by_commands, monkeypatch):
    """Accounting never learns the end of a job that the controller has forgotten."""
    site = site_by_commands
    monkeypatch.setattr(observations, "LOST_AFTER", timedelta(seconds=3))
    monkeypatch.setattr(native_queue, "CONFIRMED_AFTER", timedelta(0))

    def begin() -> None:
        job = site.submit("sleep 60")
        site.until(
            lambda: (
                only_attempt(job).confirmed_at
                and "RUNNING" in accounted(site, only_attempt(job).key)
            ),
            40,
        )

    lose_all_since(site, begin)
    site.until(site.is_over, 40)
    lost = only_attempt(site.jobs[0])
    assert (site.states(), lost.reason) == ([State.FAILED], Reason.LOST), site.describe()
    assert "RUNNING" in accounted(site, lost.key)


def accounted(site: Site, key: str) -> str:
    return site.slurm.run(
        "sacct",
        "--allusers",
        "--noheader",
        "--parsable2",
        "--allocations",
        f"--name={key}",
        "--format=State",
    )
