"""Faults between the portal and Kubernetes (a double): every attempt runs exactly once."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from random import Random
from typing import Any

import pytest

from jobs.models import Attempt, Job
from schedulers.contract import Unavailable
from schedulers.kubernetes import transport
from schedulers.kubernetes.client import Client
from schedulers.states import Reason, State
from tests.jobs.kubernetes_site import Killed, Site
from tests.jobs.stage import dispatch_all, only_attempt
from tests.rig import kubernetes_store
from tests.rig.kubernetes_store import Answer
from tests.rig.seeds import courses

SEEDS = courses([1, 2, 3], few=1)
POST = Client.post
BUSY = Answer(429, "TooManyRequests", "too many requests")
BROKEN = Answer(500, "InternalError", "etcdserver: leader changed")
GONE = Answer(410, "Expired", "too old resource version")
HANG = 0.6  # seconds; longer than the client's timeout in these tests


def faulty(seed: int, fault: BaseException) -> Callable[..., Any]:
    """Lose some requests and some responses; a Job may be left without its Secrets."""
    random = Random(seed)

    def post_or_not(self: Client, path: str, body: Any, **query: Any) -> Any:
        if random.random() < 0.2:
            raise fault
        answer = POST(self, path, body, **query)
        if random.random() < 0.3:
            raise fault
        return answer

    return post_or_not


@SEEDS
@pytest.mark.parametrize(
    "fault", [Killed(), Unavailable("no answer")], ids=["worker killed", "reply lost"]
)
def test_attempt_is_one_job_whatever_fails_between_submit_and_record(
    site, monkeypatch, seed, fault
):
    for _ in range(4):
        site.submit()
    monkeypatch.setattr(Client, "post", faulty(seed, fault))
    for _ in range(3):
        try:
            dispatch_all()
        except Killed:
            pass
        site.expire_leases()
    monkeypatch.undo()
    site.until(site.is_over)
    assert (site.remote(), site.runs(), set(site.states())) == ([1] * 4, [1] * 4, {State.SUCCEEDED})


def test_job_left_without_its_secrets_is_noticed_and_gets_them(site):
    job = site.submit()
    site.double.fail("/secrets", BROKEN)
    dispatch_all()
    site.until(lambda: any(pod["spec"].get("nodeName") for pod in site.pods(job)))
    assert only_attempt(job).state == State.DISPATCHING
    site.until(site.is_over)
    assert (site.remote(), site.runs(), site.states()) == ([1], [1], [State.SUCCEEDED])


@SEEDS
@pytest.mark.parametrize("fault", [BUSY, BROKEN, HANG], ids=["429", "500", "hangs"])
def test_busy_broken_or_hanging_server_only_delays(site, monkeypatch, seed, fault):
    random = Random(seed)
    monkeypatch.setattr(transport, "READ", 0.3)
    for n in range(4):
        site.submit(f"sleep {random.uniform(0, 1):.2f}; exit {n % 2}")
    for _ in range(6):
        site.double.fail(
            random.choice(["POST ", "GET ", "watch=1", "/secrets", "/jobs", "/pods"]),
            fault,
            random.choice([1, 2]),
        )
        dispatch_all()
        site.look()
        site.expire_leases()
    # The backoff has grown by now.
    site.until(lambda: site.expire_leases() or site.is_over(), 30)
    assert (site.remote(), site.runs(), site.states()) == (
        [1] * 4,
        [1] * 4,
        [State.SUCCEEDED, State.FAILED] * 2,
    )
    assert {a.reason for a in Attempt.objects.all()} == {Reason.COMPLETED, Reason.USER_ERROR}


@SEEDS
def test_closed_or_expired_watches_lose_no_end(site, seed):
    random = Random(seed)
    for n in range(6):
        site.submit(f"sleep {random.uniform(0, 1):.2f}; exit {n % 2}")
        dispatch_all()
        site.look()
        random.choice(
            [
                site.double.cut,
                site.double.store.forget_changes,
                lambda: site.double.fail("watch=1", GONE),
            ]
        )()
    site.until(site.is_over)
    assert (site.remote(), site.runs(), site.states()) == (
        [1] * 6,
        [1] * 6,
        [State.SUCCEEDED, State.FAILED] * 3,
    )


@SEEDS
def test_deleted_pod_ends_its_job_and_a_namesake_is_ignored(site, seed):
    job = site.submit("sleep 60")
    other = site.submit("sleep 2")
    site.until(lambda: site.states() == [State.RUNNING] * 2 and site.runs() == [1, 1])
    pod = site.pods(job)[0]
    site.double.node.delete(pod)
    site.until(lambda: not site.pods(job))
    _create_foreign_pods(site, pod, seed)
    site.until(site.is_over)
    attempt = only_attempt(job)
    assert (State(attempt.state), attempt.exit_code) == (
        State.FAILED,
        143,
    ) and "deleted" in attempt.evidence
    assert attempt.reason == Reason.INTERRUPTED and Reason.INTERRUPTED.is_retryable
    assert State(Job.objects.get(id=other.id).state) == State.SUCCEEDED and site.runs() == [1, 1]


def _create_foreign_pods(site: Site, pod: dict[str, Any], seed: int) -> None:
    """Create foreign pods with the names and labels of ours: ended well, failed or running."""
    for name, phase in (
        (pod["metadata"]["name"], ["Succeeded", "Failed", "Running"][seed % 3]),
        (f"{pod['metadata']['name']}-x", "Succeeded"),
    ):
        meta = {k: v for k, v in pod["metadata"].items() if k in {"labels", "annotations"}}
        owner = [{"apiVersion": "batch/v1", "kind": "Job", "name": "other", "uid": "other"}]
        site.double.store.create(
            "pods",
            pod["metadata"]["namespace"],
            {
                **pod,
                "metadata": {**meta, "name": name, "ownerReferences": owner},
                "status": {"phase": phase},
            },
        )


def test_secret_is_deleted_at_the_end_of_its_job_and_the_job_by_its_ttl(site):
    site.submit("echo $TOKEN; exit 3", envs={"TOKEN": "s3cret"})
    site.until(site.is_over)
    assert site.double.store.all("secrets", "") == []
    [job] = site.double.store.all("jobs", "")
    assert job["spec"]["ttlSecondsAfterFinished"] == 3 * 86400
    assert only_attempt(site.jobs[0]).is_log_sealed


@SEEDS
def test_cancel_at_any_moment_ends_the_job_on_both_sides(site, seed):
    random = Random(seed)
    for _ in range(8):
        site.submit(f"sleep {random.uniform(0, 1.5):.2f}")
    due = list(site.jobs)
    random.shuffle(due)
    while due:
        if random.random() < 0.5:
            dispatch_all()
        if random.random() < 0.5:
            site.look()
        if random.random() < 0.5:
            site.cancel(due.pop())
    site.until(site.is_over, 30)
    assert set(site.states()) <= {State.CANCELED, State.SUCCEEDED} and max(site.runs()) <= 1
    site.until(
        lambda: (
            not [
                pod
                for job in site.jobs
                for pod in site.pods(job)
                if pod["status"]["phase"] == "Running"
            ]
        )
    )


@SEEDS
@pytest.mark.parametrize("hours", [-1, 1])
def test_clock_skew_of_an_hour_changes_nothing(site, monkeypatch, hours, seed):
    monkeypatch.setattr(
        kubernetes_store, "skew", timedelta(hours=hours, seconds=Random(seed).uniform(-60, 60))
    )
    for _ in range(2):
        site.submit("sleep 0.5")
    site.submit("sleep 60", policy={"max_runtime": "1s"})
    site.until(site.is_over)
    assert (site.states(), site.runs()) == ([State.SUCCEEDED] * 2 + [State.FAILED], [1] * 3)
    for attempt in Attempt.objects.all():
        assert (
            timedelta(seconds=-2) < attempt.started_at - attempt.queued_at < timedelta(seconds=20)
        )
        assert timedelta(0) <= attempt.finished_at - attempt.started_at < timedelta(seconds=20)


@SEEDS
def test_unknown_phase_changes_nothing(site, seed):
    job = site.submit("sleep 2")
    site.until(lambda: site.states() == [State.RUNNING])
    pod = site.pods(job)[0]["metadata"]
    strange = Random(seed).choice(["Unknown", "Hibernating", ""])
    site.double.store.update(
        "pods",
        pod["namespace"],
        pod["name"],
        lambda thing: thing["status"].update(phase=strange or "Odd"),
    )
    for _ in range(3):
        site.look()
    assert site.states() == [State.RUNNING] and only_attempt(job).missing_since is None
    site.until(site.is_over)
    assert (site.states(), site.runs()) == ([State.SUCCEEDED], [1])
