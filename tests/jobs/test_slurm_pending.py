"""Why a job is pending on a real Slurm: numbers, holders, and a change that starts it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from jobs import services
from jobs.models import Job
from jobs.scheduling import pending_explanation
from schedulers.spec import parse_mapping
from schedulers.states import State, Wait
from tests.jobs.slurm_site import Site, site_on
from tests.rig.slurm import Slurm
from tests.story import Story
from workspaces.tenancy.scope import org_scope

pytestmark = pytest.mark.integration


@pytest.fixture
def site(story: Story, slurm: Slurm, home: Path) -> Iterator[Site]:
    """Connect a Slurm where all teams share one account that is limited to four GPUs."""
    slurm.run("sacctmgr", "-i", "modify", "account", "atlas", "set", "GrpTRES=gres/gpu=4")
    try:
        with site_on(story, slurm, by_rest=False) as site:
            yield site
    finally:
        slurm.run("sacctmgr", "-i", "modify", "account", "atlas", "set", "GrpTRES=gres/gpu=-1")


def submit(story: Story, gpus: int, is_of_atlas: bool = True) -> Job:
    """Submit a job as Ada to Vision, or as Cyd in another organization."""
    spec = parse_mapping(
        {
            "run": "sleep 300",
            "resources": {"cpus": 1, "memory": "100Mi", "accelerators": f"h100:{gpus}"},
        }
    )
    person, org, team = (
        (story.ada, story.atlas, story.vision)
        if is_of_atlas
        else (story.cyd, story.borealis, story.north)
    )
    with org_scope(org.id):
        return services.submit_job(actor=story.actor(person), team=team, spec=spec)


def is_in(job: Job, state: State) -> bool:
    return Job.objects.get(id=job.id).state == state


def test_limit_shared_by_tenants_is_explained_within_the_viewers_permissions(site, story):
    mine, theirs = submit(story, 2), submit(story, 1, is_of_atlas=False)
    site.until(lambda: is_in(mine, State.RUNNING) and is_in(theirs, State.RUNNING), 60)
    waits, theirs_too = submit(story, 3), submit(story, 2, is_of_atlas=False)

    def told(job, person):
        job.refresh_from_db()
        return pending_explanation.explanation_of(job, story.actor(person))

    site.until(
        lambda: all(
            (seen := told(*one)) and "used" in seen.numbers
            for one in ((waits, story.ada), (theirs_too, story.cyd))
        ),
        90,
    )
    seen, other = told(waits, story.ada), told(theirs_too, story.cyd)
    assert (
        seen.code == Wait.CLUSTER_LIMIT
        and seen.text == "Account atlas is using 3 of 4 GPUs; this job needs 3 GPUs."
    )
    assert [one["number"] for one in seen.holders] == [mine.number, None]
    assert [one["text"] for one in seen.holders][
        1
    ] == "1 other job is using 1 GPU" and seen.holders[0]["since"] is not None
    assert [one["number"] for one in other.holders] == [theirs.number, None] and other.holders[1][
        "text"
    ] == "1 other job is using 2 GPUs"
    assert seen.change["field"] == "resources.accelerators" and seen.change["to"] == 1
    assert [one["code"] for one in seen.history][-1] == Wait.CLUSTER_LIMIT
    smaller = submit(story, seen.change["to"])
    site.until(lambda: is_in(smaller, State.RUNNING), 60)
    assert is_in(waits, State.SUBMITTED)
