"""Outputs on Kubernetes, where the job saves them itself, and on a real Slurm with a shared folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from datasets.selectors import tree_of
from jobs import services
from jobs.models import Job, JobOutput
from jobs.saving import saver
from portal.blobs.store import file_store
from portal.core.models import Event
from schedulers.states import State
from tests.jobs.slurm_site import site_on
from tests.jobs.stage import only_attempt
from workspaces.tenancy.scope import org_scope, platform_scope

CKPT = {"ckpt": {"checkpoint": "resnet", "every": "1s"}}


def output_of(job: Job) -> JobOutput:
    with platform_scope("test"):
        return JobOutput.objects.select_related("version", "repository").get(job=job)


def contents(job: Job) -> dict[str, str]:
    row = output_of(job)
    with platform_scope("test"):
        return {
            entry.path: file_store().open(row.org_id, entry.sha256).read().decode()
            for entry in tree_of(row.version).below("")
        }


@pytest.mark.integration
@pytest.mark.django_db(transaction=True)
def test_job_on_kubernetes_saves_while_it_runs_and_when_it_is_canceled(
    site, live_server, settings, story
):
    settings.MUSTER_BASE_URL = live_server.url
    job = site.submit(
        'cd "$MUSTER_OUTPUT_CKPT"; head -c 20000000 /dev/zero >large; echo one >weights; '
        "echo half >next.tmp; trap 'echo last >weights; exit 0' TERM; "
        "while :; do sleep 0.1; done",
        outputs=CKPT,
        policy={"grace": 30},
    )
    site.until(lambda: output_of(job).version_id if JobOutput.objects.exists() else None, 90)
    found = contents(job)
    assert (found["weights"], len(found["large"])) == ("one\n", 20_000_000)
    assert set(found) == {"weights", "large"}
    with org_scope(job.org_id):
        services.cancel_job(actor=story.actor(story.ada), job=Job.objects.get(id=job.id))
    site.until(lambda: State(only_attempt(job).state).is_final, 60)
    saver.save_due()
    row = output_of(job)
    assert (contents(job)["weights"], row.state, row.message, row.is_over) == (
        "last\n",
        "saved",
        "",
        True,
    )
    assert row.version.job_id == job.id
    assert row.repository.team.slug == "vision"


@pytest.mark.integration
@pytest.mark.django_db(transaction=True)
def test_job_on_kubernetes_that_is_killed_says_what_is_missing(site, live_server, settings):
    settings.MUSTER_BASE_URL = live_server.url
    job = site.submit(
        'echo one >"$MUSTER_OUTPUT_CKPT/weights"; sleep 1; kill -KILL 0',
        outputs={"ckpt": {"checkpoint": "resnet"}},
    )
    site.until(lambda: State(only_attempt(job).state).is_final, 60)
    saver.save_due()
    row = output_of(job)
    assert (row.state, row.is_over, row.version) == ("failed", True, None)
    assert "before its last files were saved" in row.message
    assert Event.objects.filter(kind="job.output_failed", subject_id=job.id).count() == 1


@pytest.mark.integration
@pytest.mark.django_db(transaction=True)
def test_job_on_slurm_is_killed_and_continues_from_its_version(
    slurm, story, home: Path, live_server, settings
):
    settings.MUSTER_BASE_URL = live_server.url  # the node fetches what it continues from
    with site_on(story, slurm, by_rest=True) as site:
        job = site.submit(
            'cd "$MUSTER_OUTPUT_CKPT"\n'
            '[ -e step ] && echo "continues from $(cat step), $MUSTER_RESUME" && exit\n'
            "echo half >step.tmp; echo 41 >step.new; mv step.new step; sleep 3\n"
            "kill -KILL -- -$$ $$",
            outputs=CKPT,
            policy={"retries": 1, "retry_on": ["killed_by_signal", "user_error"], "backoff": "0s"},
        )

        def has_continued() -> bool:
            saver.save_due()
            return State(Job.objects.get(id=job.id).state).is_final

        site.until(has_continued, 120)
        log = story.api(story.ada).get(f"/api/v1/orgs/atlas/jobs/{job.number}/logs?attempt=2")
        site.until(lambda: saver.save_due() == 0, 30)
        assert only_attempt(job).state == State.SUCCEEDED, site.describe()
        assert only_attempt(job).ordinal == 2
        assert contents(job) == {"step": "41\n"}
        assert output_of(job).is_resumed
        assert b"continues from 41, 1" in log.content


@pytest.mark.django_db(transaction=True)
def test_retry_on_kubernetes_continues_from_what_the_job_saved(site, live_server, settings, story):
    settings.MUSTER_BASE_URL = live_server.url
    job = site.submit(
        'cd "$MUSTER_OUTPUT_CKPT"\n'
        '[ -e step ] && echo "continues from $(cat step), $MUSTER_RESUME" && exit\n'
        "echo 41 >step; exit 3",
        outputs={"ckpt": {"checkpoint": "resnet"}},
        policy={"retries": 1, "retry_on": ["user_error"], "backoff": "0s"},
    )
    site.until(lambda: State(Job.objects.get(id=job.id).state).is_final, 90)
    log = f"/api/v1/orgs/atlas/jobs/{job.number}/logs?attempt=2"
    site.until(lambda: b"continues from 41, 1" in story.api(story.ada).get(log).content, 30)
    assert only_attempt(job).state == State.SUCCEEDED
    assert contents(job) == {"step": "41\n"}
