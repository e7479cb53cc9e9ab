"""Slurm with preemption by partition tiers and requeue: each start is an attempt of its own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from jobs.models import Attempt
from schedulers.states import Reason, State
from tests.jobs.slurm_site import Site, site_on
from tests.rig.processes import Folder, RigFailure
from tests.rig.slurm import Slurm, start_slurm
from tests.story import Story

pytestmark = pytest.mark.integration
TIERS = {
    "PreemptType": "preempt/partition_prio",
    "PreemptMode": "REQUEUE",
    "PartitionName": "urgent Nodes=n[1-2] PriorityTier=10 State=UP",
}
WAYS = pytest.mark.parametrize("site", ["rest", "commands"], indirect=True)
REST = pytest.mark.parametrize("site", ["rest"], indirect=True)
COMMANDS = pytest.mark.parametrize("site", ["commands"], indirect=True)
FIRST_STAYS = '[ "$MUSTER_ATTEMPT" -gt 1 ] || sleep 600'
WHOLE = {"cpus": 4}


@pytest.fixture(scope="module")
def slurm() -> Iterator[Slurm]:
    rig = Folder()
    try:
        yield start_slurm(rig, nodes=2, cpus=4, gpus=0, accounting=False, settings=TIERS)
    finally:
        rig.close()


@pytest.fixture
def site(story: Story, slurm: Slurm, home: Path, request: pytest.FixtureRequest) -> Iterator[Site]:
    with site_on(story, slurm, by_rest=request.param == "rest") as site:
        yield site


def attempts() -> list[Attempt]:
    return list(Attempt.objects.order_by("ordinal"))


def starts(site: Site) -> None:
    site.until(lambda: site.states() == [State.RUNNING] and site.runs() == [1], 30)


def make_way(site: Site) -> None:
    """Run a job of a higher tier on all nodes for a moment."""
    site.slurm.run(
        "sbatch",
        "-p",
        "urgent",
        "-N2",
        "-c4",
        "--time=5",
        user=site.slurm.user,
        input=b"#!/bin/sh\nsleep 2\n",
    )


@WAYS
def test_preempted_job_is_retried_by_its_policy(site):
    site.submit(FIRST_STAYS, resources=WHOLE, policy={"retries": 1, "backoff": 0})
    starts(site)
    make_way(site)
    site.until(site.is_over, 60)
    first, second = attempts()
    assert (first.reason, first.evidence) == (
        Reason.PREEMPTED,
        "Slurm took its nodes for a job of higher priority.",
    )
    assert (second.reason, site.states()) == (Reason.COMPLETED, [State.SUCCEEDED])
    assert first.native_id != second.native_id and site.runs() == [2]


@WAYS
def test_preempted_job_without_retries_ends(site):
    site.submit("sleep 600", resources=WHOLE)
    starts(site)
    make_way(site)
    site.until(site.is_over, 60)
    [only] = attempts()
    assert (only.reason, site.states(), site.runs()) == (Reason.PREEMPTED, [State.FAILED], [1])


@REST
def test_requeued_job_is_a_new_attempt_and_does_not_run_twice(site):
    site.submit(FIRST_STAYS, resources=WHOLE, policy={"retries": 1, "backoff": 0})
    starts(site)
    site.slurm.run("scontrol", "requeue", attempts()[0].native_id)
    site.until(site.is_over, 60)
    first, second = attempts()
    assert (first.reason, second.reason) == (Reason.INTERRUPTED, Reason.COMPLETED)
    assert (
        first.evidence == "Somebody put it back into Slurm's queue (`scontrol requeue`)."
        and first.exit_code != 0
    )
    assert site.runs() == [2]


@COMMANDS
def test_command_submissions_are_not_requeued_by_slurm(site):
    site.submit("sleep 600", resources=WHOLE)
    starts(site)
    with pytest.raises(RigFailure, match="disabled"):
        site.slurm.run("scontrol", "requeue", attempts()[0].native_id)
    assert site.states() == [State.RUNNING]
