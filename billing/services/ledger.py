"""Write the ledger from the events of attempts and pool requests.

The lines of an attempt are a function of its row alone, and replace those that it had. So an event
that is read twice, or a run that was killed, changes nothing. One run at a time writes.
"""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from functools import cached_property
from itertools import takewhile
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import Max, OuterRef, Subquery, Sum

from billing.amounts import (
    DAY_MS,
    MIB,
    at_ms,
    by_day,
    day_of,
    ms_of,
    start_of,
)
from billing.models import ChangedDay, LedgerKind, LedgerLine, Progress, UsageDay
from clusters.models import Gpu, PoolRequest
from jobs.models import Attempt
from jobs.workload_kinds import kind_named
from portal.core import clock
from portal.core.bulk import insert_rows
from portal.core.ids import uuid7
from portal.core.models import Event
from schedulers.shares import share_of
from schedulers.states import Reason, Responsibility, State
from workspaces.models import Quota
from workspaces.quotas.limits import STORAGE, TEAM
from workspaces.tenancy.scope import platform_scope

log = logging.getLogger(__name__)

NAME = "ledger"
BATCH = 2000  # events
# An event of a transaction that is still open appears later than ones with a higher position.
SETTLED = timedelta(minutes=2)
LOOK_BACK = timedelta(days=3)
_ENDS = tuple(f"attempt.{State(state).label}" for state in State if State(state).is_final)
_POOLS = ("pool.request_approved", "pool.returned", "pool.expired")
_WHY = "the ledger covers every organization"
COLUMNS = (
    "id",
    "org_id",
    "team_id",
    "kind",
    "source",
    "user_id",
    "job_id",
    "job_number",
    "cluster_id",
    "pool",
    "resource",
    "day",
    "start_ms",
    "end_ms",
    "units",
    "quantity",
)
_FIELDS = (
    "id",
    "org_id",
    "job__team_id",
    "job__owner_id",
    "job_id",
    "job__number",
    "job__kind",
    "cluster_id",
    "job__pool__name",
    "job__pool__gpu_type",
    "job__resources",
    "node",
    "nodes",
    "started_at",
    "finished_at",
    "state",
    "reason",
    "index",
)
_SAVED = "job.output_saved"
_INTERRUPTED = tuple(r for r in Reason if r.fault == Responsibility.PLATFORM)
SAVED_LATE = timedelta(minutes=15)  # after the end, by the portal


@dataclass(frozen=True)
class Run:
    """A span of time in which an attempt had resources; times are Unix milliseconds."""

    attempt_id: UUID
    org_id: UUID
    team_id: UUID
    user_id: UUID
    job_id: UUID
    job_number: int
    cluster_id: UUID
    pool: str
    resources: Mapping[str, int]  # class -> units of the ledger
    start: int
    end: int
    ledger_class: str  # of the kind of job, as in `LedgerKind`
    lost_from: int | None = None  # until the end, because the platform interrupted it

    def spans(self) -> Iterator[tuple[str, date, int, int]]:
        """Yield kind, day, start and end of each line."""
        lost_from = self.end if self.lost_from is None else self.lost_from
        for kind, start, end in (
            (self.ledger_class, self.start, lost_from),
            (LedgerKind.LOST.value, lost_from, self.end),
        ):
            for day, a, b in by_day(start, end):
                yield kind, day, a, b

    def lines(self) -> Iterator[tuple[Any, ...]]:
        """Yield a line for each resource class and day."""
        for kind, day, start, end in self.spans():
            for resource, units in self.resources.items():
                yield (
                    uuid7(),
                    self.org_id,
                    self.team_id,
                    kind,
                    self.attempt_id,
                    self.user_id,
                    self.job_id,
                    self.job_number,
                    self.cluster_id,
                    self.pool,
                    resource,
                    day,
                    start,
                    end,
                    units,
                    units * (end - start),
                )


class GpuClasses:
    """The class of GPUs of jobs that did not ask for a type: that of the pool, else of the node."""

    @cached_property
    def _by_node(self) -> dict[tuple[UUID, str], set[str]]:
        found: dict[tuple[UUID, str], set[str]] = defaultdict(set)
        rows = Gpu.objects.order_by().values_list("node__cluster_id", "node__name", "type")
        for cluster, node, kind in rows.distinct():
            found[cluster, node].add(kind)
        return found

    def of(self, cluster_id: UUID, pool_type: str | None, nodes: Sequence[str]) -> str:
        """Return the class, or "gpu" if nodes have several."""
        if pool_type:
            return f"gpu.{pool_type}"
        kinds = set().union(*(self._by_node.get((cluster_id, name), set()) for name in nodes))
        return f"gpu.{kinds.pop()}" if len(kinds) == 1 else "gpu"


def resources_of(amounts: Mapping[str, Any], gpu_class: str) -> dict[str, int]:
    """Return the units of the ledger by class for the `resources` of a job."""
    found: dict[str, int] = {
        name: int(n) for name, n in amounts.items() if name.startswith("gpu.") and n
    }
    whole = sum(n for name, n in found.items() if not share_of(name))  # shares are not in "gpu"
    if (rest := int(amounts.get("gpu", 0)) - whole) > 0:
        found[gpu_class] = found.get(gpu_class, 0) + rest
    if cpu := int(amounts.get("cpu", 0)):
        found["cpu"] = cpu
    if memory := int(amounts.get("memory", 0)):
        found["memory"] = -(-memory // MIB)
    return found


def runs_of(rows: Any, classes: GpuClasses, until: int | None = None) -> Iterator[Run]:
    """Yield the runs of attempts (a queryset); those that still run end at `until`.

    A run that ends in the future is left out, and logged.
    """
    now = clock.now_ms()
    for row in rows.values_list(*_FIELDS).iterator(chunk_size=2000):
        pk, org, team, owner, job, number, kind, cluster, pool, pool_type, amounts = row[:11]
        node, nodes, started, finished, state, reason, index = row[11:]
        is_over = State(state).is_final
        end = ms_of(finished) if is_over and finished else None if is_over else until
        if started is None or end is None:
            continue
        if end > now:
            log.error("attempt %s ends in the future, at %s, and is not billed", pk, finished)
            continue
        gpu_class = ""
        if amounts.get("gpu") and not any(name.startswith("gpu.") for name in amounts):
            gpu_class = classes.of(cluster, pool_type, nodes or (node.split(",") if node else ()))
        yield Run(
            pk,
            org,
            team,
            owner,
            job,
            number,
            cluster,
            pool or "",
            resources_of(amounts, gpu_class or "gpu"),
            ms_of(started),
            end,
            kind_named(kind).ledger_class,
            _lost_from(pk, job, index, ms_of(started), end) if reason in _INTERRUPTED else None,
        )


def _lost_from(attempt: UUID, job: UUID, index: int, start: int, end: int) -> int:
    """Return when an interrupted attempt last saved its outputs, else its start.

    Files that its end may have cut do not count: a retry does not continue from them.
    """
    saved = Event.objects.filter(
        subject_id=job, kind=_SAVED, at__gte=at_ms(start), at__lte=at_ms(end) + SAVED_LATE
    )
    times = [
        ms_of(at)
        for at, data in saved.values_list("at", "data")
        if data.get("attempt") == attempt.hex
        and data.get("index") == index
        and not data.get("is_incomplete")
    ]
    return min(max(times, default=start), end)


def running(at: int | None = None, **where: Any) -> Iterator[Run]:
    """Yield the runs of attempts that have resources now, until `at`."""
    rows = Attempt.objects.filter(
        state__gt=State.DISPATCHING, state__lt=State.SUCCEEDED, started_at__isnull=False, **where
    )
    return runs_of(rows, GpuClasses(), at or clock.now_ms())


def update_ledger() -> None:
    """Add what has happened since the last run, and compute the sums of changed days."""
    with platform_scope(_WHY):
        while _read_events():
            pass
        _accrue()
        add_up()


def rebuild() -> None:
    """Compute all lines of jobs and pools again; sizes of stored data are measured, and stay."""
    with platform_scope(_WHY), transaction.atomic():
        progress = _locked()
        # What a request promised in a pool that was deleted cannot be computed again
        gone = PoolRequest.objects.filter(pool=None).values("id")
        old = LedgerLine.objects.exclude(kind=LedgerKind.STORAGE).exclude(
            kind=LedgerKind.RESERVATION, source__in=gone
        )
        _mark(set(old.order_by().values_list("org_id", "day").distinct()))
        old.delete()
        ended = Attempt.objects.filter(state__gte=State.SUCCEEDED, started_at__isnull=False)
        _write(runs_of(ended, GpuClasses()))
        through = ms_of(progress.through) if progress.through else 0
        _write_whole_days(through)
        _write_reservations(_granted(), 0, through)
    with platform_scope(_WHY):
        add_up()


def _locked() -> Progress:
    Progress.objects.get_or_create(name=NAME)
    return Progress.objects.select_for_update().get(name=NAME)


@transaction.atomic
def _read_events() -> bool:
    """Add one batch of events; return whether more are waiting."""
    progress = _locked()
    events = list(
        Event.objects.filter(position__gt=progress.position)
        .order_by("position")
        .values_list("position", "at", "kind", "subject_id", "data")[:BATCH]
    )
    attempts = {
        UUID(data["attempt"])
        for _, _, kind, _, data in events
        if kind in _ENDS or (kind == _SAVED and data.get("attempt"))
    }
    requests = {subject for _, _, kind, subject, _ in events if kind in _POOLS}
    if attempts:
        _replace(Attempt.objects.filter(id__among=list(attempts)))
    if requests:
        rows = PoolRequest.objects.filter(id__in=requests)
        _write_reservations(rows, 0, ms_of(clock.now()))
    # Only up to the first young event: a clock that is behind dates later ones earlier
    now = clock.now()
    settled = [row[0] for row in takewhile(lambda row: abs(now - row[1]) > SETTLED, events)]
    if settled:
        progress.position = settled[-1]
        progress.save(update_fields=["position"])
    return len(events) == BATCH and len(settled) == BATCH


def _replace(rows: Any) -> None:
    """Write the lines of ended attempts instead of those that they had."""
    runs = list(runs_of(rows, GpuClasses()))
    ids = [run.attempt_id for run in runs]
    for at in range(0, len(ids), 500):
        old = LedgerLine.objects.filter(source__in=ids[at : at + 500])
        _mark(set(old.order_by().values_list("org_id", "day").distinct()))
        old.delete()
    _write(runs)
    _refresh_reservations(runs)


def _write(runs: Iterable[Run]) -> None:
    lines: list[tuple[Any, ...]] = []
    for run in runs:
        lines += run.lines()
        if len(lines) > 5000:
            _insert(lines)
            lines = []
    _insert(lines)


def _insert(lines: Sequence[tuple[Any, ...]]) -> None:
    if lines:
        insert_rows(LedgerLine, COLUMNS, lines)
        _mark({(line[1], line[11]) for line in lines})


def _mark(days: Collection[tuple[UUID, date]]) -> None:
    ChangedDay.objects.bulk_create(
        [ChangedDay(org_id=org, day=day) for org, day in sorted(days)], ignore_conflicts=True
    )


# Running attempts, reservations and stored data


def _accrue() -> None:
    """Add whole days of running attempts, reservations until now, and stored data once a day.

    Once a day, also add attempts whose events were missed.
    """
    now = clock.now()
    with transaction.atomic():
        progress = _locked()
        last = progress.through
        if last is None or last.date() < now.date():
            _write_whole_days(ms_of(now))
            _store_sizes(now.date())
            _replace(_missed(now))
        since = start_of(last.date()) if last else 0
        _write_reservations(_granted().filter(ends_at__gt=at_ms(since)), since, ms_of(now))
        progress.through = now
        progress.save(update_fields=["through"])


def _write_whole_days(until: int) -> None:
    """Write the lines of running attempts up to the start of the day of `until`."""
    midnight_ms = until - until % DAY_MS
    rows = Attempt.objects.filter(
        state__gt=State.DISPATCHING,
        state__lt=State.SUCCEEDED,
        started_at__lt=at_ms(midnight_ms),
    )
    runs = list(runs_of(rows, GpuClasses(), midnight_ms))
    for at in range(0, len(runs), 500):
        some = runs[at : at + 500]
        LedgerLine.objects.filter(source__in=[run.attempt_id for run in some]).delete()
        _write(some)


def _missed(now: Any) -> Any:
    """Return attempts that ended lately and whose lines do not reach until then, or beyond."""
    last = LedgerLine.objects.filter(source=OuterRef("id")).order_by("-end_ms").values("end_ms")[:1]
    rows = Attempt.objects.filter(
        finished_at__gte=now - LOOK_BACK, started_at__isnull=False, state__gte=State.SUCCEEDED
    ).annotate(known_until=Subquery(last))
    ends = rows.values_list("id", "finished_at", "known_until").iterator(chunk_size=2000)
    return Attempt.objects.filter(
        id__among=[pk for pk, finished, known in ends if known != ms_of(finished)]
    )


def _granted() -> Any:
    """Return granted requests; the lines of those whose pool was deleted stay as they are."""
    return PoolRequest.objects.filter(
        state__in=(PoolRequest.State.APPROVED, PoolRequest.State.ENDED), pool__isnull=False
    )


def _refresh_reservations(runs: Sequence[Run]) -> None:
    """Compute the reservations again in which these runs were."""
    in_pools = [run for run in runs if run.pool]
    if not in_pools:
        return
    rows = _granted().filter(
        team__in={run.team_id for run in in_pools}, pool__name__in={run.pool for run in in_pools}
    )
    _write_reservations(rows, min(run.start for run in in_pools), clock.now_ms())


def _write_reservations(rows: Any, since: int, until: int) -> None:
    """Write what granted requests promise and jobs do not use, from the day of `since` on.

    Requests of a team for one class of a pool share what its jobs use, so all are computed again.
    """
    since = start_of(day_of(since))
    keys = set(rows.order_by().values_list("team_id", "pool_id", "gpu_type"))
    if not keys:
        return
    groups: dict[tuple[UUID, UUID | None, str], list[PoolRequest]] = defaultdict(list)
    together = _granted().filter(team__in={team for team, _, _ in keys}).select_related("pool")
    for row in together.order_by("starts_at", "id"):
        if (key := (row.team_id, row.pool_id, row.gpu_type)) in keys:
            groups[key].append(row)
    for group in groups.values():
        _write_group(group, since, until)


def _write_group(group: Sequence[PoolRequest], since: int, until: int) -> None:
    old = LedgerLine.objects.filter(
        kind=LedgerKind.RESERVATION, source__in=[row.id for row in group], day__gte=day_of(since)
    )
    _mark(set(old.order_by().values_list("org_id", "day").distinct()))
    old.delete()
    spans = [
        (max(ms_of(row.starts_at), since), min(ms_of(row.ends_at), until), row) for row in group
    ]
    spans = [(start, end, row) for start, end, row in spans if start < end]
    if not spans:
        return
    used = _used_in(group[0], min(s for s, _, _ in spans), max(e for _, e, _ in spans))
    lines = []
    for n, (start, end, row) in enumerate(spans):
        earlier = [(s, e, r.gpus) for s, e, r in spans[:n]]
        for day, a, b in by_day(start, end):
            lines.append(
                (
                    uuid7(),
                    row.org_id,
                    row.team_id,
                    LedgerKind.RESERVATION.value,
                    row.id,
                    None,
                    None,
                    None,
                    row.pool.cluster_id if row.pool else None,
                    row.pool.name if row.pool else "",
                    f"gpu.{row.gpu_type}",
                    day,
                    a,
                    b,
                    row.gpus,
                    unused(row.gpus, earlier, used, a, b),
                )
            )
    _insert(lines)


def _used_in(row: PoolRequest, since: int, until: int) -> list[tuple[int, int, int]]:
    """Return the spans in which jobs of the team had GPUs of the request's class in its pool."""
    if row.pool is None:
        return []
    resource = f"gpu.{row.gpu_type}"
    where = {"team_id": row.team_id, "pool": row.pool.name, "resource": resource}
    lines = LedgerLine.objects.filter(
        job_id__isnull=False,  # of any kind
        org_id=row.org_id,
        day__gte=day_of(since),
        day__lte=day_of(until),
        **where,
    )
    active = {
        run.attempt_id: run
        for run in running(until, job__team_id=row.team_id, job__pool_id=row.pool_id)
    }
    spans = [
        (a, b, n)
        for source, a, b, n in lines.values_list("source", "start_ms", "end_ms", "units")
        if source not in active
    ]
    spans += [
        (run.start, run.end, run.resources[resource])
        for run in active.values()
        if resource in run.resources
    ]
    return spans


def unused(
    gpus: int,
    earlier: Sequence[tuple[int, int, int]],
    used: Sequence[tuple[int, int, int]],
    start: int,
    end: int,
) -> int:
    """Return the GPU-milliseconds from `start` to `end` of `gpus` that were promised but not used.

    `used` are spans (start, end, GPUs) of jobs, `earlier` those of requests that jobs fill first.
    """
    steps: dict[int, list[int]] = defaultdict(lambda: [0, 0])
    for kind, spans in ((0, used), (1, earlier)):
        for a, b, n in spans:
            a, b = max(a, start), min(b, end)
            if a < b:
                steps[a][kind] += n
                steps[b][kind] -= n
    total, at, jobs, promised = 0, start, 0, 0
    for moment in [*sorted(steps), end]:
        mine = min(max(jobs - promised, 0), gpus)
        total += (gpus - mine) * (moment - at)
        at = moment
        if moment in steps:
            jobs, promised = jobs + steps[moment][0], promised + steps[moment][1]
    return total


def _store_sizes(day: date) -> None:
    """Bill what teams have stored now for this whole day; once a day, at its first run."""
    rows = Quota.objects.filter(scope=TEAM, resource=STORAGE, used__gt=0)
    start = start_of(day)
    known = set(
        LedgerLine.objects.filter(kind=LedgerKind.STORAGE, day=day).values_list("source", flat=True)
    )
    lines = []
    for org, team, used in rows.values_list("org_id", "subject_id", "used"):
        if team not in known:
            size = -(-used // MIB)
            lines.append(
                (
                    uuid7(),
                    org,
                    team,
                    LedgerKind.STORAGE.value,
                    team,
                    None,
                    None,
                    None,
                    None,
                    "",
                    "storage",
                    day,
                    start,
                    start + DAY_MS,
                    size,
                    size * DAY_MS,
                )
            )
    _insert(lines)


# Sums


def add_up() -> None:
    """Compute the sums of the days whose lines have changed."""
    for org, day in ChangedDay.objects.order_by("day").values_list("org_id", "day"):
        _add_up_day(org, day)


_GROUP = ("team_id", "kind", "user_id", "cluster_id", "pool", "resource")


@transaction.atomic
def _add_up_day(org: UUID, day: date) -> None:
    _locked()
    ChangedDay.objects.filter(org_id=org, day=day).delete()
    UsageDay.objects.filter(org_id=org, day=day).delete()
    sums = (
        LedgerLine.objects.filter(org_id=org, day=day)
        .order_by()
        .values_list(*_GROUP)
        .annotate(n=Sum("quantity"))
    )
    rows = [(uuid7(), org, day, *values[:-1], int(values[-1])) for values in sums if values[-1]]
    if rows:
        insert_rows(UsageDay, ("id", "org_id", "day", *_GROUP, "quantity"), rows)


def behind() -> tuple[int, Any]:
    """Return how many events are waiting, and the time through which use is in the ledger."""
    progress = Progress.objects.filter(name=NAME).first()
    last = Event.objects.aggregate(n=Max("position"))["n"] or 0
    return (last - progress.position, progress.through) if progress else (last, None)
