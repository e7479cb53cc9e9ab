"""Pools with a Kueue queue, on a double of Kubernetes with a minimal Kueue."""

from __future__ import annotations

import pytest

from clusters.backends import backend_of
from clusters.services.inventory import take_inventory
from clusters.services.pools import create_pool
from jobs.models import Job
from jobs.scheduling import pending_explanation
from schedulers.contract import Rejected
from schedulers.kubernetes import queues
from schedulers.states import Reason, State, Wait
from tests.jobs.kubernetes_site import Site
from tests.jobs.stage import only_attempt
from tests.schedulers.kubernetes_stage import launch

LATER = "2099-01-01T00:00:00Z"


@pytest.fixture
def queued(site: Site, monkeypatch: pytest.MonkeyPatch) -> Site:
    """Return a pool with the queue `gpu`, which admits one job at a time."""
    monkeypatch.setattr(queues, "WORKLOADS_FOR", 0.0)
    monkeypatch.setattr(queues, "VERSION_FOR", 0.0)
    site.double.kueue.install(gpu=1)
    take_inventory(site.cluster, backend_of(site.cluster))
    create_pool(
        actor=site.story.actor(site.story.dot),
        cluster=site.cluster,
        name="queued",
        partition="gpu",
        is_open=True,
    )
    return site


def submit(site: Site, script: str = "true") -> Job:
    return site.submit(script, policy={"pool": "queued", "grace": "1s"})


def current_explanation(site: Site, job: Job) -> pending_explanation.PendingExplanation | None:
    fresh = Job.objects.get(id=job.id)
    return (
        pending_explanation.explanation_of(fresh, site.story.actor(site.story.ada))
        if fresh.state > State.DISPATCHING
        else None
    )


def test_jobs_of_a_queued_pool_run_one_by_one_and_others_explain_the_wait(queued):
    go_on = queued.folder / "go-on"
    submit(queued, f"until [ -e {go_on} ]; do sleep 0.05; done")
    queued.until(lambda: queued.states() == [State.RUNNING])
    second = submit(queued)
    answer = queued.until(
        lambda: (a := current_explanation(queued, second)) and a.code == Wait.CLUSTER_LIMIT and a
    )
    assert answer.text.startswith("Kueue's flavor default has 1 of 1 GPU in use") and answer.advice
    go_on.touch()
    queued.until(queued.is_over)
    assert (queued.states(), queued.runs(), queued.remote()) == (
        [State.SUCCEEDED] * 2,
        [1, 1],
        [1, 1],
    )


def test_each_of_several_equal_jobs_explains_its_wait(queued):
    queued.double.kueue.give("gpu", 0)
    jobs = [submit(queued) for _ in range(3)]
    for job in jobs:
        answer = queued.until(
            lambda job=job: (
                (a := current_explanation(queued, job)) and a.code == Wait.CLUSTER_LIMIT and a
            )
        )
        assert "1 GPU more" in answer.text
    queued.double.kueue.give("gpu", 3)
    queued.until(queued.is_over)


def test_holders_of_the_queue_quota_are_named(queued):
    first = submit(queued, "sleep 60")
    queued.until(lambda: queued.states() == [State.RUNNING])
    second = submit(queued)
    answer = queued.until(lambda: (a := current_explanation(queued, second)) and a.holders and a)
    [holder] = answer.holders
    assert (
        holder["number"] == first.number
        and holder["text"].endswith("is using 1 GPU")
        and holder["since"] is not None
    )


def test_job_canceled_in_the_queue_never_starts(queued):
    queued.double.kueue.give("gpu", 0)
    job = submit(queued)
    queued.until(lambda: current_explanation(queued, job))
    queued.cancel(job)
    queued.until(queued.is_over)
    queued.double.kueue.give("gpu", 5)
    submit(queued)
    queued.until(queued.is_over)
    assert queued.states() == [State.CANCELED, State.SUCCEEDED] and queued.runs() == [0, 1]


def test_evicted_job_is_preempted_and_does_not_run_twice(queued):
    job = submit(queued, "sleep 60")
    queued.until(lambda: queued.states() == [State.RUNNING])
    queued.double.kueue.take_back(queued.double.store.all("jobs", "")[0])
    queued.until(queued.is_over)
    attempt = only_attempt(job)
    assert attempt.reason == Reason.PREEMPTED and "took its place back" in attempt.evidence
    queued.double.kueue.give("gpu", 1)
    for _ in range(10):
        queued.look()
    assert queued.runs() == [1]


@pytest.mark.parametrize("is_admitted_again", [False, True])
def test_suspension_that_is_heard_after_the_end_of_its_pod_is_a_preemption(
    queued, is_admitted_again
):
    job = submit(queued, "sleep 60")
    queued.until(lambda: queued.states() == [State.RUNNING])
    store = queued.double.store
    before, pod = store.all("jobs", "")[0], store.all("pods", "")[0]
    queued.double.kueue.take_back(before)
    if is_admitted_again:
        later = {"spec": {**before["spec"], "suspend": False}, "status": {"startTime": LATER}}
        store.update(
            "jobs",
            before["metadata"]["namespace"],
            before["metadata"]["name"],
            lambda thing: thing.update(later),
        )
    pod["metadata"]["deletionTimestamp"], pod["status"]["phase"] = LATER, "Failed"
    key = only_attempt(job).key
    seen = backend_of(queued.cluster)._view.observe(key, before, [pod], lambda _: "")
    assert seen.reason == Reason.PREEMPTED


def test_job_without_a_queue_starts_at_once_where_kueue_is_installed(queued):
    backend = backend_of(queued.cluster)
    key = backend.submit(launch()).key
    queued.until(lambda: backend.poll([key]).observations[0].state == State.RUNNING)
    backend.cancel(key)


def test_queue_without_kueue_is_refused_with_a_message(site):
    with pytest.raises(Rejected, match="Kueue is not installed"):
        backend_of(site.cluster).submit(launch(partition="gpu"))


def test_pool_labels_become_the_node_selector_of_its_pods(site):
    backend_of(site.cluster).submit(launch(node_labels={"disk": "nvme"}))
    site.until(lambda: site.double.store.all("pods", ""))
    assert site.double.store.all("pods", "")[0]["spec"]["nodeSelector"] == {"disk": "nvme"}
