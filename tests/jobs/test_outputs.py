"""Where a job's files are kept, as pages, API and dry run report it."""

from __future__ import annotations

from datetime import timedelta

import pytest

from clusters.models import Cluster, Node
from jobs import services
from jobs.models import Attempt
from jobs.selectors import representations
from portal.core import clock
from schedulers.spec import parse_mapping
from schedulers.states import State
from tests.jobs.stage import GIB, cluster_with, submit
from workspaces.tenancy.scope import org_scope, platform_scope

SERVER = {"server": "http://127.0.0.1:1", "image": "local/bash:1"}


def cluster(**config) -> Cluster:
    """Return a cluster that is never called."""
    made = Cluster.objects.create(name="k8s", backend="kubernetes", config=SERVER | config)
    Node.objects.create(cluster=made, name="n0", cpus=64_000, memory=512 * GIB)
    return made


def output_text_of(job) -> str:
    with org_scope(job.org_id):
        return representations.job_detail(job)["output"]


def end(job) -> None:
    with platform_scope("test"):
        Attempt.objects.filter(job=job).update(
            state=State.SUCCEEDED, finished_at=clock.now() - timedelta(days=8)
        )


SAVE = "To keep them here, add an output to the job."
GONE = f"Files in MUSTER_OUTPUT_DIR were deleted when the job ended. {SAVE}"


@pytest.mark.parametrize(
    ("config", "before", "after"),
    [
        (
            {},
            (
                "Files in MUSTER_OUTPUT_DIR are deleted when the job ends, as this cluster keeps none. "
                f"{SAVE}"
            ),
            GONE,
        ),
        (
            {"shared": ["data:/data", "more:/more"]},
            (
                "Files in MUSTER_OUTPUT_DIR are deleted when the job ends; files in /data, /more are "
                "kept."
            ),
            GONE,
        ),
        (
            {"outputs": "kept:/kept"},
            f"Files in MUSTER_OUTPUT_DIR are kept on the cluster. {SAVE}",
            f"Files in MUSTER_OUTPUT_DIR are kept on the cluster. {SAVE}",
        ),
    ],
)
def test_kubernetes_job_says_whether_its_files_stay(story, config, before, after):
    cluster(**config)
    job = submit(story)
    assert output_text_of(job) == before
    end(job)
    assert output_text_of(job) == after


def test_local_job_says_how_long_its_files_stay_and_names_no_folder(story):
    cluster_with()
    job = submit(story)
    stay = "Files in MUSTER_OUTPUT_DIR are kept on the cluster until 7 days after the end."
    assert output_text_of(job) == f"{stay} {SAVE}"
    end(job)
    assert output_text_of(job) == f"{stay} {SAVE}"
    with platform_scope("test"):
        Attempt.objects.filter(job=job).update(is_forgotten=True)
    assert output_text_of(job) == "Files in MUSTER_OUTPUT_DIR were deleted 7 days after the end."


def test_unreadable_cluster_options_leave_the_page_unchanged(story):
    broken = cluster()
    job = submit(story)
    Cluster.objects.filter(id=broken.id).update(config={"user_id": 0})
    assert output_text_of(job) == ""


def test_dry_run_warns_only_where_files_are_lost(story):
    cluster()
    assert ("output", True) in [(check.name, check.is_ok) for check in rehearsed(story).checks]
    Cluster.objects.update(config=SERVER | {"outputs": "kept:/kept"})
    assert "output" not in [check.name for check in rehearsed(story).checks]


def rehearsed(story) -> services.DryRun:
    with org_scope(story.atlas.id):
        return services.dry_run_job(
            actor=story.actor(story.ada), team=story.vision, spec=parse_mapping({"run": "true"})
        )


def test_page_of_a_pending_job_describes_its_output(story):
    cluster()
    job = submit(story)
    page = story.client(story.ada).get(f"/{story.atlas.slug}/jobs/{job.number}").content.decode()
    assert "are deleted when the job ends, as this cluster keeps none" in page
