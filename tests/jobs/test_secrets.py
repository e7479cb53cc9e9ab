"""Secrets of jobs: permission at submission, value at start, shown nowhere in between."""

from __future__ import annotations

import json

import pytest

from jobs import services
from jobs.dispatch.claims import claim_due
from jobs.dispatch.environment import environment_of
from jobs.dispatch.launch import build_launches, rehearsal_launch
from jobs.models import Attempt, Job
from jobs.selectors.representations import job_detail
from jobs.services.dry_run import dry_run_job
from portal.core.errors import InvalidInput
from portal.core.models import Event
from schedulers import backends
from schedulers.kubernetes.pod import KubernetesSettings, build
from schedulers.slurm.script import batch_script
from schedulers.spec import SpecErrors, parse_mapping
from schedulers.states import State
from tests.jobs.backend_double import BackendDouble
from tests.jobs.stage import cluster_with, dispatch_all, hand_over, only_attempt, submit
from workspaces.credentials.secrets import delete_secret, set_secret
from workspaces.tenancy.scope import org_scope, platform_scope

VALUE = "c4nary-of-this-test"
SECRETS = {"WANDB_API_KEY": "team/wandb"}


@pytest.fixture
def double(monkeypatch):
    made = BackendDouble()
    monkeypatch.setattr("clusters.backends.backend_of", lambda cluster: made)
    return made


@pytest.fixture
def stage(story):
    """Create a cluster, and a secret of Vision."""
    cluster_with()
    put(story)
    with platform_scope("test"):
        yield story


def put(story, value: str = VALUE) -> None:
    with org_scope(story.atlas.id):
        set_secret(
            actor=story.actor(story.ada),
            org=story.atlas,
            team=story.vision,
            name="wandb",
            value=value,
        )


def test_secret_variable_is_set_and_appears_nowhere_else(stage, double):
    job = submit(stage, secrets=SECRETS)
    dispatch_all()
    [launch] = double.alive.values()
    assert (
        launch.env["WANDB_API_KEY"] == VALUE
        and VALUE not in launch.script
        and VALUE not in repr(launch)
    )
    row = Job.objects.get(id=job.id)
    shown = [
        json.dumps(job_detail(row), default=str),
        str(environment_of(Attempt.objects.select_related("job__org", "job__team").get(job=job))),
        str(row.spec),
        str(list(Event.objects.values_list("data", flat=True))),
    ]
    assert not [text for text in shown if VALUE in text]
    assert Event.objects.get(kind="secret.used").data["number"] == job.number


def test_page_of_a_secret_names_the_jobs_that_were_given_it(stage, double):
    job = submit(stage, secrets=SECRETS)
    dispatch_all()
    rows = stage.api(stage.ada).get("/api/v1/orgs/atlas/secrets").json()["items"]
    assert (rows[0]["jobs"], rows[0]["job_trend"][-1], sum(rows[0]["job_trend"])) == (1, 1, 1)
    page = stage.client(stage.ada).get("/atlas/secrets/vision/wandb").content.decode()
    assert f"#{job.number}" in page and VALUE not in page
    assert stage.client(stage.cyd).get("/atlas/secrets/vision/wandb").status_code == 404
    assert stage.client(stage.ada).get("/atlas/secrets/speech/wandb").status_code == 404


def test_secret_file_sets_no_variable_and_is_audited_like_any_other(stage, double):
    job = submit(stage, secret_files={"KEY": "team/wandb@1"})
    dispatch_all()
    [launch] = double.alive.values()
    assert (
        dict(launch.data.secret_files) == {"KEY": VALUE}
        and VALUE not in str(launch.env)
        and VALUE not in repr(launch)
    )
    assert "KEY" not in launch.env and launch.env["KEY_FILE"] == "(file of secret team/wandb@1)"
    fact = Event.objects.get(kind="secret.used").data
    assert (fact["number"], fact["secret"], fact["version"]) == (job.number, "vision/wandb", 1)


OTHERS = [{"secrets": {"KEY": "team/wandb"}}, {"envs": {"KEY": "x"}}, {"envs": {"KEY_FILE": "x"}}]


def test_secret_name_cannot_be_both_variable_and_file(subtests):
    for other in OTHERS:
        with subtests.test(other=other):
            with pytest.raises(SpecErrors) as caught:
                parse_mapping({"run": "true", "secret_files": {"KEY": "team/wandb"}, **other})
            assert [fault.field for fault in caught.value.errors] == ["secret_files.KEY"]


def test_missing_secret_file_is_refused_at_submission(stage):
    with pytest.raises(InvalidInput) as caught:
        submit(stage, secret_files={"KEY": "team/gone"})
    assert [fault["field"] for fault in caught.value.data["errors"]] == ["secret_files.KEY"]


def test_secret_version_is_chosen_at_start(stage, double):
    submit(stage, secrets={"NEWEST": "team/wandb", "FIRST": "vision/wandb@1"})
    put(stage, "the second value")
    dispatch_all()
    [launch] = double.alive.values()
    assert (launch.env["NEWEST"], launch.env["FIRST"]) == ("the second value", VALUE)


def test_secret_without_permission_is_refused_at_submission(subtests, stage):
    for reference in ["team/gone", "speech/wandb", "org/wandb", "team/wandb@2"]:
        with subtests.test(reference=reference):
            with pytest.raises(InvalidInput) as caught:
                submit(stage, secrets={"KEY": reference})
            assert [fault["field"] for fault in caught.value.data["errors"]] == ["secrets.KEY"]
            assert not Job.objects.exists()


def test_secret_deleted_while_pending_ends_the_job_with_the_reason(stage, double):
    job = submit(stage, secrets=SECRETS)
    with org_scope(stage.atlas.id):
        delete_secret(actor=stage.actor(stage.ada), team=stage.vision, name="wandb")
    dispatch_all()
    row = Job.objects.get(id=job.id)
    assert (
        not double.starts and row.state == State.FAILED and "no secret team/wandb" in row.evidence
    ), row.evidence


def test_resubmission_after_a_crash_gets_the_same_secret(stage, double):
    submit(stage, secrets=SECRETS)
    claim = claim_due(Job.objects.get().cluster_id)
    hand_over(claim)
    [again] = build_launches(
        [Attempt.objects.select_related("job__owner", "job__team", "job__org", "job__pool").get()],
        set(),
    )
    assert again.env["WANDB_API_KEY"] == VALUE


def test_dry_run_names_the_secret_and_does_not_decrypt_it(stage, double):
    spec = parse_mapping({"run": "true", "secrets": SECRETS})
    with org_scope(stage.atlas.id):
        result = dry_run_job(actor=stage.actor(stage.ada), team=stage.vision, spec=spec)
        missing = dry_run_job(
            actor=stage.actor(stage.ada),
            team=stage.vision,
            spec=parse_mapping({"run": "true", "secrets": {"K": "team/gone"}}),
        )
    assert (
        result.is_ok
        and any("team/wandb" in check.text for check in result.checks)
        and VALUE not in str(result)
    )
    assert not missing.is_ok and any(
        "no secret team/gone" in check.text for check in missing.checks
    )
    assert not Event.objects.filter(kind="secret.used").exists()


def test_rerun_keeps_the_references_and_checks_them_again(stage, double):
    job = submit(stage, secrets=SECRETS)
    with org_scope(stage.atlas.id):
        assert services.rerun_job(actor=stage.actor(stage.ada), job=job).spec["secrets"] == SECRETS
        delete_secret(actor=stage.actor(stage.ada), team=stage.vision, name="wandb")
        with pytest.raises(InvalidInput):
            services.rerun_job(actor=stage.actor(stage.ada), job=job)


def test_secret_is_inside_slurm_scripts_and_by_reference_on_kubernetes(stage):
    submit(stage, secrets=SECRETS)
    attempt = Attempt.objects.select_related(
        "job__owner", "job__team", "job__org", "job__pool"
    ).get(id=only_attempt(Job.objects.get()).id)
    [launch] = build_launches([attempt], set())
    assert launch.env["WANDB_API_KEY"] == VALUE
    # Base64-encoded, so that neither `ps` nor a listing shows it.
    assert VALUE not in batch_script(launch, "/spool/x")
    made = build(launch, KubernetesSettings(image="busybox"))
    assert VALUE not in json.dumps(made.job)
    [variable] = [
        v
        for v in made.job["spec"]["template"]["spec"]["containers"][0]["env"]
        if v["name"] == "WANDB_API_KEY"
    ]
    assert variable["valueFrom"]["secretKeyRef"] and "value" not in variable


def test_rendered_launch_shows_only_the_reference_on_every_backend(stage):
    with org_scope(stage.atlas.id):
        launch = rehearsal_launch(
            None,
            stage.vision,
            stage.actor(stage.ada),
            parse_mapping({"run": "true", "secrets": SECRETS}),
        )
    assert launch.env["WANDB_API_KEY"] == "(secret team/wandb)" and set(backends())
