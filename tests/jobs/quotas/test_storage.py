"""Storage as a quota: stored logs at the limit block new starts, with advice."""

from __future__ import annotations

import pytest

from jobs import tasks
from jobs.dispatch.lifecycle import StateChange, transition
from jobs.models import Attempt, Job
from jobs.quotas.preview import preview
from jobs.quotas.tree import tree
from jobs.scheduling import pending_explanation
from jobs.services import dry_run_job
from portal.blobs.logs import log_store
from portal.core import clock
from portal.core.errors import QuotaExceeded
from schedulers.spec import parse_mapping
from schedulers.states import Reason, State, Wait
from tests.jobs.stage import GIB, claim_all, only_attempt, submit
from tests.jobs.test_log_deletion import delete, ended
from workspaces.models import QuotaRequest
from workspaces.organizations.selectors import quotas_for
from workspaces.quotas.limits import STORAGE
from workspaces.quotas.requests import decide
from workspaces.quotas.set_limits import LimitChange, set_quotas
from workspaces.tenancy.scope import org_scope, platform_scope

pytestmark = pytest.mark.usefixtures("home")


@pytest.fixture(autouse=True)
def everywhere(db):
    with platform_scope("test"):
        yield


def limit(story, amount, scope="team", subject="vision", guaranteed=None):
    with org_scope(story.atlas.id):
        set_quotas(
            actor=story.actor(story.ada),
            org=story.atlas,
            changes=[LimitChange(scope, subject, STORAGE, amount, guaranteed)],
        )


def counted(story, **more) -> Job:
    """Return an ended job of Ada's with a counted log of 700 bytes."""
    job = ended(story, **more)
    tasks.count_logs()
    return job


def waiting(story, person=None, **spec) -> Job:
    job = submit(story, person, **spec)
    claim_all(job.cluster)
    return job


@pytest.mark.parametrize(
    ("scope", "subject", "wait"),
    [
        ("team", "vision", Wait.QUOTA_TEAM),
        ("org", "", Wait.QUOTA_ORG),
        ("user", "ada@atlas.example", Wait.QUOTA_USER),
    ],
)
def test_exhausted_storage_blocks_starts_until_logs_are_deleted(story, scope, subject, wait):
    kept = counted(story)
    limit(story, 700, scope, subject)
    job = waiting(story)
    assert only_attempt(job).wait == wait and not only_attempt(job).has_reservation
    delete(story, kept)
    tasks.delete_logs()
    claim_all(job.cluster)
    assert only_attempt(job).has_reservation


def test_storage_limit_blocks_starts_and_stops_no_running_job(story):
    counted(story)
    limit(story, 701)
    job = waiting(story)
    limit(story, 10)
    assert only_attempt(job).has_reservation and only_attempt(job).state != State.STOPPING


def test_storage_limit_of_one_person_blocks_nobody_else(story):
    counted(story)
    limit(story, 700, "user", "ada@atlas.example")
    assert only_attempt(waiting(story, story.ben)).has_reservation
    assert only_attempt(waiting(story)).wait == Wait.QUOTA_USER


def test_start_reserves_no_storage_and_end_releases_none(story):
    counted(story)
    limit(story, 5000)
    job = waiting(story)
    transition(
        [
            StateChange(
                only_attempt(job).id,
                State.SUCCEEDED,
                "test",
                Reason.COMPLETED,
                started_at=clock.now(),
                finished_at=clock.now(),
            )
        ]
    )
    with org_scope(story.atlas.id):
        used = {
            q["scope"]: q["used"]
            for q in quotas_for(story.actor(story.ada))
            if q["resource"] == STORAGE
        }
    assert used == {"org": 700, "team": 700, "user": 700}


def test_guaranteed_storage_is_kept_free_of_other_teams_logs(story):
    counted(story)
    limit(story, 1500, "org", "")
    limit(story, None, "team", "speech", guaranteed=800)
    assert only_attempt(waiting(story)).wait == Wait.QUOTA_ORG  # 700 kept, 800 promised
    limit(story, None, "team", "vision", guaranteed=700)
    # The team's own guarantee is used up.
    assert only_attempt(waiting(story)).wait == Wait.QUOTA_ORG
    limit(story, None, "team", "speech", guaranteed=100)
    job = waiting(story)
    assert only_attempt(job).has_reservation


def test_job_within_its_guarantee_starts(story):
    counted(story)
    limit(story, 1500, "org", "")
    limit(story, None, "team", "vision", guaranteed=1500)
    assert only_attempt(waiting(story)).has_reservation


def test_pending_job_names_the_storage_limit_usage_and_advice(story):
    counted(story)
    limit(story, 500)
    job = waiting(story)
    with org_scope(story.atlas.id):
        explanation = pending_explanation.explanation_of(job, story.actor(story.ada))
    assert explanation.text == (
        "Team Vision is using 700 B of 500 B of storage. Delete logs or artifacts, or request more "
        "storage, to let it start."
    )
    assert explanation.advice == "Would start now if the limit of team Vision were 1 GiB."
    assert explanation.change is None and explanation.holders == []
    page = story.client(story.ada).get(f"/atlas/jobs/{job.number}").content.decode()
    assert 'href="/atlas/storage?team=vision"' in page
    assert f"resource=storage&amp;amount=1Gi&amp;job={job.number}" in page


def test_organization_limit_names_what_is_guaranteed_to_others(story):
    counted(story)
    limit(story, 1500, "org", "")
    limit(story, None, "team", "speech", guaranteed=1000)
    job = waiting(story)
    with org_scope(story.atlas.id):
        text = pending_explanation.explanation_of(job, story.actor(story.ada)).text
    assert text.startswith(
        "Atlas is using 700 B of 1.5 KiB of storage, of which 1000 B are reserved for the "
        "guaranteed quotas of others."
    )


def test_submission_is_refused_only_if_the_storage_limit_is_zero(story):
    counted(story)
    limit(story, 1)
    submit(story)
    limit(story, 0)
    with pytest.raises(
        QuotaExceeded, match="The team's limit is 0 B of storage, so no job can ever start"
    ):
        submit(story)


def test_dry_run_reports_that_the_job_would_wait(story):
    counted(story)
    limit(story, 100)
    with org_scope(story.atlas.id):
        result = dry_run_job(
            actor=story.actor(story.ada), team=story.vision, spec=parse_mapping({"run": "true"})
        )
    assert "The team is using 700 B of 100 B of storage." in next(
        c.text for c in result.checks if c.name == "start"
    )


def test_preview_names_who_is_over_the_limit_and_what_would_stop(story):
    counted(story)
    job = submit(story)
    with org_scope(story.atlas.id):
        result = preview(
            actor=story.actor(story.ada),
            org=story.atlas,
            changes=[LimitChange("team", "vision", STORAGE, 512)],
        )
    assert result.sentences == [
        (
            "vision is using 700 B, 188 B above the new limit. Running jobs continue; no job starts "
            "until the use is below it."
        ),
        f"1 pending job of Vision would have to wait for the limit: #{job.number}",
    ]
    assert (result.lines[0].before, result.lines[0].after) == ("no limit", "at most 512 B")


def test_tree_shows_stored_bytes_with_limits_and_guarantees(story):
    counted(story)
    limit(story, 2 * GIB, guaranteed=GIB)
    with org_scope(story.atlas.id):
        shown = tree(story.actor(story.ada), story.atlas, "vision")
    bars = {
        b.who: b.bars[STORAGE]
        for b in (shown.top, *shown.teams, *(p for t in shown.teams for p in t.people))
    }
    assert {who: (bar.held_text, bar.limit_text) for who, bar in bars.items() if bar.used} == {
        "org:": ("700 B", ""),
        "team:vision": ("700 B", "2 GiB"),
        "user:ada@atlas.example": ("700 B", ""),
    }
    assert bars["team:vision"].tip == "700 B in use; 2 GiB available; 1 GiB guaranteed"


def test_storage_limits_are_set_in_bulk_requested_and_kept_in_history(story):
    counted(story)
    ada, ben = story.client(story.ada), story.client(story.ben)
    form = {
        "who": ["team:vision", "team:speech"],
        "resource": [STORAGE, "cpu"],
        "limit": ["64Gi", ""],
        "guaranteed": ["1Gi", ""],
        "do": "set",
    }
    assert ada.post("/atlas/quotas", form).status_code == 302
    body = {"who": "team:vision", "resource": STORAGE, "amount": "100Gi", "why": "a sweep"}
    assert ben.post("/atlas/quotas/requests", body).status_code == 302
    with org_scope(story.atlas.id):
        decide(
            actor=story.actor(story.ada),
            request_id=QuotaRequest.objects.get().id,
            do="approve",
        )
    assert 'href="/atlas/storage"' in ada.get("/atlas/quotas").content.decode()
    shown = ada.get("/atlas/quotas/team/vision")
    bar = shown.context["b"].bars[STORAGE]
    assert (bar.held_text, bar.typed_limit, bar.typed_guarantee) == ("700 B", "100Gi", "1Gi")
    assert "64 GiB, 1 GiB guaranteed" in (page := shown.content.decode())
    assert "100 GiB, 1 GiB guaranteed" in page


def test_api_returns_and_sets_bytes(story):
    counted(story)
    ada = story.client(story.ada)
    made = ada.put(
        "/api/v1/orgs/atlas/quotas",
        {"scope": "team", "subject": "vision", "resource": STORAGE, "limit": GIB},
        content_type="application/json",
    ).json()
    assert (made["used"], made["limit"], made["left"], made["unit"]) == (
        700,
        GIB,
        GIB - 700,
        "bytes",
    )


def test_largest_logs_are_listed_within_the_viewers_permissions(story):
    small, large = ended(story), ended(story, array="0-2")
    bens = ended(story, person=story.ben)
    tasks.count_logs()
    api = story.api(story.ada)
    data = api.get("/api/v1/orgs/atlas/storage").json()["items"]
    assert [(row["number"], row["bytes"]) for row in data] == [
        (large.number, 2100),
        (small.number, 700),
        (bens.number, 700),
    ]
    assert [
        row["number"]
        for row in api.get("/api/v1/orgs/atlas/storage?owner=ben@atlas.example").json()["items"]
    ] == [bens.number]
    assert len(api.get("/api/v1/orgs/atlas/storage?limit=1").json()["items"]) == 1
    assert api.get("/api/v1/orgs/atlas/storage?team=speech").json()["items"] == []


def test_storage_page_deletes_selected_logs_within_permissions(
    story,
):
    assert "No logs stored" in story.client(story.ada).get("/atlas/storage").content.decode()
    jobs = [ended(story), ended(story), ended(story, person=story.ben)]
    tasks.count_logs()
    limit(story, GIB)
    ben = story.client(story.ben)
    page = ben.get("/atlas/storage").content.decode()
    assert (
        "<dt>Vision</dt><dd>2.1 KiB of 1 GiB</dd>" in page
        and "<dt>You</dt><dd>700 B</dd>" in page
        and "<dt>ada" not in page.lower()
    )
    assert [f'value="{job.number}"' in page for job in jobs] == [False, False, True]
    file = b"".join(ben.get("/atlas/storage?owner=me&format=csv").streaming_content).decode(
        "utf-8-sig"
    )
    assert [line.split(",")[0] for line in file.split()] == ["number", str(jobs[2].number)]
    answer = ben.post(
        "/atlas/jobs/act",
        {"verb": "delete-logs", "job": [job.number for job in jobs], "query": "owner=me"},
    )
    assert answer["Location"] == "/atlas/storage?owner=me"
    assert "being deleted" in ben.get("/atlas/storage").content.decode()
    tasks.delete_logs()
    assert [log_store().size(a.id.hex) for a in Attempt.objects.order_by("job__number")] == [
        700,
        700,
        0,
    ]
    assert f'value="{jobs[2].number}"' not in ben.get("/atlas/storage").content.decode()
