"""Why a job is pending on Kubernetes (a double): explained, with advice and a timeout."""

from __future__ import annotations

from datetime import timedelta

import pytest

from clusters.services.connections import change_cluster
from jobs.models import Job, PendingSpell
from jobs.scheduling import pending_explanation
from schedulers.states import Reason, State, Wait
from tests.jobs.kubernetes_site import Site
from tests.jobs.stage import only_attempt
from tests.rig import kubernetes_store

IMAGE = "registry.local/train:nightly"
TROUBLES = pytest.mark.parametrize(
    ("word", "said", "text", "reason"),
    [
        (
            "ErrImagePull",
            "manifest unknown",
            "The image cannot be had: manifest unknown",
            Reason.IMAGE_UNAVAILABLE,
        ),
        (
            "ImagePullBackOff",
            "Back-off pulling image",
            "The image cannot be had: Back-off pulling image",
            Reason.IMAGE_UNAVAILABLE,
        ),
        (
            "CreateContainerConfigError",
            "container has runAsNonRoot and image will run as root",
            "Its container cannot be made: container has runAsNonRoot and image will run as root",
            Reason.REJECTED,
        ),
    ],
)


def answer(site: Site, job: Job) -> pending_explanation.PendingExplanation | None:
    """Return the explanation while the cluster has the job."""
    fresh = Job.objects.get(id=job.id)
    return (
        pending_explanation.explanation_of(fresh, site.story.actor(site.story.ada))
        if fresh.state > State.DISPATCHING
        else None
    )


@TROUBLES
def test_unavailable_image_is_explained_and_the_job_runs_once_it_is_there(
    site, word, said, text, reason
):
    site.double.node.troubles[IMAGE] = (word, said)
    job = site.submit(image=IMAGE)
    explanation = site.until(lambda: answer(site, job))
    assert (
        site.states() == [State.STARTING]
        and (explanation.code, explanation.text) == (Wait.IMAGE, text)
        and explanation.advice
    )
    site.double.node.troubles.clear()
    site.until(site.is_over)
    assert (site.states(), site.runs()) == ([State.SUCCEEDED], [1])
    assert not PendingSpell.objects.filter(until=None).exists() and answer(site, job) is None


@TROUBLES
def test_unavailable_image_ends_the_job_after_its_timeout(
    site, monkeypatch, word, said, text, reason
):
    site.double.node.troubles[IMAGE] = (word, said)
    job = site.submit(image=IMAGE)
    site.until(lambda: answer(site, job))
    monkeypatch.setattr(kubernetes_store, "skew", timedelta(seconds=90))
    site.look()
    assert site.states() == [State.STARTING]
    monkeypatch.setattr(kubernetes_store, "skew", timedelta(seconds=150))
    site.until(site.is_over)
    attempt = only_attempt(job)
    assert (State(attempt.state), attempt.reason, attempt.evidence) == (State.FAILED, reason, text)
    assert attempt.started_at is None and site.runs() == [0]


def test_job_canceled_while_pulling_its_image_has_no_exit_code(site):
    site.double.node.troubles[IMAGE] = ("ImagePullBackOff", "Back-off pulling image")
    job = site.submit(image=IMAGE)
    site.until(lambda: answer(site, job))
    site.cancel(job)
    site.until(site.is_over)
    attempt = only_attempt(job)
    assert (site.states(), attempt.evidence) == ([State.CANCELED], "Canceled by ada@atlas.example.")
    assert (attempt.exit_code, attempt.signal, attempt.started_at) == (None, None, None)


def test_resolved_problem_is_not_shown_while_the_image_is_pulled(site):
    site.double.node.troubles[IMAGE] = ("ErrImagePull", "no route to host")
    job = site.submit(image=IMAGE)
    site.until(lambda: answer(site, job))
    site.double.node.troubles[IMAGE] = ("ContainerCreating", "")
    site.until(lambda: answer(site, job) is None, 10)
    assert site.states() == [State.STARTING]


def test_missing_shared_volume_is_named_as_the_operators_problem(site):
    change_cluster(
        actor=site.story.actor(site.story.dot),
        cluster=site.cluster,
        options={"shared": ["data:/data"]},
    )
    job = site.submit()
    explanation = site.until(lambda: answer(site, job))
    assert (
        explanation.code == Wait.CLUSTER_HELD
        and explanation.text.startswith("The claim data, a shared volume")
        and "operator" in explanation.advice
    )
    site.cancel(job)
    site.until(site.is_over)
    assert site.states() == [State.CANCELED]
