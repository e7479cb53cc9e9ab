"""Test jobs that read versions of data: resolution, pins, refusals, and the local cluster."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from datasets import services as data
from jobs import services
from jobs.data.inputs import commits_in_use
from jobs.models import Attempt, Job, JobInput
from portal.core.errors import InvalidInput
from schedulers.spec import parse_mapping
from schedulers.states import Reason, State
from tests.datasets.conftest import commit
from tests.jobs.stage import cluster_with, dispatch_all, submit
from workspaces.tenancy.scope import org_scope, platform_scope

pytestmark = pytest.mark.usefixtures("home")


@pytest.fixture
def stage(story):
    """Return two versions of Ben's dataset cifar, the first with the tag v1.2, and a cluster."""
    with org_scope(story.atlas.id):
        ben = story.actor(story.ben)
        cifar = data.create_repository(actor=ben, team=story.vision, kind="dataset", name="cifar")
        first = commit(ben, cifar, {"train/a.txt": b"one\n", "b c.txt": b"two\n"})
        data.set_tag(actor=ben, repository=cifar, name="v1.2", version=first)
        second = commit(ben, cifar, {"train/a.txt": b"newer\n"})
    return SimpleNamespace(
        story=story, ben=ben, cifar=cifar, first=first, second=second, cluster=cluster_with()
    )


def refused(stage, person=None, **spec) -> dict[str, str]:
    with pytest.raises(InvalidInput) as error:
        submit(stage.story, person or stage.story.ben, **spec)
    return {one["field"]: str(one["message"]) for one in error.value.data["errors"]}


def pins(job: Job) -> dict[str, str]:
    with platform_scope("test"):
        return {row.name: str(row) for row in JobInput.objects.filter(job=job)}


@pytest.mark.parametrize(
    ("revision", "number"), [("", 2), ("@v1.2", 1), ("@1", 1), ("@v2", 2), ("@main", 2)]
)
def test_revision_is_pinned_at_submission(stage, revision, number):
    job = submit(stage.story, stage.story.ben, inputs={"data": f"cifar{revision}"})
    assert pins(job) == {"data": f"cifar@{number}"}
    assert job.spec["inputs"] == {"data": f"cifar{revision}"}


def test_id_and_own_organization_are_accepted(stage):
    name = f"atlas/cifar@{stage.first.commit[:9]}"
    assert pins(submit(stage.story, stage.story.ben, inputs={"data": name})) == {"data": "cifar@1"}


def test_list_of_datasets_counts_the_jobs_that_one_may_see(stage):
    story = stage.story
    job = submit(story, story.ben, inputs={"data": "cifar"})
    for person, n in ((story.ben, 1), (story.cyd, None)):
        answer = story.api(person).get("/api/v1/orgs/atlas/datasets")
        assert (answer.status_code == 200) is (n is not None)
        if n:
            [row] = answer.json()["items"]
            assert (row["jobs"], row["job_trend"][-1]) == (n, n) and row["last_used_at"]
    api = story.api(story.ben)
    for query, found in (("input=cifar", [job.number]), ("input=!cifar", [])):
        items = api.get(f"/api/v1/orgs/atlas/jobs?{query}").json()["items"]
        assert [row["number"] for row in items] == found
    assert "cifar" in story.client(story.ben).get("/atlas/datasets").content.decode()


def test_refusal_says_what_exists(stage):
    found = refused(
        stage,
        inputs={
            "a": "cifar@v1.3",
            "b": "imagenet",
            "c": {"checkpoint": "cifar"},
            "d": "borealis/cifar",
        },
    )
    assert found == {
        "inputs.a": "cifar has no version v1.3. Its tags are v1.2.",
        "inputs.b": "There is no dataset 'imagenet'.",
        "inputs.c": "There is no checkpoint 'cifar'.",
        "inputs.d": "There is no dataset 'borealis/cifar'. Names of your own organization begin "
        "with atlas/.",
    }


def test_data_of_another_organization_is_not_found(stage):
    story = stage.story
    with org_scope(story.borealis.id), pytest.raises(InvalidInput, match="no dataset 'cifar'"):
        services.submit_job(
            actor=story.actor(story.cyd),
            team=story.north,
            spec=parse_mapping({"run": "x", "inputs": {"data": "cifar"}}),
        )


def test_data_of_another_team_must_be_shared(stage):
    story = stage.story
    with org_scope(story.atlas.id):
        ada = story.actor(story.ada)
        other = data.create_repository(actor=ada, team=story.speech, kind="dataset", name="words")
        commit(ada, other, {"a": b"1"})
        assert refused(stage, story.ada, inputs={"data": "words"}) == {
            "inputs.data": "Jobs of team vision may not read words, which belongs to team speech. "
            "Share it with vision."
        }
        data.share_repository(actor=ada, repository=other, team=story.vision, can_write=False)
    assert pins(submit(story, story.ben, inputs={"data": "words"})) == {"data": "words@1"}


def test_dry_run_checks_inputs(stage):
    spec = parse_mapping({"run": "true", "inputs": {"data": "cifar@v9", "more": "cifar"}})
    with org_scope(stage.story.atlas.id):
        run = services.dry_run_job(actor=stage.ben, team=stage.story.vision, spec=spec)
        assert not run.is_ok and [e["field"] for e in run.errors] == ["inputs.data"]
        again = spec.model_copy(update={"inputs": {"data": spec.inputs["more"]}})
        run = services.dry_run_job(actor=stage.ben, team=stage.story.vision, spec=again)
    check = next(check for check in run.checks if check.name == "inputs")
    assert run.is_ok and str(check.text).startswith("Reads cifar@2 (")


def test_rerun_reads_same_versions(stage):
    job = submit(stage.story, stage.story.ben, inputs={"data": "cifar"})
    with org_scope(stage.story.atlas.id):
        commit(stage.ben, stage.cifar, {"c": b"3"})
        again = services.rerun_job(actor=stage.ben, job=job)
    assert (pins(again), again.spec["inputs"]) == ({"data": "cifar@2"}, {"data": "cifar@2"})


def only(job: Job) -> Attempt:
    with platform_scope("test"):
        return Attempt.objects.get(job=job)


def dispatched(job: Job) -> Attempt:
    dispatch_all()
    return only(job)


def test_version_deleted_before_start_fails_job_with_reason(stage):
    story = stage.story
    jobs = [submit(story, story.ben, inputs={"data": "cifar@1"}) for _ in range(2)]
    with org_scope(story.atlas.id):
        services.hold_job(actor=stage.ben, job=jobs[1])
        data.delete_repository(actor=stage.ben, repository=stage.cifar)
    attempt = dispatched(jobs[0])
    assert (attempt.state, attempt.reason) == (State.FAILED, Reason.REJECTED)
    assert "cifar@1 was moved to the trash before the job started" in str(attempt.evidence)
    with org_scope(story.atlas.id):
        data.purge_repository(actor=stage.ben, repository=stage.cifar)
        services.release_job(actor=stage.ben, job=jobs[1])
    assert "cifar@1 was deleted before" in str(dispatched(jobs[1]).evidence)
    assert pins(jobs[1]) == {"data": "cifar@1"}  # lineage stays


def test_share_revoked_before_start_fails_job_with_reason(stage):
    story = stage.story
    with org_scope(story.atlas.id):
        ada = story.actor(story.ada)
        words = data.create_repository(actor=ada, team=story.speech, kind="dataset", name="words")
        commit(ada, words, {"a": b"1"})
        data.share_repository(actor=ada, repository=words, team=story.vision, can_write=False)
    job = submit(story, story.ben, inputs={"data": "words"})
    with org_scope(story.atlas.id):
        data.unshare_repository(actor=ada, repository=words, team=story.vision)
    assert "words@1 is no longer shared" in str(dispatched(job).evidence)


def test_version_is_in_use_until_job_ends(stage):
    job = submit(stage.story, stage.story.ben, inputs={"data": "cifar@1"})
    with org_scope(stage.story.atlas.id):
        org = stage.story.atlas.id
        assert commits_in_use(org) == {stage.first.commit}
        services.cancel_job(actor=stage.ben, job=job)
        assert commits_in_use(org) == set()


def test_disk_error_under_one_input_does_not_hold_other_jobs(stage, monkeypatch):
    def broken(version):
        raise OSError(5, "Input/output error")

    monkeypatch.setattr("datasets.staging.materialize", broken)
    stuck = submit(stage.story, stage.story.ben, inputs={"data": "cifar"})
    free = submit(stage.story, stage.story.ben)
    dispatch_all()
    assert only(free).native_id
    waiting = only(stuck)
    assert not waiting.native_id and "Input/output" in str(waiting.evidence)
