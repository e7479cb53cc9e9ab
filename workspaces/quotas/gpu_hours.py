"""GPU-hours of a calendar month (UTC).

Ended attempts are counted in `GpuMonth`; running ones are added when read.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from datetime import UTC, date, datetime, time, timedelta
from typing import NamedTuple
from uuid import UUID

from portal.core import clock
from portal.core.declarations import declared
from workspaces.models import GpuMonth, Quota
from workspaces.quotas.limits import GPU_HOURS, ORG, TEAM, USER, Meter

Whose = tuple[str, UUID]  # scope, subject


class GpuUsage(NamedTuple):
    """A subject's use of GPUs over a time span."""

    org_id: UUID
    team_id: UUID
    user_id: UUID
    gpus: int
    start: datetime
    end: datetime

    @property
    def subjects(self) -> tuple[Whose, ...]:
        return (ORG, self.org_id), (TEAM, self.team_id), (USER, self.user_id)


# Organization, scope (TEAM or USER), subject, and the time of all its GPUs together
RunningUsage = tuple[UUID, str, UUID, timedelta]


def running_usage(
    org_ids: Collection[UUID] | None, scopes: Collection[str], since: datetime, until: datetime
) -> Iterator[RunningUsage]:
    """Yield the GPU usage of running attempts by team and by user, which an app above knows.

    `org_ids` None: of all organizations in the current scope. `scopes` are TEAM and USER.
    """
    for running in declared("providers", "RUNNING_USAGE"):
        yield from running(org_ids, scopes, since, until)


def month_of(at: datetime) -> date:
    """Return the first day of the month."""
    return at.astimezone(UTC).date().replace(day=1)


def end_of(month: date) -> datetime:
    """Return the first moment of the next month."""
    return datetime.combine((month + timedelta(days=31)).replace(day=1), time(), UTC)


def next_reset() -> datetime:
    """Return when usage is reset."""
    return end_of(month_of(clock.now()))


def split(start: datetime, end: datetime) -> Iterator[tuple[date, int]]:
    """Yield the milliseconds from `start` to `end` in each month.

    Times are truncated to milliseconds, so that parts of a span add up to the whole.
    """
    while start < end:
        month = month_of(start)
        until = min(end, end_of(month))
        yield month, _ms(until) - _ms(start)
        start = until


def by_month(runs: Iterable[GpuUsage]) -> Counter[tuple[UUID, str, UUID, date]]:
    """Return GPU-milliseconds by organization, scope, subject and month, without zeros."""
    found: Counter[tuple[UUID, str, UUID, date]] = Counter()
    for ran in runs:
        for month, span in split(ran.start, ran.end):
            for scope, subject in ran.subjects:
                found[ran.org_id, scope, subject, month] += span * ran.gpus
    return +found


def used_now() -> Counter[Whose]:
    """Return GPU-milliseconds of the current month by subject, including running attempts.

    Limited to the current scope. Three queries.
    """
    running = _running_now()
    rows = GpuMonth.objects.filter(month=month_of(clock.now())).values_list(
        "scope", "subject_id", "used"
    )
    return Counter({(scope, subject): n for scope, subject, n in rows}) + running


def with_hours(rows: Iterable[Quota], hours: Mapping[Whose, int]) -> list[Quota]:
    """Return meters with the GPU-hours used this month, which are not stored in their rows.

    For display; do not save them.
    """
    found = list(rows)
    for row in found:
        if row.resource == GPU_HOURS:
            row.used = hours.get((row.scope, row.subject_id), 0)
    return found


def without_limit(rows: Iterable[Quota], hours: Mapping[Whose, int]) -> list[Quota]:
    """Return meters for subjects with usage that have none among `rows`."""
    known = {(row.scope, row.subject_id) for row in rows if row.resource == GPU_HOURS}
    return [
        Quota(scope=scope, subject_id=subject, resource=GPU_HOURS, used=n)
        for (scope, subject), n in hours.items()
        if (scope, subject) not in known
    ]


def _running_now() -> Counter[Whose]:
    """Return the usage of running attempts in this month."""
    used: Counter[Whose] = Counter()
    for (_org, scope, subject), n in _running_this_month(None, (TEAM, USER)).items():
        used[scope, subject] += n
    return used


def _running_this_month(
    org_ids: Collection[UUID] | None, scopes: Collection[str]
) -> Counter[tuple[UUID, str, UUID]]:
    """Return GPU-milliseconds of running attempts by organization, scope and subject."""
    at = clock.now()
    since = datetime.combine(month_of(at), time(), UTC)
    found: Counter[tuple[UUID, str, UUID]] = Counter()
    for org, scope, subject, used in running_usage(org_ids, scopes, since, at):
        found[org, scope, subject] = used // timedelta(milliseconds=1)
        if scope == TEAM:
            found[org, ORG, org] += found[org, TEAM, subject]
    return +found


def used_on(meters: Collection[Meter]) -> Counter[Meter]:
    """Return GPU-milliseconds of the current month on these meters.

    Two or three queries, running attempts first: one that ends in between is counted twice for a
    moment, but never missed.
    """
    org_ids = {meter.org_id for meter in meters}
    scopes = {USER if meter.scope == USER else TEAM for meter in meters}
    used = Counter(
        {Meter(*whose, GPU_HOURS): n for whose, n in _running_this_month(org_ids, scopes).items()}
    )
    rows = GpuMonth.objects.filter(
        org_id__in=org_ids,
        subject_id__in={meter.subject_id for meter in meters},
        month=month_of(clock.now()),
    )
    for org, scope, subject, n in rows.values_list("org_id", "scope", "subject_id", "used"):
        used[Meter(org, scope, subject, GPU_HOURS)] += n
    return used


def _ms(at: datetime) -> int:
    return (at - _EPOCH) // timedelta(milliseconds=1)


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
