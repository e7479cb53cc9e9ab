"""Statistics of jobs by day: counts and histograms that add up, so that pages only add days.

`facts`: `ended`, `failed`, `canceled` (counts); `sizes` and `durations` (jobs by bucket);
`waits` (size -> [jobs, seconds, jobs by bucket]); `hours` (hour of submission -> [jobs, seconds of
waiting]); `users` and `images` (-> [succeeded, failed]); `reasons` of failures; `efficiency`
(tenth of utilization, or "-" for unknown -> GPU-milliseconds).
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable
from datetime import date, datetime, timedelta
from functools import reduce
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import BigIntegerField, Count, Min, Sum
from django.db.models.functions import Cast

from billing.amounts import midnight
from billing.models import (
    AttemptGpuTime,
    FleetJobDay,
    FleetQueueHour,
    JobDay,
    QueueHour,
)
from jobs.models import Attempt, Job
from portal.core import clock
from schedulers.states import State

Facts = dict[str, Any]
Queue = tuple[int, int, int]  # queued, running, the longest wait in seconds
SIZES = (0, 1, 2, 4, 8, 16, 32, 64, 128)  # GPUs: lower bounds
SECONDS = (10, 60, 300, 900, 3600, 4 * 3600, 12 * 3600, 86_400)  # upper bounds of buckets
MOST = 200  # users, images of one day
BACKFILL = 30  # days, at the first run


def empty() -> Facts:
    """Return facts of no jobs."""
    return {
        "ended": 0,
        "failed": 0,
        "canceled": 0,
        "sizes": {},
        "durations": {},
        "waits": {},
        "hours": {},
        "users": {},
        "images": {},
        "reasons": {},
        "efficiency": {},
    }


def record_days() -> None:
    """Compute today and yesterday; at the first run, the last month.

    Efficiency is of days whose hours are known: those of attempts are kept for three days.
    """
    today = clock.now().date()
    first = today - timedelta(days=1)
    if not FleetJobDay.objects.exists():
        first = today - timedelta(days=BACKFILL)
    while first <= today:
        record_day(first)
        first += timedelta(days=1)


def record_day(day: date) -> None:
    """Compute the statistics of a day and replace what was stored. In a platform scope."""
    teams: dict[tuple[UUID, UUID], Facts] = defaultdict(empty)
    start = midnight(day)
    rows = Job.objects.filter(finished_at__gte=start, finished_at__lt=start + timedelta(days=1))
    names = ("org_id", "team_id", "owner_id", "state", "reason", "resources")
    times = ("created_at", "started_at", "finished_at")
    for org, team, owner, state, reason, amounts, made, began, ended, image in rows.values_list(
        *names, *times, "spec__image"
    ).iterator(chunk_size=2000):
        _add_job(
            teams[org, team], owner, State(state), reason, amounts, (made, began, ended), image
        )
    _add_efficiency(teams, start)
    orgs: dict[UUID, Facts] = defaultdict(empty)
    for (org, _), facts in teams.items():
        merge(orgs[org], facts)
    fleet = empty()
    for facts in orgs.values():
        merge(fleet, facts)
    with transaction.atomic():
        JobDay.objects.filter(day=day).delete()
        JobDay.objects.bulk_create(
            [
                *(
                    JobDay(org_id=org, team_id=team, day=day, facts=_trimmed(facts))
                    for (org, team), facts in teams.items()
                ),
                *(
                    JobDay(org_id=org, day=day, facts=_trimmed(facts))
                    for org, facts in orgs.items()
                ),
            ]
        )
        FleetJobDay.objects.update_or_create(day=day, defaults={"facts": _trimmed(fleet)})


def _add_job(
    facts: Facts,
    owner: UUID,
    state: State,
    reason: str,
    amounts: dict[str, Any],
    times: tuple[datetime, datetime | None, datetime],
    image: str | None,
) -> None:
    created, started, finished = times
    size = size_of(int(amounts.get("gpu", 0)))
    facts["ended"] += 1
    _count(facts["sizes"], size)
    if state == State.CANCELED:
        facts["canceled"] += 1
    else:
        at = int(state != State.SUCCEEDED)
        facts["failed"] += at
        for name, key in (("users", str(owner)), ("images", image or "")):
            facts[name].setdefault(key, [0, 0])[at] += 1
        if at:
            _count(facts["reasons"], reason or "-")
    if started:
        waited = max((started - created).total_seconds(), 0)
        ran = max((finished - started).total_seconds(), 0)
        _count(facts["durations"], bucket_of(ran))
        cell = facts["waits"].setdefault(size, [0, 0, {}])
        cell[0], cell[1] = cell[0] + 1, cell[1] + round(waited)
        _count(cell[2], bucket_of(waited))
        hour = facts["hours"].setdefault(str(created.hour), [0, 0])
        hour[0], hour[1] = hour[0] + 1, hour[1] + round(waited)


def _add_efficiency(teams: dict[tuple[UUID, UUID], Facts], start: datetime) -> None:
    hours = AttemptGpuTime.objects.filter(
        is_day=False, hour__gte=start, hour__lt=start + timedelta(days=1)
    )
    sums = {
        f"{name}_sum": Cast(Sum(name), BigIntegerField())
        for name in ("used", "idle", "underused", "unmeasured")
    }
    rows = hours.order_by().values_list("org_id", "team_id", "attempt_id").annotate(**sums)
    for org, team, _, used, idle, underused, unmeasured in rows.iterator(chunk_size=2000):
        found = teams[org, team]["efficiency"]
        if measured := used + idle + underused:
            _count(found, str(min(int(10 * used / measured), 9)), measured)
        if unmeasured:
            _count(found, "-", unmeasured)


def _count(found: dict[str, int], key: str, n: int = 1) -> None:
    found[key] = found.get(key, 0) + n


def size_of(gpus: int) -> str:
    """Return the bucket of a job's size: the largest bound that it reaches."""
    return str(SIZES[bisect_right(SIZES, gpus) - 1])


def bucket_of(seconds: float) -> str:
    """Return the upper bound of the bucket in seconds; "more" beyond a day."""
    return next((str(bound) for bound in SECONDS if seconds <= bound), "more")


def merge(into: Facts, facts: Facts) -> Facts:
    """Add facts to others, in place."""
    for name, value in facts.items():
        into[name] = _sum(into.get(name), value)
    return into


def _sum(a: Any, b: Any) -> Any:
    if a is None:
        return _sum(type(b)(), b) if isinstance(b, dict) else list(b) if isinstance(b, list) else b
    if isinstance(b, dict):
        for key, value in b.items():
            a[key] = _sum(a.get(key), value)
        return a
    if isinstance(b, list):
        return [_sum(x, y) for x, y in zip(a, b, strict=True)]
    return a + b


def _trimmed(facts: Facts) -> Facts:
    for name in ("users", "images"):
        rows = sorted(facts[name].items(), key=lambda row: -sum(row[1]))
        facts = facts | {name: dict(rows[:MOST])}
    return facts


def total(rows: Iterable[Facts]) -> Facts:
    """Return the sum of facts."""
    found = empty()
    for facts in rows:
        merge(found, facts)
    return found


def record_queue() -> None:
    """Sample the queue: the highest values of each hour are kept. In a platform scope."""
    now = clock.now()
    hour = now.replace(minute=0, second=0, microsecond=0)
    jobs = Attempt.objects.order_by().values_list("org_id", "job__team_id")
    queued = {
        (org, team): (n, oldest)
        for org, team, n, oldest in jobs.filter(state=State.QUEUED, is_current=True).annotate(
            n=Count("id"), oldest=Min("queued_at")
        )
    }
    running: Counter[tuple[UUID, UUID]] = Counter()
    for org, team, n in jobs.filter(state__gt=State.QUEUED, state__lt=State.SUCCEEDED).annotate(
        n=Count("id")
    ):
        running[org, team] = n
    orgs: dict[UUID, Queue] = defaultdict(lambda: (0, 0, 0))
    for org, team in {*queued, *running}:
        n, oldest = queued.get((org, team), (0, now))
        one = n, running[org, team], round((now - oldest).total_seconds())
        orgs[org] = _joined(orgs[org], one)
        _raise(QueueHour, one, org_id=org, team_id=team, hour=hour)
    for org, one in orgs.items():
        _raise(QueueHour, one, org_id=org, team_id=None, hour=hour)
    _raise(FleetQueueHour, reduce(_joined, orgs.values(), (0, 0, 0)), hour=hour)
    limit = now - timedelta(days=100)
    QueueHour.objects.filter(hour__lt=limit).delete()
    FleetQueueHour.objects.filter(hour__lt=limit).delete()


def _joined(a: Queue, b: Queue) -> Queue:
    return a[0] + b[0], a[1] + b[1], max(a[2], b[2])


def _raise(model: Any, values: Queue, **key: Any) -> None:
    names = ("queued", "running", "longest")
    row, is_new = model.objects.get_or_create(**key, defaults=dict(zip(names, values, strict=True)))
    higher = {n: v for n, v in zip(names, values, strict=True) if v > getattr(row, n)}
    if higher and not is_new:
        model.objects.filter(pk=row.pk).update(**higher)
