"""Lists page by page, the organization to work in, and rows as objects."""

from __future__ import annotations

from itertools import islice

import pytest

from muster import Client, InvalidInput, Job
from tests.client.portal_double import TOKEN, PortalDouble


def test_a_list_goes_through_all_pages_and_names_each_job_once(
    portal: PortalDouble, client: Client
):
    for _ in range(450):
        portal.add_job()
    assert [job.number for job in client.jobs.list()] == list(range(450, 0, -1))
    assert len([asked for asked in portal.asked if asked.path.endswith("/jobs")]) == 3


def test_pages_are_asked_for_only_when_they_are_wanted(portal: PortalDouble, client: Client):
    for _ in range(450):
        portal.add_job()
    assert len(list(islice(client.jobs.list(), 5))) == 5
    assert len([asked for asked in portal.asked if asked.path.endswith("/jobs")]) == 1


def test_no_more_is_asked_for_than_is_wanted(portal: PortalDouble, client: Client):
    for _ in range(20):
        portal.add_job()
    assert [job.number for job in client.jobs.list(most=3, state="running")] == [20, 19, 18]
    assert portal.asked[-1].query == {"limit": "3", "state": "running"}


def test_the_only_organization_needs_no_name(client: Client):
    assert client.org == "atlas"


def test_several_organizations_are_listed_to_choose_from(portal: PortalDouble, client: Client):
    portal.orgs.append({"slug": "borealis", "name": "Borealis", "role": "member", "teams": []})
    with pytest.raises(InvalidInput, match=r"MUSTER_ORG.*atlas, borealis"):
        _ = client.org


def test_the_named_organization_and_team_are_used(portal: PortalDouble):
    with Client(portal.url, TOKEN, org="atlas", team="vision") as client:
        client.jobs.submit({"run": "true"})
    assert [asked.path for asked in portal.asked] == ["/api/v1/orgs/atlas/jobs"]
    assert portal.asked[0].body == {"spec": {"run": "true"}, "team": "vision"}


def test_a_spec_and_a_text_at_once_is_a_mistake_of_the_program(client: Client):
    with pytest.raises(TypeError):
        client.jobs.submit({"run": "true"}, yaml="run: true")


def test_a_job_is_an_object_with_times_reason_and_what_it_waits_for(
    portal: PortalDouble, client: Client
):
    portal.add_job(
        "queued",
        pending={
            "code": "quota_team",
            "text": "Over.",
            "change": {"text": "Ask for 2."},
            "holders": [{"text": "#7 holds 4"}],
        },
    )
    job = client.jobs.get("#1")
    assert job.pending is not None
    assert (job.pending.text, job.pending.change, job.pending.holders) == (
        "Over.",
        "Ask for 2.",
        ("#7 holds 4",),
    )
    assert job.created_at is not None
    assert job.created_at.isoformat() == "2026-11-20T09:59:00+00:00"
    assert (job.owner, job.resources.cpus, job.is_final) == ("ada@atlas.example", 1, False)


def test_waiting_ends_with_the_job(portal: PortalDouble, client: Client):
    portal.add_job()
    seen: list[str] = []

    def look(job: Job) -> None:
        seen.append(job.state)
        portal.end(1, "failed", exit_code=3)

    assert client.jobs.wait(1, on_look=look).return_code == 3
    assert seen == ["running", "failed"]


def test_waiting_has_an_end_of_its_own(portal: PortalDouble, client: Client):
    portal.add_job()
    with pytest.raises(TimeoutError):
        client.jobs.wait(1, timeout=0)


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"state": "succeeded", "exit_code": 0}, 0),
        ({"state": "failed", "exit_code": 3}, 3),
        ({"state": "failed", "exit_code": -9}, 137),
        ({"state": "failed", "exit_code": 137}, 137),
        ({"state": "failed", "exit_code": 300}, 255),
        ({"state": "failed", "attempts": [{"signal": 11}]}, 139),
        ({"state": "failed", "reason": {"code": "out_of_memory", "fault": "user"}}, 137),
        (
            {
                "state": "failed",
                "exit_code": 143,
                "reason": {"code": "time_limit", "fault": "user"},
            },
            124,
        ),
        (
            {
                "state": "failed",
                "exit_code": 137,
                "reason": {"code": "node_failed", "fault": "platform"},
            },
            75,
        ),
        ({"state": "canceled", "exit_code": 143}, 130),
        ({"state": "failed"}, 1),
    ],
)
def test_the_return_code_says_how_it_ended(fields: dict, code: int):
    assert Job.of({"id": "x", "number": 1, "name": "n", **fields}).return_code == code
