"""Monthly GPU-hours: counted exactly once per end, checked before a start, and explained."""

from __future__ import annotations

import itertools
import re
import threading
from collections import Counter
from datetime import UTC, datetime, timedelta
from html import unescape
from uuid import UUID

import pytest
from django.db import connection, connections, transaction
from django.test.utils import CaptureQueriesContext
from hypothesis import given
from hypothesis import strategies as st

from jobs.dispatch.claims import claim_due
from jobs.dispatch.lifecycle import StateChange, transition
from jobs.models import Attempt, Job
from jobs.quotas.preview import preview
from jobs.quotas.tree import tree
from jobs.scheduling import pending_explanation
from jobs.scheduling.snapshot import limits_of
from jobs.selectors.gpu_use import running
from jobs.services import dry_run_job
from jobs.specs.stored import request_of
from portal.core import clock
from portal.core.errors import InvalidInput, QuotaExceeded
from schedulers.spec import parse_mapping
from schedulers.states import Reason, State, Wait
from tests.jobs.stage import claim_all, cluster_with, only_attempt, submit
from tests.story import create_story
from workspaces.models import GpuMonth, QuotaRequest
from workspaces.organizations.selectors import quotas_for
from workspaces.quotas.gpu_hours import GpuUsage, by_month, end_of, split
from workspaces.quotas.limits import GPU_HOURS
from workspaces.quotas.requests import decide
from workspaces.quotas.set_limits import LimitChange, set_quotas
from workspaces.tenancy.scope import org_scope, platform_scope

HOUR = 3_600_000
NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)
MOMENTS = st.datetimes(datetime(2026, 1, 1), datetime(2027, 6, 1)).map(
    lambda at: at.replace(tzinfo=UTC)
)


@pytest.fixture(autouse=True)
def everywhere(db):
    with platform_scope("test"), clock.frozen(NOON):
        yield


def _limit(story, hours, scope="team", subject="vision"):
    with org_scope(story.atlas.id):
        set_quotas(
            actor=story.actor(story.ada),
            org=story.atlas,
            changes=[LimitChange(scope, subject, GPU_HOURS, hours)],
        )


def _run(job, start, end, reason=Reason.COMPLETED, **more):
    """Set the attempt's start and end."""
    return transition(
        [
            StateChange(
                only_attempt(job).id,
                reason.final_state,
                "test",
                reason,
                started_at=start,
                finished_at=end,
                **more,
            )
        ]
    )


def _counted():
    return {(row.scope, row.month.isoformat()): row.used for row in GpuMonth.objects.all()}


def _held(story, **resources):
    job = submit(story, resources={"accelerators": 2, "cpus": 1} | resources)
    claim_all(job.cluster)
    return job


@given(MOMENTS, MOMENTS, st.integers(1, 64))
def test_span_split_by_month_adds_up(one, other, gpus):
    start, end = sorted((one, other))
    parts = list(split(start, end))
    epoch = datetime(1970, 1, 1, tzinfo=UTC)
    assert sum(n for _, n in parts) == (end - epoch) // timedelta(milliseconds=1) - (
        start - epoch
    ) // timedelta(milliseconds=1)
    assert [month for month, _ in parts] == sorted({month for month, _ in parts})
    assert all(
        0
        <= n
        <= (end_of(month) - datetime(month.year, month.month, 1, tzinfo=UTC))
        // timedelta(milliseconds=1)
        for month, n in parts
    )
    counted = by_month([GpuUsage(UUID(int=1), UUID(int=2), UUID(int=3), gpus, start, end)])
    assert all(counted[UUID(int=1), "team", UUID(int=2), month] == n * gpus for month, n in parts)


@given(st.lists(MOMENTS, min_size=3, max_size=6))
def test_span_split_anywhere_adds_up(moments):
    moments = sorted(moments)
    cut = Counter()
    for start, end in itertools.pairwise(moments):
        cut.update(dict(split(start, end)))
    assert +cut == +Counter(dict(split(moments[0], moments[-1])))


def test_ended_job_counts_its_gpus_for_person_team_and_organization(
    story,
):
    cluster_with(gpus=4)
    _run(_held(story), NOON - timedelta(minutes=90), NOON)
    assert _counted() == {(scope, "2026-11-01"): 3 * HOUR for scope in ("org", "team", "user")}


@pytest.mark.both_databases
def test_job_across_months_counts_in_both(story):
    cluster_with(gpus=4)
    _run(_held(story), datetime(2026, 10, 31, 23, tzinfo=UTC), datetime(2026, 11, 1, 2, tzinfo=UTC))
    assert _counted() == {
        (s, m): n
        for s in ("org", "team", "user")
        for m, n in (("2026-10-01", 2 * HOUR), ("2026-11-01", 4 * HOUR))
    }


def test_gpus_of_all_nodes_count(story):
    cluster = cluster_with(cpus=64, gpus=8)
    job = submit(story)
    request = request_of(
        parse_mapping({"run": "true", "num_nodes": 2, "resources": {"accelerators": 4}})
    )
    Job.objects.filter(id=job.id).update(resources=request.totals)
    claim_all(cluster)
    _run(job, NOON - timedelta(hours=1), NOON)
    assert _counted()["team", "2026-11-01"] == 8 * HOUR


@pytest.mark.both_databases
def test_repeated_end_counts_once(story):
    cluster_with(gpus=4)
    job = _held(story)
    for _ in range(3):
        _run(job, NOON - timedelta(hours=1), NOON)
    assert _counted()["org", "2026-11-01"] == 2 * HOUR


def test_job_that_never_started_or_has_no_gpus_counts_nothing(story):
    cluster_with(gpus=4)
    never, plain = _held(story), submit(story)
    claim_all(plain.cluster)
    transition([StateChange(only_attempt(never).id, State.CANCELED, "test", Reason.CANCELED)])
    _run(plain, NOON - timedelta(hours=1), NOON)
    assert _counted() == {}


@pytest.mark.parametrize(
    "reason",
    [Reason.PREEMPTED, Reason.LOST, Reason.NODE_FAILED, Reason.USER_ERROR, Reason.CANCELED],
)
def test_each_attempt_counts_its_run_time_however_it_ended(story, reason):
    cluster = cluster_with(gpus=4)
    job = submit(story, resources={"accelerators": 2}, policy={"retries": 1})
    claim_all(cluster)
    _run(job, NOON - timedelta(hours=2), NOON - timedelta(hours=1), reason)
    assert _counted()["team", "2026-11-01"] == 2 * HOUR
    if reason.is_retryable:
        Attempt.objects.filter(job=job, is_current=True).update(due_at=NOON)
        claim_all(cluster)
        _run(job, NOON - timedelta(minutes=30), NOON)
        assert _counted()["team", "2026-11-01"] == 3 * HOUR


def test_rolled_back_end_counts_once_at_the_retry(story):
    cluster_with(gpus=4)
    job = _held(story)
    with transaction.atomic():
        _run(job, NOON - timedelta(hours=1), NOON)
        transaction.set_rollback(True)
    assert _counted() == {}
    _run(job, NOON - timedelta(hours=1), NOON)
    assert _counted()["team", "2026-11-01"] == 2 * HOUR


def test_batch_of_ends_is_counted_by_one_statement(story):
    cluster_with(cpus=64, gpus=8)
    jobs = [submit(story, resources={"accelerators": 1, "cpus": 1}) for _ in range(8)]
    claim_all(jobs[0].cluster)
    _run(jobs[0], NOON - timedelta(hours=1), NOON)
    with CaptureQueriesContext(connection) as queries:
        transition(
            [
                StateChange(
                    only_attempt(job).id,
                    State.SUCCEEDED,
                    "test",
                    Reason.COMPLETED,
                    started_at=NOON - timedelta(hours=1),
                    finished_at=NOON,
                )
                for job in jobs[1:]
            ]
        )
    assert len([1 for q in queries if "gpumonth" in q["sql"]]) == 1
    assert _counted()["org", "2026-11-01"] == 8 * HOUR


@pytest.mark.both_databases
@pytest.mark.django_db(transaction=True)
def test_concurrent_ends_count_each_job_once(transactional_db):
    story = create_story()
    cluster_with(cpus=64, gpus=8)
    jobs = [submit(story, resources={"accelerators": 1, "cpus": 1}) for _ in range(8)]
    claim_all(jobs[0].cluster)
    ids = [only_attempt(job).id for job in jobs]

    def end(order):
        with platform_scope("race"):
            for attempt in order:
                transition(
                    [
                        StateChange(
                            attempt,
                            State.SUCCEEDED,
                            "test",
                            Reason.COMPLETED,
                            started_at=NOON - timedelta(hours=1),
                            finished_at=NOON,
                        )
                    ]
                )
        connections.close_all()

    threads = [
        threading.Thread(target=end, args=(order,)) for order in (ids, ids[::-1], ids[4:] + ids[:4])
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert _counted() == {(scope, "2026-11-01"): 8 * HOUR for scope in ("org", "team", "user")}


@pytest.mark.parametrize(
    ("scope", "subject", "wait"),
    [
        ("team", "vision", Wait.QUOTA_TEAM),
        ("org", "", Wait.QUOTA_ORG),
        ("user", "ada@atlas.example", Wait.QUOTA_USER),
    ],
)
def test_exhausted_gpu_hours_block_jobs_with_gpus_only(story, scope, subject, wait):
    cluster_with(gpus=4)
    _limit(story, 3, scope, subject)
    _run(_held(story), NOON - timedelta(minutes=89), NOON)
    second = _held(story)
    assert only_attempt(second).has_reservation
    _run(second, NOON - timedelta(minutes=1), NOON)
    third, plain = _held(story), submit(story)
    assert only_attempt(third).wait == wait
    claim_all(plain.cluster)
    assert only_attempt(plain).has_reservation


def test_running_jobs_count_so_far_and_are_not_stopped(story):
    cluster_with(gpus=4)
    _limit(story, 2)
    first = _held(story)
    transition([StateChange(only_attempt(first).id, State.RUNNING, "test", started_at=NOON)])
    with clock.frozen(NOON + timedelta(hours=1)):
        second = _held(story)
        assert only_attempt(second).wait == Wait.QUOTA_TEAM
        assert only_attempt(first).state == State.RUNNING


def test_job_running_since_last_month_counts_this_month_only(story):
    cluster_with(gpus=4)
    _limit(story, 100)
    job = _held(story)
    transition(
        [
            StateChange(
                only_attempt(job).id,
                State.RUNNING,
                "test",
                started_at=datetime(2026, 10, 30, tzinfo=UTC),
            )
        ]
    )
    with clock.frozen(datetime(2026, 11, 1, 1, tzinfo=UTC)), org_scope(story.atlas.id):
        row = next(
            q
            for q in quotas_for(story.actor(story.ada))
            if (q["scope"], q["resource"]) == ("team", GPU_HOURS)
        )
    assert (row["used"], row["limit"], row["left"], row["unit"]) == (2, 100, 98, "GPU-hours")
    assert row["begins_anew"] == datetime(2026, 12, 1, tzinfo=UTC)


def test_blocked_job_starts_when_the_next_month_begins(story):
    cluster = cluster_with(gpus=4)
    _limit(story, 1)
    _run(_held(story), NOON - timedelta(hours=1), NOON)
    waiting = _held(story)
    with clock.frozen(datetime(2026, 11, 30, 23, 59, 59, tzinfo=UTC)):
        assert claim_due(cluster.id) is None
    with clock.frozen(datetime(2026, 12, 1, tzinfo=UTC)):
        assert [a.job_id for a in claim_due(cluster.id).attempts] == [waiting.id]


def test_pending_job_names_limit_usage_month_end_and_sufficient_value(
    story,
):
    cluster_with(gpus=4)
    _limit(story, 3)
    _run(_held(story), NOON - timedelta(minutes=100), NOON)
    job = _held(story)
    with org_scope(story.atlas.id):
        answer = pending_explanation.explanation_of(job, story.actor(story.ada))
    assert answer.text == (
        "Team Vision has used 3.33 of 3 GPU-hours this month, including running jobs. "
        "The limit resets on 2026-12-01 00:00 UTC."
    )
    assert answer.advice == "Would start now if the limit of team Vision were 4 GPU-hours."
    assert answer.change is None
    _limit(story, 4)
    claim_all(job.cluster)
    assert only_attempt(job).has_reservation


def test_growing_usage_alone_writes_nothing(story):
    cluster = cluster_with(gpus=4)
    _limit(story, 1)
    first = _held(story)
    transition(
        [
            StateChange(
                only_attempt(first).id, State.RUNNING, "test", started_at=NOON - timedelta(hours=3)
            )
        ]
    )
    _held(story)
    with clock.frozen(NOON + timedelta(hours=1)), CaptureQueriesContext(connection) as queries:
        claim_due(cluster.id)
    assert not [
        q["sql"] for q in queries if q["sql"].startswith("UPDATE") and "jobs_attempt" in q["sql"]
    ]


@pytest.mark.parametrize("when", ["before", "after"])
def test_job_that_ends_while_a_limit_is_judged_is_counted(story, monkeypatch, when):
    """Between two statements it moves from running to ended: it may count twice, never zero."""
    cluster_with(gpus=4)
    _limit(story, 2)
    first = _held(story)
    request = pending_explanation.request_of(
        only_attempt(submit(story, resources={"accelerators": 1}))
    )
    transition(
        [
            StateChange(
                only_attempt(first).id, State.RUNNING, "test", started_at=NOON - timedelta(hours=1)
            )
        ]
    )

    def read(*asked):
        found = list(running(*asked)) if when == "before" else None
        _run(first, NOON - timedelta(hours=1), NOON)
        return list(running(*asked)) if found is None else found

    monkeypatch.setattr("workspaces.quotas.gpu_hours.declared", lambda *_: [read])
    used = [
        now.used
        for meter, now in limits_of([request]).items()
        if (meter.scope, meter.resource) == ("team", GPU_HOURS)
    ]
    assert len(used) == 1 and used[0] >= 2 * HOUR


def test_usage_of_a_person_does_not_count_in_another_organization(story, monkeypatch):
    cluster_with(gpus=4)
    _limit(story, 2, "user", story.ada.email)
    request = pending_explanation.request_of(
        only_attempt(submit(story, resources={"accelerators": 1}))
    )
    elsewhere = story.borealis.id, "user", story.ada.id, timedelta(hours=2)
    monkeypatch.setattr(
        "workspaces.quotas.gpu_hours.declared", lambda *_: [lambda *asked: [elsewhere]]
    )
    GpuMonth.objects.create(
        org=story.borealis,
        scope="user",
        subject_id=story.ada.id,
        month=NOON.date().replace(day=1),
        used=HOUR,
    )
    assert {
        now.used for meter, now in limits_of([request]).items() if meter.resource == GPU_HOURS
    } == {0}


def test_claim_under_a_gpu_hour_limit_takes_two_more_statements(story):
    cluster_with(gpus=4)
    job = submit(story, resources={"accelerators": 1})
    request = pending_explanation.request_of(only_attempt(job))
    _limit(story, None)
    with CaptureQueriesContext(connection) as without:
        limits_of([request])
    _limit(story, 5)
    with CaptureQueriesContext(connection) as limited:
        limits_of([request])
    assert (len(without), len(limited)) == (1, 3)


def test_submission_waits_for_gpu_hours_and_is_refused_for_a_zero_limit(story):
    cluster_with(gpus=4)
    _limit(story, 1)
    submit(story, resources={"accelerators": 4}, policy={"max_runtime": "48h"})
    _limit(story, 0)
    with pytest.raises(
        QuotaExceeded,
        match="The team's limit is 0 GPU-hours a month, so no job with GPUs can ever start",
    ):
        submit(story, resources={"accelerators": 1})
    submit(story)


def test_dry_run_says_when_the_job_would_start(story):
    cluster_with(gpus=4)
    _limit(story, 1)
    _run(_held(story), NOON - timedelta(hours=1), NOON)
    with org_scope(story.atlas.id):
        result = dry_run_job(
            actor=story.actor(story.ada),
            team=story.vision,
            spec=parse_mapping({"run": "true", "resources": {"accelerators": 1}}),
        )
    start = next(check for check in result.checks if check.name == "start")
    assert "2 of 1 GPU-hours this month" in start.text
    assert "2026-12-01 00:00 UTC" in start.text


def test_gpu_hours_cannot_be_guaranteed_and_are_set_in_thousandths(story):
    with org_scope(story.atlas.id), pytest.raises(InvalidInput, match="GPU-hours are used up"):
        set_quotas(
            actor=story.actor(story.ada),
            org=story.atlas,
            changes=[LimitChange("team", "vision", GPU_HOURS, 10, 2)],
        )
    _limit(story, 1.5)
    with pytest.raises(InvalidInput, match="three decimals"):
        _limit(story, 1.0005)
    with pytest.raises(InvalidInput, match="must be a number"):
        _limit(story, 2.0**40)
    with pytest.raises(InvalidInput, match="must be one of"):
        with org_scope(story.atlas.id):
            set_quotas(
                actor=story.actor(story.ada),
                org=story.atlas,
                changes=[LimitChange("team", "vision", "gpu-hours.h100", 10)],
            )


def test_member_without_quota_permission_reads_only_their_own_hours(story):
    cluster_with(gpus=4)
    _run(_held(story), NOON - timedelta(hours=1), NOON)
    with org_scope(story.atlas.id):
        seen = {
            (q["scope"], q["subject"]): q["used"]
            for q in quotas_for(story.actor(story.ben))
            if q["resource"] == GPU_HOURS
        }
        assert seen == {("org", "atlas"): 2, ("team", "vision"): 2}
        assert ("user", "ada@atlas.example") in {
            (q["scope"], q["subject"]) for q in quotas_for(story.actor(story.ada))
        }


def test_tree_shows_used_gpu_hours_without_a_limit(story):
    cluster_with(gpus=4)
    _run(_held(story), NOON - timedelta(hours=1), NOON)
    _limit(story, 10)
    with org_scope(story.atlas.id):
        shown = tree(story.actor(story.ada), story.atlas, "vision")
    bars = {
        b.who: b.bars[GPU_HOURS]
        for b in (shown.top, *shown.teams, *(p for t in shown.teams for p in t.people))
    }
    assert {
        who: (bar.held_text, bar.limit_text, bar.left) for who, bar in bars.items() if bar.used
    } == {
        "org:": ("2", "", None),
        "team:vision": ("2", "10", 8 * HOUR),
        "user:ada@atlas.example": ("2", "", None),
    }
    assert (
        bars["team:vision"].tip
        == "2 used this month, including running jobs; 8 available; resets on 2026-12-01"
    )


def test_preview_names_who_fewer_hours_would_stop_and_until_when(story):
    cluster_with(gpus=4)
    _run(_held(story), NOON - timedelta(hours=1), NOON)
    _limit(story, 10)
    job = submit(story, resources={"accelerators": 1})
    with org_scope(story.atlas.id):
        result = preview(
            actor=story.actor(story.ada),
            org=story.atlas,
            changes=[LimitChange("team", "vision", GPU_HOURS, 1)],
        )
    assert result.sentences == [
        (
            "vision has used 2 GPU-hours this month, above the new limit. Running jobs continue; "
            "no GPU job starts before 2026-12-01."
        ),
        f"1 pending job of Vision would have to wait for the limit: #{job.number}",
    ]
    assert (result.lines[0].before, result.lines[0].after) == (
        "at most 10 GPU-hours",
        "at most 1 GPU-hour",
    )


def test_gpu_hour_limits_are_set_requested_and_kept_in_history(story):
    cluster_with(gpus=4)
    ada, ben = story.client(story.ada), story.client(story.ben)
    form = {
        "who": ["team:vision"],
        "resource": ["gpu", GPU_HOURS, "cpu"],
        "limit": ["", "2.5", ""],
        "guaranteed": ["", "", ""],
        "do": "set",
    }
    assert ada.post("/atlas/quotas", form).status_code == 302
    _run(_held(story), NOON - timedelta(hours=2), NOON)
    job = _held(story)
    page = ada.get(f"/atlas/jobs/{job.number}").content.decode()
    assert "Team Vision has used 4 of 2.5 GPU-hours this month" in page
    link = f"ask=team%3Avision&amp;resource=gpu-hours&amp;amount=5&amp;job={job.number}"
    assert link in page
    opened = ben.get(f"/atlas/quotas?{unescape(link)}").content.decode()
    assert re.search(r'id="request-more"[^>]* open>', opened)
    body = {"who": "team:vision", "resource": GPU_HOURS, "amount": "20", "why": "a paper"}
    assert ben.post("/atlas/quotas/requests", body).status_code == 302
    with org_scope(story.atlas.id):
        row = QuotaRequest.objects.get()
        decide(actor=story.actor(story.ada), request_id=row.id, do="approve")
    shown = ada.get("/atlas/quotas/team/vision")
    bar = shown.context["b"].bars[GPU_HOURS]
    assert (bar.held_text, bar.typed_limit) == ("4", "20")
    lines = [line for change in shown.context["history"] for line in change["lines"]]
    assert [(line["before"], line["after"]) for line in lines] == [
        ("2.5", "20"),
        ("no limit", "2.5"),
    ]


def test_api_returns_used_and_remaining_hours_and_the_reset_time(story):
    cluster_with(gpus=4)
    _run(_held(story), NOON - timedelta(hours=2), NOON)
    ada = story.client(story.ada)
    made = ada.put(
        "/api/v1/orgs/atlas/quotas",
        {"scope": "team", "subject": "vision", "resource": GPU_HOURS, "limit": 10},
        content_type="application/json",
    ).json()
    assert (made["used"], made["limit"], made["left"], made["begins_anew"]) == (
        4,
        10,
        6,
        "2026-12-01T00:00:00Z",
    )
    data = {
        (q["scope"], q["resource"]): q["used"]
        for q in ada.get("/api/v1/orgs/atlas/quotas").json()["items"]
    }
    assert data == {(scope, GPU_HOURS): 4 for scope in ("org", "team", "user")}
