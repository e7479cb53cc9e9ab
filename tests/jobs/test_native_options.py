"""Native Slurm options of a spec, and the ones that the chosen cluster ignores."""

from __future__ import annotations

import pytest

from clusters.models import Cluster, Node
from jobs import services
from jobs.dispatch.claims import claim_due
from jobs.dispatch.launch import build_launches
from portal.core.errors import InvalidInput
from schedulers.spec import parse_mapping, parse_text
from tests.jobs.stage import GIB, cluster_with, submit
from workspaces.tenancy.scope import org_scope, platform_scope

SCRIPT = (
    "#!/bin/bash\n#SBATCH -A borealis -q long -n 4\n#SBATCH --signal=B:USR1@120\nsrun hostname\n"
)


@pytest.fixture
def slurm() -> Cluster:
    """Return a Slurm cluster that is never called."""
    cluster = Cluster.objects.create(
        name="big", backend="slurm", config={"spool": "/spool", "account": "atlas"}
    )
    Node.objects.create(cluster=cluster, name="n0", cpus=64_000, memory=512 * GIB)
    return cluster


def test_batch_script_reaches_slurm_with_its_options(story, slurm):
    job = submit(story, **parse_text(SCRIPT).spec.to_mapping())
    assert job.place_why == "`slurm.account` is left out: the operator of this cluster has set it."
    with platform_scope("test"):
        [launch] = build_launches(claim_due(slurm.id).attempts, ())
    assert launch.native == {
        "account": "borealis",
        "qos": "long",
        "signal": "B:USR1@120",
        "tasks": 4,
    }


def test_native_options_on_another_backend_are_reported_as_ignored(story):
    cluster_with()
    assert (
        submit(story, slurm={"account": "vision"}).place_why
        == "`slurm` is ignored: this is not a Slurm cluster."
    )


@pytest.mark.parametrize("option", [{"constraint": "a100"}, {"licenses": "x"}, {"signal": "USR1"}])
def test_option_that_changes_the_result_is_refused_on_another_backend(story, option):
    cluster_with()
    with pytest.raises(InvalidInput, match="which does not run Slurm"):
        submit(story, slurm=option)


def test_dry_run_shows_native_options_and_what_is_ignored(story, slurm):
    with org_scope(story.atlas.id):
        result = services.dry_run_job(
            actor=story.actor(story.ada), team=story.vision, spec=parse_text(SCRIPT).spec
        )
    assert "`slurm.account` is left out: the operator of this cluster has set it." in [
        check.text for check in result.checks
    ]
    assert {"#SBATCH --account=atlas", "#SBATCH --qos=long", "#SBATCH --ntasks=4"} <= set(
        result.launch.splitlines()
    )


def test_features_that_override_cluster_options_are_refused_at_submission(story, slurm):
    Cluster.objects.filter(id=slurm.id).update(config={"spool": "/spool", "constraint": "nvlink"})
    with pytest.raises(InvalidInput) as refused, org_scope(story.atlas.id):
        services.submit_job(
            actor=story.actor(story.ada),
            team=story.vision,
            spec=parse_mapping({"run": "x", "slurm": {"constraint": "a|b"}}),
        )
    assert refused.value.data["errors"][0]["field"] == "slurm.constraint"


def test_image_on_a_cluster_without_images_is_refused_at_submission(story, slurm):
    with pytest.raises(InvalidInput, match="containers cannot be run here"):
        submit(story, image="nvcr.io/muster/tools:1.2")
    Cluster.objects.filter(id=slurm.id).update(config={"spool": "/spool", "containers": "auto"})
    assert (
        submit(story, image="nvcr.io/muster/tools:1.2").spec["image"] == "nvcr.io/muster/tools:1.2"
    )


def test_script_calling_srun_with_an_image_is_refused(story, slurm):
    Cluster.objects.filter(id=slurm.id).update(config={"spool": "/spool", "containers": "pyxis"})
    with pytest.raises(InvalidInput, match="outside of an image"):
        submit(
            story,
            **parse_text(
                "#!/bin/bash\n#SBATCH --container-image=ubuntu:24.04\nsrun hostname\n"
            ).spec.to_mapping(),
        )
