"""Test jobs that mount workspaces: who may, what is refused, and the local cluster."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from clusters.models import Cluster
from datasets.folders import entries, selectors, services, usage
from jobs.models import Attempt, JobWorkspace
from jobs.services import dry_run_job
from portal.core.errors import InvalidInput
from schedulers.spec import parse_mapping
from schedulers.states import Reason, State
from tests.jobs.stage import cluster_with, dispatch_all, submit
from workspaces.tenancy.scope import org_scope, platform_scope

pytestmark = pytest.mark.usefixtures("home")


@pytest.fixture
def stage(story):
    """Return Ben's workspace code, Ada's workspace voices of another team, and a cluster."""
    with org_scope(story.atlas.id):
        ben, ada = story.actor(story.ben), story.actor(story.ada)
        code = services.create_folder(actor=ben, team=story.vision, name="code")
        voices = services.create_folder(actor=ada, team=story.speech, name="voices")
        entries.put_file(actor=ben, folder=code, path="a.txt", chunks=[b"hello\n"])
    return SimpleNamespace(
        story=story, ben=ben, ada=ada, code=code, voices=voices, cluster=cluster_with()
    )


def refused(stage, **mounted) -> dict[str, str]:
    with pytest.raises(InvalidInput) as error:
        submit(stage.story, stage.story.ben, workspaces=mounted)
    return {one["field"]: str(one["message"]) for one in error.value.data["errors"]}


def test_refusal_says_what_is_wrong(stage):
    assert refused(stage, a="voices", b="missing", c="borealis/code") == {
        "workspaces.a": "There is no workspace 'voices'.",
        "workspaces.b": "There is no workspace 'missing'.",
        "workspaces.c": "There is no workspace 'borealis/code'. Names of your own organization "
        "begin with atlas/.",
    }
    with org_scope(stage.story.atlas.id):
        services.invite(actor=stage.ada, folder=stage.voices, user=stage.story.ben)
    found = refused(stage, a="voices")
    assert found == {
        "workspaces.a": "You may read voices, but not change it. Add `read_only: true`."
    }
    job = submit(
        stage.story,
        stage.story.ben,
        workspaces={"a": {"workspace": "voices", "read_only": True}, "code": "atlas/code"},
    )
    with platform_scope("test"):
        rows = JobWorkspace.objects.filter(job=job).order_by("name")
        assert [(str(row), row.read_only) for row in rows] == [
            ("a: voices", True),
            ("code: code", False),
        ]


def test_full_workspace_is_mounted_read_only(stage):
    with org_scope(stage.story.atlas.id):
        services.update_folder(actor=stage.ben, folder=stage.code, quota=6)
    assert "is full" in refused(stage, code="code")["workspaces.code"]
    submit(
        stage.story,
        stage.story.ben,
        workspaces={"code": {"workspace": "code", "read_only": True}},
    )


def test_cluster_that_does_not_see_workspaces_refuses_with_a_sentence(stage):
    with platform_scope("test"):
        Cluster.objects.update(backend="kubernetes")
    spec = parse_mapping({"run": "true", "workspaces": {"code": "code"}})
    with org_scope(stage.story.atlas.id):
        run = dry_run_job(actor=stage.ben, team=stage.story.vision, spec=spec)
    assert not run.is_ok
    assert "do not see workspaces" in str(run.errors), run.errors


def test_reader_is_refused_where_jobs_could_write_to_everything(stage):
    with platform_scope("test"):
        options = {"spool": "/spool", "workspaces_folder": "/shared"}
        Cluster.objects.update(backend="slurm", config=options)
    with org_scope(stage.story.atlas.id):
        services.invite(actor=stage.ada, folder=stage.voices, user=stage.story.ben)
    found = refused(stage, a={"workspace": "voices", "read_only": True})
    assert found["workspaces.a"].startswith("You may only read voices. Jobs on local could also")
    assert "without an image" in str(refused(stage, a={"workspace": "code", "read_only": True}))
    submit(stage.story, stage.story.ben, workspaces={"code": "code"})


def test_dry_run_names_what_is_mounted(stage):
    spec = parse_mapping({"run": "true", "workspaces": {"code": "code"}})
    with org_scope(stage.story.atlas.id):
        run = dry_run_job(actor=stage.ben, team=stage.story.vision, spec=spec)
    texts = {check.name: str(check.text) for check in run.checks}
    assert run.is_ok and texts["workspaces"] == "Mounts code."


def ended(stage, job):
    with platform_scope("test"):
        return Attempt.objects.get(job=job)


def test_job_writes_into_its_workspace(stage, wait_for):
    job = submit(
        stage.story,
        stage.story.ben,
        run='cat "$MUSTER_WORKSPACE_CODE/a.txt" && echo result > "$MUSTER_WORKSPACE_CODE/b.txt"',
        workspaces={"code": "code"},
    )
    dispatch_all()
    with org_scope(stage.story.atlas.id):
        tree = selectors.tree_of(stage.code)
        wait_for(lambda: (found := tree.find("b.txt")) and found.size)
        assert b"".join(tree.read("b.txt", 0, 99)) == b"result\n"
        assert usage.count(stage.code).used_bytes == 13
    assert ended(stage, job).state != State.FAILED


def test_job_does_not_start_after_access_was_withdrawn(stage):
    with org_scope(stage.story.atlas.id):
        row = services.invite(actor=stage.ada, folder=stage.voices, user=stage.story.ben)
    job = submit(
        stage.story,
        stage.story.ben,
        workspaces={"a": {"workspace": "voices", "read_only": True}},
    )
    with org_scope(stage.story.atlas.id):
        services.withdraw(actor=stage.ada, folder=stage.voices, invitation=row)
    dispatch_all()
    attempt = ended(stage, job)
    assert (attempt.state, attempt.reason) == (State.FAILED, Reason.REJECTED)
    assert "no longer shared" in attempt.evidence
