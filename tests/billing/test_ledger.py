"""The ledger: exact sums, whatever is repeated, late or killed."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, date, datetime, timedelta
from itertools import pairwise

import pytest
from django.db import transaction
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from billing.amounts import DAY_MS, at_ms, day_of, ms_of
from billing.models import LedgerLine, Progress, UsageDay
from billing.services import ledger
from billing.services.prices import costs_like_a_gpu
from clusters.models import Pool
from clusters.services.pools import delete_pool
from portal.core import clock
from portal.core.events import EventRecord, record
from schedulers.states import Reason, State
from tests.billing.stage import GIB, finish, granted, run, say_ended
from workspaces.models import Quota
from workspaces.quotas.limits import STORAGE
from workspaces.tenancy.scope import org_scope, platform_scope

NOON = ms_of(datetime(2026, 10, 31, 12, tzinfo=UTC))
LATER = at_ms(NOON + 30 * DAY_MS)
HOUR = 3_600_000


def lines():
    """Return what the ledger has, without ids."""
    with platform_scope("test"):
        return sorted(
            LedgerLine.objects.values_list(
                "kind", "source", "resource", "day", "start_ms", "end_ms", "units", "quantity"
            ),
            key=str,
        )


def total(resource, kind="job"):
    with platform_scope("test"):
        rows = LedgerLine.objects.filter(resource=resource, kind=kind)
        return sum(rows.values_list("quantity", flat=True))


def update(at=LATER):
    with clock.frozen(at):
        ledger.update_ledger()


def test_attempt_is_split_at_midnight_and_month(story, cluster):
    run(story, cluster, NOON, NOON + 13 * HOUR + 7, gpu=2, memory=GIB + 1)
    update()
    with org_scope(story.atlas.id):
        days = LedgerLine.objects.filter(resource="gpu.h100").order_by("day")
        assert list(days.values_list("day", "quantity")) == [
            (date(2026, 10, 31), 2 * 12 * HOUR),
            (date(2026, 11, 1), 2 * (HOUR + 7)),
        ]
        assert sum(days.values_list("quantity", flat=True)) == 2 * (13 * HOUR + 7)
    assert total("memory") == 1025 * (13 * HOUR + 7)  # MiB, rounded up
    with platform_scope("test"):
        sums = dict(UsageDay.objects.filter(resource="cpu").values_list("day", "quantity"))
    assert sums == {date(2026, 10, 31): 12_000 * HOUR, date(2026, 11, 1): 1000 * (HOUR + 7)}


def lose(attempt, end, reason=Reason.NODE_FAILED):
    attempt.reason = reason
    finish(attempt, end, State.FAILED)


def say_saved(attempt, at, by=None, **more):
    about = {"output": "ckpt", "index": 0, "attempt": (by or attempt).id.hex, **more}
    with platform_scope("test"), clock.frozen(at_ms(at)):
        record(
            EventRecord("job.output_saved", attempt.org_id, "job", attempt.job_id, "muster", about)
        )


def test_time_lost_by_the_platform_is_a_line_of_its_own_since_the_last_save(story, cluster):
    unsaved = run(story, cluster, NOON, gpu=1)
    lose(unsaved, NOON + HOUR)
    saved = run(story, cluster, NOON, gpu=1)
    say_saved(saved, NOON + 10 * HOUR)
    say_saved(saved, NOON + 13 * HOUR, by=unsaved)  # another attempt
    say_saved(saved, NOON + 14 * HOUR, is_incomplete=True)  # no retry continues from it
    lose(saved, NOON + 14 * HOUR, Reason.PREEMPTED)
    own = run(story, cluster, NOON, gpu=1)
    lose(own, NOON + HOUR, Reason.USER_ERROR)
    update()
    assert total("gpu.h100") == (10 + 1) * HOUR
    assert total("gpu.h100", "lost") == (1 + 4) * HOUR
    say_saved(saved, NOON + 14 * HOUR + 60_000)  # the portal saved the last files after its end
    update()
    assert (total("gpu.h100"), total("gpu.h100", "lost")) == (15 * HOUR, HOUR)
    before = lines()
    with clock.frozen(LATER):
        ledger.rebuild()
    assert lines() == before


def test_events_read_again_change_nothing(story, cluster):
    attempt = run(story, cluster, NOON, NOON + HOUR, gpu=1)
    update()
    before = lines()
    with platform_scope("test"):
        say_ended(story.atlas.id, attempt.job_id, attempt.id)
        Progress.objects.update(position=0)
    update()
    update()
    assert lines() == before != []


def test_killed_run_neither_loses_nor_doubles(story, cluster, monkeypatch):
    for n in range(3):
        run(story, cluster, NOON + n * HOUR, NOON + (n + 1) * HOUR, gpu=1)

    def killed(*_):
        raise KeyboardInterrupt

    for place in ("_insert", "_accrue", "add_up"):
        with monkeypatch.context() as patch:
            patch.setattr(ledger, place, killed)
            with pytest.raises(KeyboardInterrupt):
                update()
    update()
    assert total("gpu.h100") == 3 * HOUR
    with platform_scope("test"):
        assert (
            sum(UsageDay.objects.filter(resource="gpu.h100").values_list("quantity", flat=True))
            == 3 * HOUR
        )


def test_end_without_its_event_is_found_the_next_day(story, cluster):
    attempt = run(story, cluster, NOON, gpu=1)
    with platform_scope("test"):
        attempt.state, attempt.finished_at = State.FAILED, at_ms(NOON + HOUR)
        attempt.save()
    update(at_ms(NOON + 2 * HOUR))
    update(at_ms(NOON + DAY_MS))
    assert total("gpu.h100") == HOUR


def test_running_attempt_has_whole_days_and_a_late_end_replaces_them(story, cluster):
    attempt = run(story, cluster, NOON, gpu=1)
    update(at_ms(NOON + 3 * DAY_MS))
    assert total("gpu.h100") == 12 * HOUR + 2 * DAY_MS
    finish(attempt, NOON + HOUR)  # the cluster was away, and says later when it ended
    update(at_ms(NOON + 3 * DAY_MS + HOUR))
    assert total("gpu.h100") == HOUR


def test_attempt_that_never_started_has_no_line(story, cluster):
    attempt = run(story, cluster, NOON, gpu=1)
    attempt.started_at = None
    finish(attempt, NOON + HOUR, State.CANCELED)
    update()
    assert lines() == []


def test_run_that_ends_in_the_future_is_not_billed_before(story, cluster):
    run(story, cluster, NOON, NOON + 20 * HOUR, gpu=4)
    update(at_ms(NOON + HOUR))
    assert total("gpu.h100") == 0
    update(at_ms(NOON + DAY_MS))
    assert total("gpu.h100") == 80 * HOUR


def test_gpus_without_a_type_get_the_class_of_their_node(story, cluster):
    run(story, cluster, NOON, NOON + HOUR, gpu=1, gpu_type="")
    update()
    assert total("gpu.h100") == HOUR


def test_shares_are_no_gpus_and_cost_nothing_without_a_price():
    shares = {"gpu.h100.shared": 3, "cpu": 1000}
    assert ledger.resources_of(shares, "gpu") == shares
    assert ledger.resources_of(shares | {"gpu": 2}, "gpu.a100") == shares | {"gpu.a100": 2}
    assert ledger.resources_of({"gpu": 2, "gpu.h100": 2}, "gpu") == {"gpu.h100": 2}
    classes = ("gpu.h100", "gpu.mig-1g.10gb", "gpu.h100.shared", "gpu.mps", "cpu")
    assert [name for name in classes if costs_like_a_gpu(name)] == ["gpu.h100"]


def test_stored_data_is_measured_once_a_day(story, cluster):
    with org_scope(story.atlas.id):
        Quota.objects.create(
            org=story.atlas,
            scope="team",
            subject_id=story.vision.id,
            resource=STORAGE,
            used=3 * GIB,
        )
    for hour in (0, 1, 24):
        update(at_ms(NOON + hour * HOUR))
    assert total("storage", "storage") == 2 * 3072 * DAY_MS


# Granted pools


def test_granted_pool_bills_what_jobs_do_not_use(story, cluster):
    request = granted(story, cluster, 8, NOON, NOON + 10 * HOUR)
    run(story, cluster, NOON + HOUR, NOON + 3 * HOUR, gpu=6, pool=request.pool)
    run(story, cluster, NOON + 2 * HOUR, NOON + 4 * HOUR, gpu=6, pool=request.pool)  # 12 > 8
    run(story, cluster, NOON, NOON + HOUR, gpu=8, pool=request.pool, team=story.speech)
    update()
    mine = 6 + 12 + 6
    assert total("gpu.h100") == (mine + 8) * HOUR
    assert total("gpu.h100", "reservation") == (80 - 6 - 8 - 6) * HOUR


def test_two_requests_share_what_jobs_use(story, cluster):
    request = granted(story, cluster, 4, NOON, NOON + 4 * HOUR)
    granted(story, cluster, 4, NOON + 2 * HOUR, NOON + 6 * HOUR)
    run(story, cluster, NOON, NOON + 6 * HOUR, gpu=6, pool=request.pool)
    update()
    # 4 promised and 6 used; then 8 and 6; then 4 and 6.
    assert total("gpu.h100", "reservation") == 2 * 2 * HOUR


def test_returned_pool_ends(story, cluster):
    request = granted(story, cluster, 2, NOON, NOON + 10 * DAY_MS)
    update(at_ms(NOON + DAY_MS))
    assert total("gpu.h100", "reservation") == 2 * DAY_MS
    with platform_scope("test"):
        request.state, request.ends_at = "ended", at_ms(NOON + HOUR)
        request.save()
        record(EventRecord("pool.returned", story.atlas.id, "pool_request", request.id))
    update(at_ms(NOON + DAY_MS + HOUR))
    assert total("gpu.h100", "reservation") == 2 * HOUR


# Random histories

SPAN = st.tuples(st.integers(0, 3 * DAY_MS), st.integers(1, 2 * DAY_MS))
RUNS = st.lists(
    st.tuples(SPAN, st.integers(0, 8), st.booleans(), st.booleans(), st.booleans()), max_size=8
)
REQUESTS = st.lists(st.tuples(SPAN, st.integers(1, 8)), max_size=3)


@settings(
    max_examples=25,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(runs=RUNS, requests=REQUESTS, breaks=st.lists(st.integers(0, 5 * DAY_MS), max_size=4))
def test_random_history_adds_up_and_is_rebuilt_alike(story, cluster, runs, requests, breaks):
    with transaction.atomic():
        _check_history(story, cluster, runs, requests, sorted(breaks))
        transaction.set_rollback(True)


def _check_history(story, cluster, runs, requests, breaks):
    last = NOON + 6 * DAY_MS
    asked = [granted(story, cluster, n, NOON + a, NOON + a + d) for (a, d), n in requests]
    pool = asked[0].pool if asked else None
    made = [
        (
            run(
                story,
                cluster,
                NOON + a,
                gpu=gpus,
                pool=pool if in_pool else None,
                team=story.speech if other else None,
            ),
            NOON + a,
            NOON + a + d,
            gpus,
            in_pool and not other and pool is not None,
            retried,
        )
        for (a, d), gpus, in_pool, other, retried in runs
    ]
    for at in [*(NOON + b for b in breaks), last]:
        for attempt, _, end, _, _, _ in made:
            if end <= at and attempt.finished_at is None:
                finish(attempt, end)
        update(at_ms(at))
    for resource, units in (("cpu", 1000), ("memory", 1024)):
        assert total(resource) == sum(units * (end - start) for _, start, end, *_ in made)
    gpu_ms = sum(gpus * (end - start) for _, start, end, gpus, _, _ in made)
    assert total("gpu.h100") == gpu_ms
    assert total("gpu.h100", "reservation") == _unused(made, asked)
    with platform_scope("test"):
        days = Counter()
        for day, quantity in UsageDay.objects.values_list("day", "quantity"):
            days[day] += quantity
        for day, quantity in LedgerLine.objects.values_list("day", "quantity"):
            days[day] -= quantity
        assert not +days and not -days
        for a, b, day in LedgerLine.objects.values_list("start_ms", "end_ms", "day"):
            assert day_of(a) == day_of(b - 1) == day
    before = lines()
    with clock.frozen(at_ms(last)):
        ledger.rebuild()
    assert lines() == before


def _unused(made, asked):
    """Return the integral of max(promised - used, 0), moment by moment."""
    spans = [(s, e, 0, gpus) for _, s, e, gpus, is_mine, _ in made if is_mine]
    spans += [(ms_of(r.starts_at), ms_of(r.ends_at), 1, r.gpus) for r in asked]
    moments = sorted({moment for s, e, *_ in spans for moment in (s, e)})
    found = 0
    for a, b in pairwise(moments):
        used, promised = (
            sum(n for s, e, kind, n in spans if kind == which and s <= a < e) for which in (0, 1)
        )
        found += max(promised - used, 0) * (b - a)
    return found


def test_day_in_an_hour_zone_is_utc():
    assert day_of(ms_of(datetime(2026, 11, 1, tzinfo=UTC)) - 1) == date(2026, 10, 31)
    assert at_ms(NOON) + timedelta(hours=12) == datetime(2026, 11, 1, tzinfo=UTC)


# Hostile clocks, crashes and changes


def test_lost_end_of_an_attempt_with_lines_is_found_the_next_day(story, cluster):
    attempt = run(story, cluster, NOON, gpu=1)
    update(at_ms(NOON + DAY_MS))  # it has a line for its first day
    with platform_scope("test"):
        attempt.state, attempt.finished_at = State.FAILED, at_ms(NOON + DAY_MS + HOUR)
        attempt.save()
    update(at_ms(NOON + DAY_MS + 2 * HOUR))
    update(at_ms(NOON + 2 * DAY_MS))
    assert total("gpu.h100") == DAY_MS + HOUR


def test_event_of_a_clock_that_is_behind_does_not_pass_younger_ones(story, cluster):
    now = at_ms(NOON + 2 * HOUR)
    with clock.frozen(now):
        run(story, cluster, NOON, NOON + HOUR, gpu=1)
        with clock.frozen(now - timedelta(hours=1)):
            run(story, cluster, NOON, NOON + HOUR, gpu=1)
        ledger.update_ledger()
        assert ledger.behind()[0] >= 2, "what commits late in between is still read"
    update(now + timedelta(hours=1))
    assert (ledger.behind()[0], total("gpu.h100")) == (0, 2 * HOUR)


def test_deleted_pool_keeps_its_lines_and_bills_no_more(story, cluster, dot):
    request = granted(story, cluster, 8, NOON, NOON + 10 * DAY_MS)
    run(story, cluster, NOON, NOON + 2 * HOUR, gpu=6, pool=request.pool)
    with clock.frozen(at_ms(NOON + 4 * HOUR)):
        ledger.update_ledger()
        with platform_scope("test"):
            Pool.objects.create(name="other", cluster=cluster)
            delete_pool(actor=dot, pool=Pool.objects.get(name="h100"))
    update()
    before = lines()
    assert total("gpu.h100", "reservation") == (4 * 8 - 2 * 6) * HOUR
    with clock.frozen(LATER):
        ledger.rebuild()
    assert lines() == before
