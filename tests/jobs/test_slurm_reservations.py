"""A granted pool on a real Slurm is a reservation: others wait, the team starts, the end frees it."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from clusters.models import Cluster, Pool, PoolReservation
from clusters.services import pool_requests as service
from clusters.services.pools import grant_pool
from clusters.tasks import run_pool_requests
from jobs import services
from jobs.models import Attempt, Job
from monitoring.what_if import what_if
from portal.core import clock
from portal.core.errors import Conflict, InvalidInput
from schedulers.contract import Identity
from schedulers.slurm.transport import LocalTransport
from schedulers.spec import parse_mapping
from schedulers.states import State, Wait
from tests.jobs.slurm_site import Site, site_on
from tests.rig.slurm import Slurm
from tests.story import Story
from workspaces.tenancy.scope import org_scope, platform_scope

pytestmark = pytest.mark.integration


@pytest.fixture
def site(story: Story, slurm: Slurm, home: Path) -> Iterator[Site]:
    """Connect four nodes of four GPUs, as a pool that North of another organization may use."""
    with site_on(story, slurm, by_rest=False) as site:
        pool = Pool.objects.create(name="h100", cluster=site.cluster, partition="batch")
        grant_pool(actor=story.actor(story.dot), pool=pool, team=story.north)
        yield site
        slurm.run("scancel", "--user", slurm.user)
        for line in shown(slurm):
            slurm.run("scontrol", "delete", line.split()[0])


def submit(story: Story, team, gpus: int = 4, run: str = "sleep 300", **spec) -> Job:
    person, org = (story.cyd, story.borealis) if team == story.north else (story.ada, story.atlas)
    resources = {"cpus": 1, "memory": "100Mi", "accelerators": f"h100:{gpus}"}
    with org_scope(org.id):
        return services.submit_job(
            actor=story.actor(person),
            team=team,
            spec=parse_mapping({"run": run, "resources": resources, **spec}),
        )


def requested(story: Story, gpus: int):
    with org_scope(story.atlas.id):
        return service.request_pool(
            actor=story.actor(story.ben),
            org=story.atlas,
            team=story.vision,
            gpu_type="h100",
            gpus=gpus,
            ends_at=clock.now() + timedelta(days=3),
        )


def said_of(story: Story, row):
    """Return what the operator is told before the decision."""
    with org_scope(story.atlas.id):
        [effect] = what_if(story.actor(story.dot, story.atlas), row)
    return effect.reservation


def approve(story: Story, row):
    with org_scope(story.atlas.id):
        actor = story.actor(story.dot, story.atlas)
        return service.decide(do="approve", actor=actor, request_id=row.id, pool="h100")


def approved(story: Story, gpus: int):
    """Return a request as the operator approved it, and what was said before."""
    row = requested(story, gpus)
    said = said_of(story, row)
    return approve(story, row), said


def shown(slurm: Slurm) -> list[str]:
    text = slurm.run("scontrol", "show", "reservation", "--oneliner")
    return [line for line in text.splitlines() if line.startswith("ReservationName=muster-")]


def is_in(job: Job, state: State) -> bool:
    return Job.objects.get(id=job.id).state == state


def test_reservation_keeps_others_out_until_it_is_returned(site, story, slurm):
    row, said = approved(story, gpus=3)
    kept = PoolReservation.objects.get(id=row.reservation_id)
    assert said.text == f"Reserves node n1 in Slurm as reservation {kept.name} for user games."
    assert (said.gpus, kept.nodes) == (4, {"n1": 4})
    run_pool_requests()
    [line] = shown(slurm)
    assert kept.name in line and " Nodes=n1 " in line and "Users=games" in line
    theirs = [submit(story, story.north) for _ in range(4)]
    site.until(lambda: sum(is_in(job, State.RUNNING) for job in theirs) == 3, 60)
    [waits] = [job for job in theirs if not is_in(job, State.RUNNING)]
    site.until(lambda: Job.objects.get(id=waits.id).wait == Wait.RESERVED, 60)
    own = submit(story, story.vision, 2, run="sleep 30; echo done")
    site.until(lambda: is_in(own, State.RUNNING), 60)
    assert Attempt.objects.get(job=own).node == "n1"
    slurm.run("scontrol", "update", f"ReservationName={kept.name}", "Nodes=n1,n2")
    run_pool_requests()
    assert " Nodes=n1 " in shown(slurm)[0]  # never more than promised
    with org_scope(story.atlas.id):
        service.decide(do="return", actor=story.actor(story.ben), request_id=row.id)
    run_pool_requests()
    assert shown(slurm) == []
    kept.refresh_from_db()
    assert kept.state == "ended"
    site.until(lambda: is_in(waits, State.RUNNING), 90)
    assert is_in(own, State.SUCCEEDED)


def test_user_cannot_choose_the_reservation_of_a_team(site, story, slurm):
    row, _ = approved(story, gpus=4)
    run_pool_requests()
    with pytest.raises(InvalidInput, match="chosen by Muster"):
        submit(story, story.north, slurm={"reservation": row.reservation.name})


def test_partition_is_opened_to_the_account_and_closed_at_the_end(site, story, slurm):
    config = {**site.cluster.config, "exclusive_pools": "partition"}
    Cluster.objects.filter(id=site.cluster.id).update(config=config)
    pool = Pool.objects.get()
    Pool.objects.filter(id=pool.id).update(partition="debug")
    with platform_scope("test"):
        grant_pool(
            actor=story.actor(story.dot),
            pool=pool,
            team=story.vision,
            identity=Identity(account="atlas"),
        )
    try:
        row, said = approved(story, gpus=4)
        run_pool_requests()
        assert said.text.startswith("Opens partition debug in Slurm to account atlas only.")
        assert "AllowAccounts=atlas " in slurm.run("scontrol", "show", "partition", "debug", "-o")
        own = submit(story, story.vision, 4, run="true")
        site.until(lambda: is_in(own, State.SUCCEEDED), 60)
        with org_scope(story.atlas.id):
            service.decide(do="return", actor=story.actor(story.ben), request_id=row.id)
        run_pool_requests()
        assert "AllowAccounts=root " in slurm.run("scontrol", "show", "partition", "debug", "-o")
    finally:
        slurm.run("scontrol", "update", "PartitionName=debug", "AllowAccounts=ALL")


def test_old_slurmrestd_says_which_way_is_used_before_the_approval(story, slurm, home):
    with site_on(story, slurm, by_rest=True) as site:
        Pool.objects.create(name="h100", cluster=site.cluster, partition="batch")
        row = requested(story, gpus=4)
        assert "(v0.0.38) cannot make reservations" in said_of(story, row).problem
        with pytest.raises(Conflict, match="login host"):
            approve(story, row)
        config = {**site.cluster.config, "conf": str(slurm.conf)}
        Cluster.objects.filter(id=site.cluster.id).update(config=config)
        assert "By Slurm's commands, because" in said_of(story, row).text
        approve(story, row)
        run_pool_requests()
        [line] = shown(slurm)
        assert "Users=games" in line
        own = submit(story, story.vision, 4, run="true")
        site.until(lambda: is_in(own, State.SUCCEEDED), 60)
        with org_scope(story.atlas.id):
            service.decide(do="return", actor=story.actor(story.ben), request_id=row.id)
        run_pool_requests()
        assert shown(slurm) == []


def test_missing_right_is_told_with_advice(site, story, slurm, monkeypatch):
    row, _ = approved(story, gpus=4)
    real = "schedulers.slurm.transport.LocalTransport.run_all"
    refused = (1, b"", b"Error creating the reservation: Invalid user id")

    run_all = LocalTransport.run_all
    monkeypatch.setattr(
        real,
        lambda self, argv, *a, **k: refused if "create" in argv else run_all(self, argv, *a, **k),
    )
    run_pool_requests()
    kept = PoolReservation.objects.get(id=row.reservation_id)
    assert kept.state == "failed" and "AdminLevel=Operator" in kept.note
    monkeypatch.undo()
    run_pool_requests()
    kept.refresh_from_db()
    assert kept.state == "active" and len(shown(slurm)) == 1
