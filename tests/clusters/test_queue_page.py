"""The operators' queue across clusters and organizations, with reasons."""

from __future__ import annotations

import pytest

from clusters.models import Cluster
from jobs import services
from jobs.models import Attempt, Job
from schedulers.spec import parse_mapping
from schedulers.states import State, Wait
from tests.jobs.stage import cluster_with, submit
from workspaces.tenancy.scope import org_scope, platform_scope

PAGE = "/platform/queue"


@pytest.fixture
def dot(story):
    return story.client(story.dot)


def waits(job: Job, wait: str, facts: dict | None = None, **more: object) -> None:
    with platform_scope("test"):
        Attempt.objects.filter(job=job).update(wait=wait, wait_facts=facts or {}, **more)


@pytest.fixture
def pending_jobs(story) -> list[Job]:
    """Create pending jobs in two organizations (one an array, one held), and a running one."""
    cluster_with()
    jobs = [
        submit(story, name="first"),
        submit(story, name="many", array=3),
        submit(story, name="held"),
    ]
    with org_scope(story.borealis.id):
        jobs.append(
            services.submit_job(
                actor=story.actor(story.cyd),
                team=story.north,
                spec=parse_mapping({"run": "true", "name": "far"}),
            )
        )
    waits(jobs[0], Wait.CAPACITY, {"resource": "gpu", "free": 1, "total": 8, "ask": 4})
    waits(jobs[1], Wait.CAPACITY)
    waits(jobs[2], Wait.HELD)
    waits(jobs[3], Wait.BEHIND, {"text": "4 come first."}, state=State.SUBMITTED)
    waits(submit(story, name="runs"), "", state=State.RUNNING)
    waits(submit(story, name="handed over"), "", state=State.SUBMITTED)
    return jobs


def names(client, query: str = "") -> list[str]:
    return [row["name"] for row in client.get(f"{PAGE}?{query}").context["rows"]]


def test_queue_lists_pending_jobs_of_all_organizations_oldest_first(dot, pending_jobs):
    shown = dot.get(PAGE)
    assert [(r["name"], r["org"], r["tasks"]) for r in shown.context["rows"]] == [
        ("first", "atlas", 0),
        ("many", "atlas", 3),
        ("held", "atlas", 0),
        ("far", "borealis", 0),
    ]
    text = shown.content.decode()
    assert (
        "1 of 8 GPUs are free; 4 GPUs requested." in text
        and "4 come first." in text
        and 'href="/borealis/jobs/1"' in text
    )


def test_queue_is_filtered_by_reason_organization_team_and_cluster(dot, pending_jobs):
    Cluster.objects.create(name="other", backend="local")
    assert names(dot, "wait=capacity") == ["first", "many"]
    assert (
        names(dot, "org=borealis")
        == names(dot, "team=north")
        == names(dot, "wait=behind")
        == ["far"]
    )
    assert names(dot, "cluster=local") == ["first", "many", "held", "far"]
    assert "No matching jobs" in dot.get(f"{PAGE}?cluster=other").content.decode()


def test_reasons_and_teams_count_jobs_and_not_tasks(dot, pending_jobs):
    shown = dot.get(PAGE).context
    assert {r["code"]: r["n"] for r in shown["reasons"]} == {
        "capacity": 2,
        "held": 1,
        "behind": 1,
    } and shown["total"] == 4
    assert shown["reasons"][0]["code"] == "capacity"
    assert [(t["org"], t["team"], t["n"], t["text"]) for t in shown["teams"]] == [
        ("atlas", "vision", 3, "The cluster is full."),
        ("borealis", "north", 1, "Other jobs are ahead in the cluster's queue."),
    ]


def test_pages_have_no_gap_or_duplicate_while_the_queue_changes(story, dot, monkeypatch):
    cluster_with()
    jobs = [submit(story, name=f"j{n}") for n in range(7)]
    monkeypatch.setattr("jobs.scheduling.queue.queue_page.__defaults__", (3,))
    seen, url = [], PAGE
    while url:
        shown = dot.get(url).context
        seen += [row["name"] for row in shown["rows"]]
        if len(seen) == 3:
            waits(jobs[0], "", state=State.RUNNING)
        url = f"{PAGE}{shown['next_url']}" if shown["next_url"] else ""
    assert seen == [f"j{n}" for n in range(7)]
    assert dot.get(f"{PAGE}?after=nonsense").status_code == 400


def test_queue_is_for_operators_and_has_an_empty_state(story, dot):
    assert story.client(story.ada).get(PAGE).status_code == 403
    assert story.client(story.cyd).get(PAGE).status_code == 403
    assert "Nothing is waiting" in dot.get(PAGE).content.decode()


def test_queue_page_takes_a_constant_number_of_statements(
    story, dot, pending_jobs, django_assert_max_num_queries
):
    for n in range(20):
        submit(story, name=f"more-{n}")
    with django_assert_max_num_queries(23):
        assert len(names(dot)) == 24
