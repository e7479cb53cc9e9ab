"""Explanation of pending jobs whose cluster or nodes are out of service."""

from __future__ import annotations

from datetime import timedelta

import pytest

from clusters.models import Cluster, Node
from jobs.models import Job
from jobs.scheduling import pending_explanation
from jobs.selectors import representations
from portal.core import clock
from schedulers.contract import Unavailable
from schedulers.states import State, Wait
from tests.jobs.backend_double import BackendDouble
from tests.jobs.stage import cluster_with, dispatch_all, submit
from workspaces.tenancy.scope import platform_scope

SAID = "Slurm's controller does not answer."
WORDS = f"Cluster local hasn't responded for 4 min. {SAID}"


@pytest.fixture
def away(story, monkeypatch) -> BackendDouble:
    """Return a cluster whose scheduler is down, which the portal has not noticed yet."""
    double = BackendDouble()
    cluster_with()

    def fail(launch: object) -> None:
        raise Unavailable(SAID)

    double.before_submit = fail
    monkeypatch.setattr("clusters.backends.backend_of", lambda row: double)
    return double


@pytest.mark.usefixtures("away")
def test_pending_explanation_names_the_silent_cluster_and_since_when(story):
    since = clock.now() - timedelta(minutes=4)
    viewer, handed_over = story.actor(story.ada), submit(story)
    dispatch_all()
    with platform_scope("test"):
        job = Job.objects.get(id=handed_over.id)
        assert job.state == State.DISPATCHING
        assert (
            pending_explanation.explanation_of(job, viewer).text
            == f"Cluster local couldn't accept the job yet. {SAID}"
        )
        Cluster.objects.update(trouble=SAID, trouble_since=since)
        submit(story)
        for job in Job.objects.select_related("cluster"):
            explanation, row = (
                pending_explanation.explanation_of(job, viewer),
                representations.job_row(job)["pending"],
            )
            assert (explanation.text, explanation.since, row["text"]) == (WORDS, since, WORDS)


def test_job_that_only_a_drained_node_could_run_waits(story):
    cluster_with(cpus=4, nodes=2)
    Node.objects.filter(name="n0").update(is_drained=True, cpus=64_000)
    job = submit(story, resources={"cpus": 8})
    dispatch_all()
    with platform_scope("test"):
        explanation = pending_explanation.explanation_of(
            Job.objects.get(id=job.id), story.actor(story.ada)
        )
    assert (explanation.code, explanation.change["to"]) == (Wait.NODES_DOWN, 4)
