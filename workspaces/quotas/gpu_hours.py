"""GPU-hours of a calendar month (UTC): what ended is counted in `GpuMonth`, what runs now is added up when somebody asks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from datetime import UTC, date, datetime, time, timedelta
from typing import NamedTuple
from uuid import UUID

from portal.core import clock
from workspaces.models import GpuMonth, Quota
from workspaces.quotas.limits import GPU_HOURS, ORG, TEAM, USER, Meter

Whose = tuple[str, UUID]  # scope, subject


class Ran(NamedTuple):
    """So many GPUs were in use for somebody from then until then."""

    org_id: UUID
    team_id: UUID
    user_id: UUID
    gpus: int
    start: datetime
    end: datetime

    @property
    def subjects(self) -> tuple[Whose, ...]:
        return (ORG, self.org_id), (TEAM, self.team_id), (USER, self.user_id)


Running = Callable[[Collection[UUID] | None, datetime], Iterable[Ran]]
_running: list[Running] = []


def count_running_by(running: Running) -> None:
    """`running` gives what runs with GPUs until this moment, of these organizations or (None) of all in the scope one is in."""
    _running[:] = [running]


def month_of(at: datetime) -> date:
    """By its first day."""
    return at.astimezone(UTC).date().replace(day=1)


def end_of(month: date) -> datetime:
    """The first moment of the next month."""
    return datetime.combine((month + timedelta(days=31)).replace(day=1), time(), UTC)


def begins_anew() -> datetime:
    """When what is used counts from nothing again."""
    return end_of(month_of(clock.now()))


def split(start: datetime, end: datetime) -> Iterator[tuple[date, int]]:
    """The milliseconds from `start` to `end` that lie in each month. Each instant is cut to its millisecond, so that parts of a span
    add up to the whole, wherever it is cut."""
    while start < end:
        month = month_of(start)
        until = min(end, end_of(month))
        yield month, _ms(until) - _ms(start)
        start = until


def by_month(runs: Iterable[Ran]) -> Counter[tuple[UUID, str, UUID, date]]:
    """GPU-milliseconds by organization, scope, subject and month; what comes to nothing is left out."""
    found: Counter[tuple[UUID, str, UUID, date]] = Counter()
    for ran in runs:
        for month, span in split(ran.start, ran.end):
            for scope, subject in ran.subjects:
                found[ran.org_id, scope, subject, month] += span * ran.gpus
    return +found


def used_now() -> Counter[Whose]:
    """GPU-milliseconds of the current month, what runs now included, by whose, in the scope one is in. Two statements."""
    running = _running_now()
    rows = GpuMonth.objects.filter(month=month_of(clock.now())).values_list(
        "scope", "subject_id", "used"
    )
    return Counter({(scope, subject): n for scope, subject, n in rows}) + running


def with_hours(rows: Iterable[Quota], hours: Mapping[Whose, int]) -> list[Quota]:
    """These meters, those of GPU-hours with what was used this month, which no row of theirs holds. For showing, not for saving."""
    found = list(rows)
    for row in found:
        if row.resource == GPU_HOURS:
            row.used = hours.get((row.scope, row.subject_id), 0)
    return found


def without_limit(rows: Iterable[Quota], hours: Mapping[Whose, int]) -> list[Quota]:
    """Meters for those who used GPUs and have none among these."""
    known = {(row.scope, row.subject_id) for row in rows if row.resource == GPU_HOURS}
    return [
        Quota(scope=scope, subject_id=subject, resource=GPU_HOURS, used=n)
        for (scope, subject), n in hours.items()
        if (scope, subject) not in known
    ]


def _running_now() -> Counter[Whose]:
    """The part of it that what runs now has used so far."""
    at = clock.now()
    used: Counter[Whose] = Counter()
    for (_org, scope, subject, month), n in by_month(
        _running[0](None, at) if _running else ()
    ).items():
        if month == month_of(at):
            used[scope, subject] += n
    return used


def used_on(meters: Collection[Meter]) -> Counter[Meter]:
    """GPU-milliseconds of the current month on these meters. Two statements, what runs first: what ends meanwhile is counted twice for
    this moment, and nothing starts by an hour that was seen in neither."""
    org_ids, at = {meter.org_id for meter in meters}, clock.now()
    runs = by_month(_running[0](org_ids, at) if _running else ())
    used = Counter(
        {
            Meter(org, scope, subject, GPU_HOURS): n
            for (org, scope, subject, month), n in runs.items()
            if month == month_of(at)
        }
    )
    rows = GpuMonth.objects.filter(
        org_id__in=org_ids,
        subject_id__in={meter.subject_id for meter in meters},
        month=month_of(at),
    )
    for org, scope, subject, n in rows.values_list("org_id", "scope", "subject_id", "used"):
        used[Meter(org, scope, subject, GPU_HOURS)] += n
    return used


def _ms(at: datetime) -> int:
    return (at - _EPOCH) // timedelta(milliseconds=1)


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
