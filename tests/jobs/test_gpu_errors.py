"""Jobs that die of a GPU: the reason says so, and the next attempt runs elsewhere."""

from __future__ import annotations

from datetime import timedelta

import pytest

from clusters.models import Cluster, Device, Gpu, Node
from jobs.dispatch.avoidance import excluded_nodes
from jobs.dispatch.claims import claim_due
from jobs.dispatch.gpu_errors import PATIENCE, awaiting_agents
from jobs.dispatch.lifecycle import StateChange, transition
from jobs.models import Attempt, Job
from monitoring.metrics.ingest import ingest
from portal.core import clock
from portal.core.models import Event
from schedulers.states import Reason, State
from tests.jobs.stage import GIB, cluster_with, only_attempt, submit
from workspaces.tenancy.scope import platform_scope

GPU = {"resources": {"accelerators": "H100:1"}, "policy": {"retries": 1, "backoff": 0}}


@pytest.fixture(autouse=True)
def everywhere(db):
    with platform_scope("test"):
        yield


def report(node="n0", *xids, gpus=2, samples=()):
    """Report as the node's agent; `xids` are (code, GPU, keys of jobs)."""
    facts = {
        "gpus": [
            {"index": i, "uuid": f"GPU-{node[1:]}-{i}", "model": "NVIDIA H100", "memory": 80 * GIB}
            for i in range(gpus)
        ]
    }
    events = [
        {"kind": "xid", "code": code, "gpu": gpu, "at": clock.now_ms(), "jobs": list(jobs)}
        for code, gpu, jobs in xids
    ]
    samples = [{"name": "memory.used", "value": 1, "unit": "bytes"}]
    ingest(
        {"node": node, "at": clock.now_ms(), "facts": facts, "events": events, "samples": samples}
    )


def started(story, cluster, **spec):
    """Submit a job and start its attempt where the portal placed it."""
    job = submit(story, **{**GPU, **spec})
    [attempt] = claim_due(cluster.id).attempts
    step(attempt, State.RUNNING, node=attempt.node or "n0", started_at=clock.now())
    attempt.refresh_from_db()
    return job, attempt


def step(attempt, to, reason=None, **more):
    return transition([StateChange(attempt.id, to, "test", reason, **more)])


def fail(attempt, reason=Reason.USER_ERROR, **more):
    step(attempt, State.FAILED, reason, evidence="Exit code 1.", exit_code=1, **more)
    attempt.refresh_from_db()
    return attempt


def test_hardware_error_is_the_reason_and_the_retry_takes_another_gpu(story):
    cluster = cluster_with(gpus=2)
    report()
    job, attempt = started(story, cluster)
    assert attempt.placement["uuids"] == ["GPU-0-0"]
    report("n0", (79, 0, ()))
    fail(attempt)
    assert attempt.reason == Reason.XID
    assert attempt.evidence == (
        "GPU 0 on node n0 reported XID 79 (GPU has fallen off the bus). Exit code 1."
    )
    planned = Event.objects.get(kind="attempt.retry_planned")
    assert (planned.data["after"], planned.data["avoids"]) == ("xid", "n0")
    again = only_attempt(job)
    assert (again.ordinal, again.avoid) == (2, {"nodes": ["n0"], "gpus": ["GPU-0-0"]})
    [again] = claim_due(cluster.id).attempts
    assert again.placement["uuids"] == ["GPU-0-1"]
    page = story.client(story.ada).get(f"/atlas/jobs/{job.number}?attempt=1").content.decode()
    assert "XID 79" in page and "The hardware failed, not the program" in page
    assert "This attempt avoids" not in page
    page = story.client(story.ada).get(f"/atlas/jobs/{job.number}").content.decode()
    assert "This attempt avoids n0" in page


def test_only_gpu_of_a_cluster_is_used_again(story):
    cluster = cluster_with(gpus=1)
    report(gpus=1)
    _, attempt = started(story, cluster)
    report("n0", (48, 0, ()), gpus=1)
    fail(attempt)
    [again] = claim_due(cluster.id).attempts
    assert again.placement["uuids"] == ["GPU-0-0"]


def test_program_error_names_the_program_and_is_not_retried(story):
    cluster = cluster_with(gpus=2)
    report()
    job, attempt = started(story, cluster)
    report("n0", (31, 0, ()), (45, 0, ()))
    fail(attempt)
    assert attempt.reason == Reason.USER_ERROR
    assert "XID 31 (GPU memory page fault). This is an error of the program" in attempt.evidence
    assert Job.objects.get(id=job.id).state == State.FAILED


@pytest.mark.parametrize(
    ("xid", "when"),
    [((79, 1, ()), 0), ((45, 0, ()), 0), ((54, 0, ()), 0), ((79, 0, ()), -120)],
    ids=["another GPU", "a sequel", "no reason to act", "before the run"],
)
def test_other_errors_explain_nothing(story, xid, when):
    cluster = cluster_with(gpus=2)
    report()
    with clock.frozen(clock.now() + timedelta(seconds=when)):
        report("n0", xid)
    _, attempt = started(story, cluster)
    if not when:
        report("n0", xid)
    fail(attempt)
    assert (attempt.reason, attempt.evidence) == (Reason.USER_ERROR, "Exit code 1.")


def test_job_without_gpus_or_that_was_canceled_keeps_its_reason(story):
    cluster = cluster_with(gpus=2)
    report()
    _, attempt = started(story, cluster, resources={"cpus": 1})
    report("n0", (79, None, ()))
    fail(attempt)
    assert attempt.reason == Reason.USER_ERROR
    _, attempt = started(story, cluster)
    report("n0", (79, 0, ()))
    fail(attempt, Reason.TIME_LIMIT)
    assert attempt.reason == Reason.TIME_LIMIT


def test_unknown_gpus_count_the_hardware_of_the_node_and_jobs_named_by_the_agent(story):
    cluster = cluster_with(gpus=2)
    report()
    _, attempt = started(story, cluster)
    Attempt.objects.filter(id=attempt.id).update(placement=None)
    report("n0", (13, 1, ()))  # perhaps of another job
    fail(attempt)
    assert attempt.evidence == "Exit code 1."
    _, attempt = started(story, cluster)
    Attempt.objects.filter(id=attempt.id).update(placement=None)
    report("n0", (13, 1, [attempt.key]))
    assert "XID 13" in fail(attempt).evidence
    _, attempt = started(story, cluster)
    Attempt.objects.filter(id=attempt.id).update(placement=None)
    report("n0", (95, 1, ()))
    assert fail(attempt, Reason.NODE_FAILED).reason == Reason.XID


def test_error_that_arrives_after_the_end_still_explains_it(story):
    cluster = cluster_with(gpus=2)
    report()
    job, attempt = started(story, cluster, policy={})
    fail(attempt)
    report("n0", (79, 0, ()))
    attempt.refresh_from_db()
    row = Job.objects.get(id=job.id)
    assert (attempt.reason, row.reason, row.state) == (Reason.XID, Reason.XID, State.FAILED)
    report("n0", (79, 0, ()))
    assert Event.objects.filter(kind="attempt.explained").count() == 1
    assert Attempt.objects.filter(job=job).count() == 1


def test_end_waits_a_moment_for_the_agent_if_a_retry_depends_on_it(story):
    cluster = cluster_with(gpus=2)
    report()
    _, attempt = started(story, cluster)
    end = clock.now() + timedelta(seconds=1)
    with clock.frozen(end + timedelta(seconds=1)):
        assert awaiting_agents({attempt.id: end}) == {attempt.id}
        report()  # after the end
        assert awaiting_agents({attempt.id: end}) == set()
    _, other = started(story, cluster, policy={})
    end = clock.now() + timedelta(seconds=3)
    with clock.frozen(end + timedelta(seconds=1)):
        assert awaiting_agents({other.id: end}) == set()
    for now in (end + PATIENCE, end - PATIENCE):  # the node's clock may be ahead
        with clock.frozen(now):
            assert awaiting_agents({attempt.id: end}) == set()


def test_scheduler_excludes_nodes_unless_only_they_could_run_the_job(story):
    cluster = cluster_with(gpus=2, nodes=2)
    _, attempt = started(story, cluster)
    attempt.avoid = {"nodes": ["n0"], "gpus": []}
    assert excluded_nodes(cluster, [attempt]) == {}  # the portal places its jobs
    Cluster.objects.update(backend="slurm")
    cluster.refresh_from_db()
    assert excluded_nodes(cluster, [attempt]) == {attempt.id: ("n0",)}
    Node.objects.filter(name="n1").update(is_drained=True)
    assert excluded_nodes(cluster, [attempt]) == {}
    Node.objects.filter(name="n1").update(is_drained=False)
    Gpu.objects.filter(node__name="n1").delete()
    assert excluded_nodes(cluster, [attempt]) == {}
    assert Device.objects.count() == 0
