"""Suggestions: each is a change that the dry run accepts, and jobs, pages and the API show the same."""

from __future__ import annotations

import re

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from clusters.models import Cluster, Gpu, Node, Pool
from jobs.dispatch.lifecycle import StateChange, transition
from jobs.models import Attempt, Job
from jobs.services.suggestions import _reduced, with_changes
from jobs.specs.stored import request_of
from portal.core import clock
from schedulers.capacity import AmountChange
from schedulers.contract import Capability
from schedulers.spec import parse_mapping
from schedulers.states import Reason, State, Wait
from tests.clusters.conftest import Apart, gangs  # noqa: F401  a fixture
from tests.jobs.stage import GIB, cluster_with, submit
from workspaces.quotas.set_limits import LimitChange, set_quotas
from workspaces.tenancy.scope import org_scope, platform_scope

BASE = "/api/v1/orgs/atlas/jobs"


def gpus(cluster: Cluster, *nodes: tuple[str, str, int, int]) -> None:
    """Add nodes (name, type, GPUs, used)."""
    for name, kind, count, used in nodes:
        node = Node.objects.create(
            cluster=cluster,
            name=name,
            cpus=64_000,
            memory=512 * GIB,
            used_gpus=used,
        )
        Gpu.objects.bulk_create(
            Gpu(node=node, index=i, uuid=f"{name}/{i}", model=kind, type=kind, memory=80 * GIB)
            for i in range(count)
        )


@pytest.fixture
def slurm(gangs) -> Cluster:  # noqa: F811
    """Two nodes of 8 H100 of which all are in use, and one of 8 L40S with 4 free."""
    cluster = Cluster.objects.create(name="big", backend="apart", config={"url": "x"})
    gpus(cluster, ("n0", "h100", 8, 8), ("n1", "h100", 8, 8), ("n2", "l40s", 8, 4))
    return cluster


def start_of(story, **spec) -> dict:
    """Return what the page is told beside Submit."""
    text = yaml.safe_dump({"run": "true", **spec})
    body = {"yaml": text, "team": "vision"}
    found = story.api(story.ada).post(f"{BASE}/validate", body, content_type="application/json")
    return dict(found.json()["start"])


def labels(found: list[dict]) -> list[str]:
    return [one["label"] for one in found]


@given(st.sampled_from(["gpu", "cpu", "memory", "nodes"]), st.data())
def test_reduced_amount_is_accepted_by_the_spec(kind, data) -> None:
    step = {"cpu": 100, "memory": 1 << 20}.get(kind, 1)
    before = data.draw(st.integers(2, 64)) * step
    after = data.draw(st.integers(1, before // step - 1)) * step
    base = {"run": "true", "num_nodes": 9, "resources": {"memory": "2TB", "accelerators": 9}}
    [one] = _reduced(parse_mapping(base), AmountChange(kind, before, after))
    spec = with_changes(parse_mapping(base), one.changes)
    assert spec is not None
    whole_gib = after // GIB * GIB if kind == "memory" and after >= GIB else after
    assert request_of(spec).of(kind) == whole_gib


def test_16_gpus_become_two_nodes_of_8(story, slurm):
    for with_pool in (False, True):
        if with_pool:
            Pool.objects.create(name="all", cluster=slurm, is_open=True)
        start = start_of(story, resources={"accelerators": "H100:16"})
        assert start["ok"] is not with_pool and not start["starts_now"]
        [first, *_] = start["suggestions"]
        assert first["label"] == "Use 2 nodes × 8"
        assert first["changes"] == {"num_nodes": 2, "resources.accelerators": "h100:8"}
    taken = start_of(story, num_nodes=2, resources={"accelerators": "h100:8"})
    assert taken["ok"]


def test_free_gpus_of_another_type_are_offered_and_start(story, slurm):
    start = start_of(story, resources={"accelerators": "H100:4"})
    assert (start["ok"], start["starts_now"]) == (True, False)
    assert labels(start["suggestions"]) == ["Use L40S (4 free)"]
    assert start_of(story, resources={"accelerators": "l40s:4"})["starts_now"]
    assert not start_of(story, resources={"accelerators": "H100:5"})["suggestions"]


def test_more_than_a_node_has_becomes_the_most_that_fits(story, slurm):
    start = start_of(story, resources={"cpus": 100})
    assert labels(start["suggestions"]) == ["Use 64 cores"]
    start = start_of(story, resources={"memory": "600Gi"})
    assert start["suggestions"][0]["changes"] == {"resources.memory": "512Gi"}


def test_quota_offers_less_and_the_request_for_more(story, slurm):
    with org_scope(story.atlas.id):
        change = LimitChange("team", "vision", "gpu", 2)
        set_quotas(actor=story.actor(story.ada), org=story.atlas, changes=[change])
    start = start_of(story, resources={"accelerators": "l40s:4"})
    assert labels(start["suggestions"]) == ["Use 2 GPUs", "Request more"]
    assert start["suggestions"][1]["page"] == (
        "/atlas/quotas?ask=team%3Avision&resource=gpu&amount=4"
    )
    assert start["suggestions"][1]["command"] == "muster quota request gpu 4 --team vision"


def test_limits_of_team_rules_are_offered(story, slurm):
    with org_scope(story.atlas.id):
        story.vision.job_rules = {"max_runtime": 3600, "max_gpus": 2}
        story.vision.save(update_fields=["job_rules"])
    start = start_of(story, resources={"accelerators": "l40s:4"}, policy={"max_runtime": "5h"})
    assert start["suggestions"][0]["changes"] == {
        "policy.max_runtime": "1h",
        "resources.accelerators": "l40s:2",
    }


def ended(story, reason: Reason, **spec) -> dict:
    """Return a job that failed for a reason, as the API tells it."""
    job = submit(story, **spec)
    with platform_scope("test"):
        attempt = Attempt.objects.get(job=job)
        transition(
            [StateChange(attempt.id, reason.final_state, "test", reason, evidence="It ended.")]
        )
    return dict(story.api(story.ada).get(f"{BASE}/{job.number}?advice=true").json())


@pytest.mark.parametrize(
    ("reason", "spec", "label", "changes"),
    [
        (
            Reason.OUT_OF_MEMORY,
            {"resources": {"memory": "64Gi"}},
            "Rerun with 128 GiB",
            {"resources.memory": "128Gi"},
        ),
        (
            Reason.OUT_OF_MEMORY,
            {"resources": {"memory": "300Gi"}},
            "Rerun with 512 GiB",
            {"resources.memory": "512Gi"},
        ),
        (
            Reason.TIME_LIMIT,
            {"policy": {"max_runtime": "90m"}},
            "Rerun with a limit of 3h",
            {"policy.max_runtime": "3h"},
        ),
        (Reason.NODE_FAILED, {}, "Rerun with 2 retries", {"policy.retries": 2}),
    ],
)
def test_failed_job_offers_what_would_have_helped(story, slurm, reason, spec, label, changes):
    job = ended(story, reason, **spec)
    [one] = job["suggestions"]
    assert (one["label"], one["changes"]) == (label, changes)
    [(path, value)] = changes.items()
    assert one["command"] == f"muster job rerun {job['number']} --set {path}={value}"
    page = story.client(story.ada).get(f"/atlas/jobs/{job['number']}").content.decode()
    assert one["page"].replace("&", "&amp;") in page
    filled = yaml.safe_load(story.client(story.ada).get(one["page"]).context["yaml"])
    section, _, name = path.partition(".")
    assert str(filled[section][name]) == str(value)


def test_job_out_of_memory_on_the_largest_node_offers_nothing(story, slurm):
    assert ended(story, Reason.OUT_OF_MEMORY, resources={"memory": "512Gi"})["suggestions"] == []


def test_missing_image_offers_one_that_worked_where_images_run(story, slurm, monkeypatch):
    jobs = [submit(story), submit(story)]
    with platform_scope("test"):
        for job, image in zip(jobs, ("pytorch/pytorch:2.4", "pytorch/pytorch:9"), strict=True):
            Job.objects.filter(id=job.id).update(spec={"run": "true", "image": image})
        Job.objects.filter(id=jobs[0].id).update(state=State.SUCCEEDED)
        failed = Attempt.objects.get(job=jobs[1])
        transition([StateChange(failed.id, State.FAILED, "test", Reason.IMAGE_UNAVAILABLE)])

    def found():
        page = story.api(story.ada).get(f"{BASE}/{jobs[1].number}?advice=true")
        return [one["changes"] for one in page.json()["suggestions"]]

    assert found() == []  # the cluster runs no images, so the dry run would refuse it
    monkeypatch.setattr(Apart, "capabilities", Apart.capabilities | {Capability.IMAGES})
    assert found() == [{"image": "pytorch/pytorch:2.4"}]


def test_pending_job_is_replaced_by_its_rerun(story):
    cluster_with(cpus=100, gpus=2)
    submit(story, resources={"cpus": 1, "accelerators": 1})
    waits = submit(story, resources={"cpus": 1, "accelerators": 2})
    with platform_scope("test"):
        Attempt.objects.filter(job__number=1).update(
            state=State.RUNNING,
            has_reservation=True,
            started_at=clock.now(),
            placement={"node": "n0", "cpus": 1000, "memory": 0, "gpus": [0], "uuids": ["GPU-0-0"]},
        )
    client = story.client(story.ada)
    page = client.get(f"/atlas/jobs/{waits.number}").content.decode()
    [link] = re.findall(r'href="([^"]*set=resources[^"]*)"', page)
    form = client.get(link.replace("&amp;", "&"))
    assert yaml.safe_load(form.context["yaml"])["resources"]["accelerators"] == 1
    assert form.context["may_replace"] is True
    sent = {"yaml": form.context["yaml"], "team": "vision", "parent": waits.number, "replace": "1"}
    made = client.post("/atlas/jobs/new", sent)
    assert made.status_code == 302
    with platform_scope("test"):
        waits.refresh_from_db()
    assert (waits.state, waits.cancel_why) == (State.CANCELED, "Replaced by #3.")


def test_held_job_and_unmet_dependency_offer_the_way_on(story):
    cluster_with()
    first = submit(story)
    after = submit(story, after=[first.number])
    api = story.api(story.ada)
    with platform_scope("test"):
        Attempt.objects.filter(job=after).update(wait=Wait.DEPENDENCY)
    [one] = api.get(f"{BASE}/{after.number}?advice=true").json()["suggestions"]
    assert (one["label"], one["page"]) == (f"Open #{first.number}", f"/atlas/jobs/{first.number}")
    api.post(f"{BASE}/{first.number}/hold")
    [held] = api.get(f"{BASE}/{first.number}?advice=true").json()["suggestions"]
    assert (held["action"], held["command"]) == ("release", f"muster job release {first.number}")
    client = story.client(story.ada)
    assert client.post(held["page"]).status_code == 302
    with platform_scope("test"):
        first.refresh_from_db()
    assert not first.is_held


def test_person_who_may_not_submit_is_offered_no_change(story, slurm):
    job = ended(story, Reason.TIME_LIMIT, policy={"max_runtime": "90m"})
    assert job["suggestions"]
    token = story.api(story.ada, scopes=("jobs:read",))
    assert token.get(f"{BASE}/{job['number']}?advice=true").json()["suggestions"] == []
