"""The new-job page: where it starts, what it keeps, and what it says when nothing can run."""

from __future__ import annotations

import pytest

from jobs.models import Job
from tests.jobs.stage import cluster_with, submit
from workspaces.models import TeamMembership
from workspaces.tenancy.scope import org_scope

pytestmark = pytest.mark.usefixtures("home")
NEW = "/atlas/jobs/new"


def test_newcomer_starts_with_hello_and_others_with_a_blank_form(story):
    cluster_with()
    client = story.client(story.ben)
    assert client.get(NEW).context["start"].template == "hello"
    submit(story, story.ben, name="mine")
    page = client.get(NEW)
    assert page.context["start"].template == "blank"
    assert [job.name for job in page.context["recent"]] == ["mine"]
    assert "name: mine" in client.get(f"{NEW}?copy=1").context["yaml"]
    started = client.get(f'{NEW}?experiment=a "b"').context["yaml"]
    assert started.endswith('experiment: "a \\"b\\""\n')


def test_edit_and_rerun_keeps_the_parent_also_after_a_refusal(story):
    cluster_with(cpus=8)
    submit(story, name="first", envs={"LR": "1e-3"})
    client = story.client(story.ada)
    page = client.get(f"{NEW}?from=1").content.decode()
    assert "Rerun #1" in page and 'name="parent" value="1"' in page
    form = {"team": "vision", "parent": "1"}
    refused = client.post(NEW, {**form, "yaml": "run: 'true'\nresources: {cpus: 99}\n"})
    assert refused.status_code == 400
    assert "Rerun #1" in refused.content.decode() and "cpus: 99" in refused.context["yaml"]
    accepted = client.post(NEW, {**form, "yaml": "run: 'true'\nenvs: {LR: 3e-4}\n"})
    assert accepted["Location"] == "/atlas/jobs/2"
    with org_scope(story.atlas.id):
        assert Job.objects.get(number=2).origin.label == "#1"


def test_copy_of_a_job_has_no_parent(story):
    cluster_with()
    submit(story)
    client = story.client(story.ada)
    text = client.get(f"{NEW}?copy=1").context["yaml"]
    client.post(NEW, {"team": "vision", "yaml": text})
    with org_scope(story.atlas.id):
        assert Job.objects.get(number=2).origin is None


def test_page_without_cluster_or_team_says_what_to_do(story):
    page = story.client(story.ben).get(NEW).content.decode()
    assert "No cluster is connected yet" in page and "Ask an operator" in page
    with org_scope(story.atlas.id):
        TeamMembership.objects.filter(team=story.vision).delete()
    page = story.client(story.ben).get(NEW).content.decode()
    assert "Join a team to run jobs" in page and "data-new-job" not in page
