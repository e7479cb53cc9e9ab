"""Preview of changed limits: what it would stop or admit, without side effects."""

from __future__ import annotations

import pytest
from django.utils import translation

from jobs.dispatch.claims import claim_due
from jobs.quotas.preview import preview
from portal.core.errors import InvalidInput, NotPermitted
from portal.core.models import Event
from tests.jobs.stage import cluster_with, submit
from workspaces.models import Quota
from workspaces.quotas.set_limits import LimitChange, set_quotas
from workspaces.tenancy.scope import org_scope, platform_scope


def _preview(story, *changes, by=None):
    with org_scope(story.atlas.id):
        return preview(
            actor=story.actor(by or story.ada),
            org=story.atlas,
            changes=[LimitChange(*change) for change in changes],
        )


def _set(story, *changes):
    with org_scope(story.atlas.id):
        set_quotas(
            actor=story.actor(story.ada),
            org=story.atlas,
            changes=[LimitChange(*change) for change in changes],
        )


def test_jobs_that_a_lower_limit_would_stop_are_named_by_team(story):
    cluster_with(cpus=100)
    jobs = [submit(story, resources={"cpus": 2}) for _ in range(4)]
    result = _preview(story, ("team", "vision", "cpu", 2))
    assert [(g.team, g.count, g.numbers) for g in result.stopped] == [
        ("Vision", 3, [job.number for job in jobs[1:]])
    ]
    assert result.sentences == [
        (
            f"3 pending jobs of Vision would have to wait for the limit: #{jobs[1].number}, "
            f"#{jobs[2].number}, #{jobs[3].number}"
        )
    ]
    assert [(line.before, line.after) for line in result.lines] == [("no limit", "at most 2 cores")]


def test_preview_is_in_the_readers_language_with_its_amounts(story):
    cluster_with(cpus=100)
    with translation.override("ko"):
        result = _preview(story, ("team", "vision", "cpu", 2))
    assert [(line.before, line.after) for line in result.lines] == [("한도 없음", "최대 코어 2개")]


def test_preview_changes_nothing_and_records_no_event(story):
    cluster_with(cpus=100)
    _preview(story, ("team", "vision", "cpu", 2), ("org", "", "gpu", 4))
    with platform_scope("test"):
        assert not Quota.objects.exclude(limit=None).exists()
    assert not Event.objects.filter(kind="quota.changed").exists()


def test_preview_names_who_would_be_admitted(story):
    cluster_with(cpus=100)
    _set(story, ("team", "vision", "cpu", 1))
    submit(story, resources={"cpus": 1})
    submit(story, resources={"cpus": 1})
    result = _preview(story, ("team", "vision", "cpu", None))
    assert [(g.team, g.count) for g in result.freed] == [("Vision", 1)]
    assert result.stopped == []


def test_guarantee_of_another_team_may_block_jobs_and_is_named(story):
    cluster_with(cpus=100)
    _set(story, ("org", "", "cpu", 4))
    submit(story, resources={"cpus": 3})
    assert (
        _preview(story, ("team", "speech", "cpu", None, 2))
        .sentences[0]
        .startswith("1 pending job of Vision would have to wait for the limit: #")
    )


def test_usage_above_the_new_limit_stops_no_running_job(story):
    cluster = cluster_with(cpus=100)
    submit(story, resources={"cpus": 3})
    with platform_scope("test"):
        claim_due(cluster.id)
    result = _preview(story, ("team", "vision", "cpu", 2))
    assert result.sentences[0].startswith(
        "vision is using 3 cores, 1 core above the new limit. Running jobs continue"
    )


def test_invalid_change_is_refused_by_preview_and_change_alike(story):
    with pytest.raises(InvalidInput):
        _preview(story, ("org", "", "gpu", 2), ("team", "vision", "gpu", None, 4))
    with pytest.raises(NotPermitted):
        _preview(story, ("org", "", "gpu", 2), by=story.ben)


def test_api_returns_the_same_preview(story):
    cluster_with(cpus=100)
    job = submit(story, resources={"cpus": 2})
    body = {"changes": [{"scope": "team", "subject": "vision", "resource": "cpu", "limit": 1}]}
    data = (
        story.api(story.ada, story.atlas)
        .post("/api/v1/orgs/atlas/quotas/preview", body, content_type="application/json")
        .json()
    )
    assert data["stopped"] == [{"team": "Vision", "count": 1, "numbers": [job.number]}]
