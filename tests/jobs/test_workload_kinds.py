"""Kinds of workload and origins of jobs: what a kind decides, and where an origin is shown."""

from __future__ import annotations

from datetime import timedelta

import pytest

from clusters.models import Pool
from datasets import services as data
from datasets.folders import services as folders
from jobs import services
from jobs.dispatch.lifecycle import StateChange, transition
from jobs.kinds import origins, workload_kinds
from jobs.kinds.origins import Origin, OriginKind
from jobs.kinds.workload_kinds import WorkloadKind
from jobs.models import Attempt
from jobs.services import submission
from jobs.utilization.idle_rules import _attempts, new_rule
from portal.core import clock
from portal.core.errors import InvalidInput
from portal.core.ids import uuid7
from portal.core.messages import Message
from schedulers.spec import parse_mapping
from schedulers.states import Reason, State
from tests.datasets.conftest import commit
from tests.deliver import consume
from tests.jobs.stage import cluster_with, submit
from workspaces.tenancy.scope import org_scope, platform_scope

JOBS = "/api/v1/orgs/atlas/jobs"


def _at_most_a_day(spec):
    limit = spec.policy.max_runtime or 86400
    return spec.model_copy(update={"policy": spec.policy.model_copy(update={"max_runtime": limit})})


KIND = WorkloadKind(
    "probe",
    Message("Probe"),
    list_path="probes",
    with_defaults=_at_most_a_day,
    allows_retries=False,
    allows_array=False,
    allows_preemption=False,
    has_idle_rules=False,
    end_notices={"job.failed": Message("Probe {name} ended")},
)


@pytest.fixture
def kind(monkeypatch):
    """Register a kind for this test; the portal itself only runs batch jobs."""
    both = (workload_kinds.BATCH, KIND)
    monkeypatch.setattr(workload_kinds, "declared", lambda module, name: both)


def rows(client, **query):
    return [row["number"] for row in client.get(JOBS, query).json()["items"]]


def test_kind_that_nobody_runs_is_refused_by_name(story):
    cluster_with()
    with pytest.raises(InvalidInput, match=r"not run the kind pipeline yet\. It runs: batch"):
        submit(story, kind="pipeline")
    with org_scope(story.atlas.id):
        spec = parse_mapping({"run": "true", "kind": "pipeline"})
        run = services.dry_run_job(actor=story.actor(story.ada), team=story.vision, spec=spec)
    assert not run.is_ok and run.errors[0]["field"] == "kind"
    assert submit(story).kind == "batch"


def test_kind_decides_defaults_fields_page_and_filters(story, kind):
    cluster_with()
    with pytest.raises(InvalidInput) as refused:
        submit(story, kind="probe", array=2, policy={"retries": 1, "preempt": "resumable"})
    assert {error["field"] for error in refused.value.data["errors"]} == {
        "policy.retries",
        "array",
        "policy.preempt",
    }
    submit(story)
    job = submit(story, kind="probe")
    assert job.spec["policy"] == {"max_runtime": "1d"} and job.spec["kind"] == "probe"
    ada = story.api(story.ada, story.atlas)
    assert ada.get(f"{JOBS}/2").json()["page"] == "/atlas/probes/2"
    assert (rows(ada, kind="probe"), rows(ada, kind="!probe")) == ([2], [1])


def test_kind_decides_titles_of_ends_and_whether_idle_rules_apply(story, kind):
    cluster = cluster_with(gpus=4)
    pool = Pool.objects.create(name="main", cluster=cluster, is_open=True)
    resources = {"resources": {"accelerators": "H100:1"}, "policy": {"pool": "main"}}
    job, other = submit(story, kind="probe", **resources), submit(story, **resources)
    with platform_scope("test"):
        began = {"state": State.RUNNING, "started_at": clock.now() - timedelta(hours=9)}
        Attempt.objects.update(**began)
        looked_at = {one.job_id for one in _attempts(new_rule(pool), clock.now_ms())}
        assert looked_at == {other.id}
        for attempt in Attempt.objects.all():
            transition([StateChange(attempt.id, State.FAILED, "local", Reason.USER_ERROR)])
    consume()
    told = story.api(story.ada).get("/api/v1/me/notifications").json()["items"]
    assert {one["title"] for one in told} == {f"Probe {job.name} ended", f"#2 {other.name} failed"}


def test_rerun_is_an_origin_in_api_list_file_and_page(story):
    cluster_with()
    first = submit(story, name="first")
    ada, page = story.api(story.ada, story.atlas), story.client(story.ada)
    assert ada.post(f"{JOBS}/1/rerun", {}, content_type="application/json").status_code == 201
    origin = {"kind": "rerun", "id": str(first.id), "label": "#1"}
    made = ada.get(f"{JOBS}/2").json()
    assert (made["origin"], made["parent"]) == (origin, 1)
    for value in ("rerun", "rerun:#1", f"rerun:{first.id}"):
        assert rows(ada, origin=value) == [2]
        assert rows(ada, origin=f"!{value}") == [1]
    assert rows(ada, origin="rerun:#7") == []
    assert b"rerun:#1" in b"".join(page.get("/atlas/jobs?format=csv"))
    text = page.get("/atlas/jobs/2").content.decode()
    assert "Rerun of" in text and '<a href="/atlas/jobs/1">#1</a>' in text


def test_origin_of_another_app_links_for_those_who_may_see_it(story, monkeypatch):
    cluster_with()
    pk = uuid7()
    owner = OriginKind(
        "plan",
        Message("Plan"),
        lambda actor, ids: {pk: "/atlas/plans/4"} if actor.user_id == story.ada.id else {},
    )
    monkeypatch.setattr(origins, "declared", lambda module, name: (owner,))
    with org_scope(story.atlas.id):
        services.submit_job(
            actor=story.actor(story.ada),
            team=story.vision,
            spec=parse_mapping({"run": "true"}),
            origin=Origin("plan", pk, "nightly #4, train"),
        )
    link = '<a href="/atlas/plans/4">nightly #4, train</a>'
    assert link in story.client(story.ada).get("/atlas/jobs/1").content.decode()
    seen = story.client(story.ben).get("/atlas/jobs/1").content.decode()
    assert "nightly #4, train" in seen and "/atlas/plans/4" not in seen
    monkeypatch.setattr(origins, "declared", lambda module, name: ())
    assert "nightly #4, train" in story.client(story.ada).get("/atlas/jobs/1").content.decode()


@pytest.mark.usefixtures("home")
def test_submission_builds_its_launch_once(story, monkeypatch):
    cluster_with()
    ben = story.actor(story.ben)
    with org_scope(story.atlas.id):
        cifar = data.create_repository(actor=ben, team=story.vision, kind="dataset", name="cifar")
        commit(ben, cifar, {"a.txt": b"one\n"})
        folders.create_folder(actor=ben, team=story.vision, name="code")
    spec = {"inputs": {"data": "cifar"}, "workspaces": {"code": "code"}}
    built, build = [], submission.rehearsal_launch
    monkeypatch.setattr(submission, "rehearsal_launch", lambda *a: built.append(a) or build(*a))
    submit(story, story.ben, **spec)
    assert len(built) == 1
    with org_scope(story.atlas.id):
        parsed = parse_mapping({"run": "true", **spec})
        run = services.dry_run_job(actor=ben, team=story.vision, spec=parsed)
    assert run.is_ok and run.launch and len(built) == 2
