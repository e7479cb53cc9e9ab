"""Test lists, the choice of the organization, and rows as objects."""

from __future__ import annotations

from itertools import islice

import pytest

from muster import Client, InvalidInput, Job
from muster.client import resources
from tests.client.portal_double import TOKEN, PortalDouble


def test_job_list_reads_all_pages_without_duplicates(portal: PortalDouble, client: Client):
    for _ in range(450):
        portal.add_job()
    assert [job.number for job in client.jobs.list()] == list(range(450, 0, -1))
    assert len([before for before in portal.asked if before.path.endswith("/jobs")]) == 3


def test_job_list_requests_pages_on_demand(portal: PortalDouble, client: Client):
    for _ in range(450):
        portal.add_job()
    assert len(list(islice(client.jobs.list(), 5))) == 5
    assert len([before for before in portal.asked if before.path.endswith("/jobs")]) == 1


def test_job_list_with_a_limit_requests_no_more_rows(portal: PortalDouble, client: Client):
    for _ in range(20):
        portal.add_job()
    assert [job.number for job in client.jobs.list(most=3, state="running")] == [20, 19, 18]
    assert portal.asked[-1].query == {"limit": "3", "state": "running"}


def test_client_uses_the_only_organization(client: Client):
    assert client.org == "atlas"


def test_client_with_several_organizations_lists_them(portal: PortalDouble, client: Client):
    portal.orgs.append({"slug": "borealis", "name": "Borealis", "role": "member", "teams": []})
    with pytest.raises(InvalidInput, match=r"MUSTER_ORG.*atlas, borealis"):
        _ = client.org


def test_client_uses_the_given_organization_and_team(portal: PortalDouble):
    with Client(portal.url, TOKEN, org="atlas", team="vision") as client:
        client.jobs.submit({"run": "true"})
    assert [request.path for request in portal.asked] == ["/api/v1/orgs/atlas/jobs"]
    assert portal.asked[0].body == {"spec": {"run": "true"}, "team": "vision"}


def test_submit_with_spec_and_text_raises_type_error(client: Client):
    with pytest.raises(TypeError):
        client.jobs.submit({"run": "true"}, yaml="run: true")


def test_job_has_times_reason_and_pending(portal: PortalDouble, client: Client):
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


def test_wait_returns_when_the_job_ends(portal: PortalDouble, client: Client):
    portal.add_job()
    seen: list[str] = []

    def look(job: Job) -> None:
        seen.append(job.state)
        portal.end(1, "failed", exit_code=3)

    assert client.jobs.wait(1, on_poll=look).return_code == 3
    assert seen == ["running", "failed"]


def test_wait_over_its_timeout_raises(portal: PortalDouble, client: Client):
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
def test_job_return_code_matches_its_end(fields: dict, code: int):
    assert Job.of({"id": "x", "number": 1, "name": "n", **fields}).return_code == code


def test_client_has_a_resource_for_every_declaration(client: Client):
    made = {name: type(getattr(client, name)).__name__ for name in resources()}
    assert made == {name: kind for name, (_, kind) in resources().items()}
    assert client.jobs is client.jobs and Client.__annotations__.items() <= made.items()
    with pytest.raises(AttributeError, match="has no attribute 'job'"):
        _ = client.job
