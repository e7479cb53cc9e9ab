"""Submission to pools: the choice and its reason are stored, the scheduler gets the pool's rule."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from clusters.models import Cluster, Gpu, Node, Pool, PoolGrant
from jobs import services
from jobs.dispatch.claims import claim_due
from jobs.dispatch.launch import build_launches
from jobs.dispatch.submission import submit_launch
from jobs.models import Job
from jobs.selectors import representations
from portal.core.errors import InvalidInput
from schedulers.contract import Handle, Identity, Rejected
from schedulers.spec import parse_mapping
from tests.clusters.conftest import drainable  # noqa: F401  a fixture for every test here
from tests.jobs.stage import GIB, submit
from workspaces.tenancy.scope import org_scope, platform_scope


@pytest.fixture
def slurm(story) -> Cluster:
    cluster = Cluster.objects.create(name="big", backend="drainable", config={"url": "x"})
    node = Node.objects.create(
        cluster=cluster,
        name="n0",
        cpus=64_000,
        memory=512 * GIB,
        partitions=["gpu"],
        labels={"rack": "r1"},
    )
    Gpu.objects.bulk_create(
        Gpu(node=node, index=i, uuid=f"n0/{i}", model="x", type="h100", memory=80 * GIB)
        for i in range(8)
    )
    return cluster


@pytest.fixture
def pool(slurm) -> Pool:
    return Pool.objects.create(name="h100", cluster=slurm, partition="gpu", labels={"rack": "r1"})


def grant(story, pool: Pool) -> None:
    with org_scope(story.atlas.id):
        PoolGrant.objects.create(org=story.atlas, pool=pool, team=story.vision)


def test_pool_without_a_grant_takes_no_job_and_is_not_named(story, pool):
    with pytest.raises(InvalidInput, match="This team has no cluster to run on"):
        submit(story)
    with pytest.raises(InvalidInput) as refused:
        submit(story, policy={"pool": "h100"})
    assert "h100" not in refused.value.message
    with platform_scope("test"):
        assert not Job.objects.exists()


def test_granted_pool_takes_the_job_and_explains_why(story, pool):
    grant(story, pool)
    job = submit(story, resources={"accelerators": 2})
    with org_scope(story.atlas.id):
        data = representations.job_detail(Job.objects.get(id=job.id))
    assert (data["cluster"], data["pool"]) == ("big", "h100")
    assert data["place_why"] == (
        "h100 is the only one open to the team: 1 of 1 node has room for it now; 8 of 8 GPUs "
        "are free."
    )


def test_scheduler_receives_the_rule_of_the_pool(story, pool):
    grant(story, pool)
    submit(story)
    with platform_scope("test"):
        claim = claim_due(pool.cluster_id)
        assert claim is not None
        launch = build_launches(claim.attempts[:1], ())[0]
    assert (launch.place.partition, launch.place.node_labels) == ("gpu", {"rack": "r1"})


def test_scheduler_receives_the_identity_of_the_team(story, pool):
    grant(story, pool)
    with org_scope(story.atlas.id):
        PoolGrant.objects.update(run_as="vision", account="atlas")
    submit(story)
    with platform_scope("test"):
        [launch] = build_launches(claim_due(pool.cluster_id).attempts, ())
    assert (launch.identity.run_as, launch.block) == (Identity("vision", "atlas"), None)


@pytest.mark.parametrize("is_new", [True, False])
def test_revoked_grant_keeps_pending_jobs_from_starting(story, pool, is_new):
    grant(story, pool)
    submit(story)
    with platform_scope("test"):
        claim = claim_due(pool.cluster_id)
        PoolGrant.objects.all().delete()
        [launch] = build_launches(claim.attempts, () if is_new else {claim.attempts[0].id})
    begun: list[str] = []
    backend = SimpleNamespace(submit=begun.append, find=lambda key: None)
    with pytest.raises(Rejected, match="may no longer use pool h100"):
        submit_launch(backend, launch)
    assert begun == []
    if not is_new:
        assert (
            submit_launch(
                SimpleNamespace(submit=begun.append, find=lambda key: Handle(key, "7")), launch
            ).native_id
            == "7"
        )
        assert begun == []


def test_rerun_chooses_the_pool_again(story, slurm):
    job = submit(story)
    assert job.pool is None
    pool = Pool.objects.create(name="h100", cluster=slurm, partition="gpu")
    grant(story, pool)
    with org_scope(story.atlas.id):
        again = services.rerun_job(actor=story.actor(story.ada), job=job)
    assert again.pool == pool


def test_dry_run_names_the_pool_and_the_reason(story, pool):
    grant(story, pool)
    with org_scope(story.atlas.id):
        result = services.dry_run_job(
            actor=story.actor(story.ada), team=story.vision, spec=parse_mapping({"run": "true"})
        )
    assert any("cluster big. h100 is the only one open" in check.text for check in result.checks)
    assert result.launch.startswith("gpu ")


def test_deleted_pool_keeps_its_jobs(story, pool):
    grant(story, pool)
    job = submit(story)
    with platform_scope("test"):
        pool.delete()
        assert Job.objects.get(id=job.id).pool is None
