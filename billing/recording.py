"""Record where GPU time went by hour and day, the queue, and statistics of jobs.

Each hour, and each day, is computed whole and replaces what was there, so a run that was killed, or
two at a time, change nothing. Parts are integers of GPU-milliseconds that add up to the capacity.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import datetime, timedelta
from heapq import nlargest
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import BigIntegerField, Min, Sum
from django.db.models.functions import Cast

from billing import statistics
from billing.amounts import HOUR_MS, at_ms, midnight, ms_of
from billing.models import AttemptGpuTime, FleetGpuTime, Progress, TeamGpuTime
from billing.services.ledger import GpuClasses, unused
from clusters.health.selectors import UNHEALTHY
from clusters.models import Cluster, NodeHealth, Pool, PoolRequest
from clusters.node_capacity import NodeUsage, node_usage_in
from clusters.pools import is_in
from jobs.models import Attempt
from jobs.utilization.recording import (
    IDLE_BELOW,
    PERIOD,
    SETTLED,
    Span,
    batches,
    mean_by_period,
    spans_in,
    sums_of,
)
from portal import series
from portal.core import clock
from schedulers.shares import share_of
from schedulers.states import State, Wait
from workspaces.tenancy.scope import platform_scope

NAME = "hours"
BACKFILL = timedelta(days=7)  # at the first run
HOURS_KEPT = timedelta(days=15)
DAYS_KEPT = timedelta(days=400)
ATTEMPTS_KEPT = timedelta(days=100)
ATTEMPT_HOURS_KEPT = timedelta(days=3)
WORST = 20  # attempts of a team and day
TOP = 100  # attempts of an organization in an hour or a day
PARTS = ("used", "idle", "underused", "unmeasured")
GPU_POWER = "gpu.power"  # series of nodes, in watts
# Cluster, pool ("" for none), and class
Place = tuple[UUID, str, str]


def record_all() -> None:
    """Record the hours since the last run, and today's statistics."""
    with platform_scope("usage is recorded for every organization"):
        record_hours()
        statistics.record_queue()
        statistics.record_days()
        _forget()


def record_hours(since: datetime | None = None) -> None:
    """Record all hours from `since`, or from the last one that was recorded, until now."""
    end = clock.now_ms() - SETTLED
    end -= end % PERIOD
    start = ms_of(since) if since else _next_hour()
    start -= start % HOUR_MS
    inventory = Inventory.now()
    changed = set()
    while start < end:
        record_hour(start, min(start + HOUR_MS, end), inventory)
        changed.add(at_ms(start).date())
        start += HOUR_MS
    for day in sorted(changed):
        _add_up_day(midnight(day))
    if changed:
        Progress.objects.update_or_create(name=NAME, defaults={"through": at_ms(end)})


def recorded_until() -> int:
    """Return the end of the last period that is in the rollups, in Unix milliseconds."""
    through = Progress.objects.filter(name=NAME).values_list("through", flat=True).first()
    return ms_of(through) if through else clock.now_ms()


def _next_hour() -> int:
    """Return the hour before the last one: that may be incomplete, and samples arrive late."""
    row = Progress.objects.filter(name=NAME).first()
    if row and row.through:
        return (ms_of(row.through) - 1) // HOUR_MS * HOUR_MS - HOUR_MS
    first: datetime | None = Attempt.objects.aggregate(at=Min("started_at"))["at"]
    return ms_of(max(first or clock.now(), clock.now() - BACKFILL))


@dataclass
class Supply:
    """GPUs of a class in a pool, and those that are free but unusable."""

    gpus: int = 0
    unusable: int = 0
    # GPUs of unhealthy nodes, and since when (Unix ms)
    unhealthy: list[tuple[int, int]] = field(default_factory=list)


@dataclass
class Power:
    """Energy of measured GPUs in joules, for how long in milliseconds, and the power at the end."""

    energy: float = 0.0
    metered: int = 0
    watts: float | None = None


@dataclass
class Inventory:
    """What there is, with each node in one pool: the oldest whose rule it matches."""

    supply: dict[Place, Supply] = field(default_factory=lambda: defaultdict(Supply))
    # (cluster, node) -> pool, class
    nodes: dict[tuple[UUID, str], tuple[str, str]] = field(default_factory=dict)
    # Owner of a node's series -> place; that of the first class if a node has several
    owners: dict[str, Place] = field(default_factory=dict)

    @classmethod
    def now(cls) -> Inventory:
        found = cls()
        pools: dict[UUID, list[Pool]] = defaultdict(list)
        for pool in Pool.objects.order_by("created_at", "id"):
            pools[pool.cluster_id].append(pool)
        scattered = set(
            Attempt.objects.filter(state=State.QUEUED, wait=Wait.SCATTERED)
            .order_by()
            .values_list("cluster_id", flat=True)
            .distinct()
        )
        unhealthy = dict(
            NodeHealth.objects.filter(state__in=UNHEALTHY).values_list("node_id", "since")
        )
        machines = node_usage_in(Cluster.objects.filter(is_enabled=True))
        for cluster, some in machines.items():
            for machine in some:
                found._add(
                    cluster,
                    machine,
                    pools[cluster],
                    is_scattered=cluster in scattered,
                    unhealthy_since=unhealthy.get(machine.node.id),
                )
        return found

    def _add(
        self,
        cluster: UUID,
        machine: NodeUsage,
        pools: Sequence[Pool],
        *,
        is_scattered: bool,
        unhealthy_since: datetime | None,
    ) -> None:
        gpus = {kind: n for kind, n in machine.gpus.items() if not share_of(kind)}
        if not gpus:
            return
        pool = next((p.name for p in pools if is_in(p, machine.node, gpus)), "")
        names = sorted(gpus)
        self.nodes[cluster, machine.node.name] = pool, f"gpu.{names[0]}" if len(gpus) == 1 else ""
        self.owners[f"node:{machine.node.id.hex}"] = cluster, pool, f"gpu.{names[0]}"
        left = machine.used("gpu")
        for kind in names:
            used = min(left, gpus[kind])
            left -= used
            supply = self.supply[cluster, pool, f"gpu.{kind}"]
            supply.gpus += gpus[kind]
            if _is_unusable(machine, is_scattered):
                supply.unusable += gpus[kind] - used
            if unhealthy_since:
                supply.unhealthy.append((ms_of(unhealthy_since), gpus[kind]))


def _is_unusable(machine: NodeUsage, is_scattered: bool) -> bool:
    """Return whether the free GPUs of a node cannot be used.

    It is down or drained; it has no core or no GiB of memory left; or jobs wait because free GPUs are
    scattered, and the node is partly used.
    """
    if machine.node.state != "ready":
        return True
    free = machine.capacity.free
    if free.get("cpu", 0) < 1000 or free.get("memory", 0) < 1 << 30:
        return True
    return is_scattered and machine.used("gpu") > 0


@dataclass
class Parts:
    """Parts of the GPU time of a team or an attempt in an hour, in GPU-milliseconds."""

    used: int = 0
    idle: int = 0
    underused: int = 0
    unmeasured: int = 0
    reserved: int = 0

    @property
    def allocated(self) -> int:
        return self.used + self.idle + self.underused + self.unmeasured

    def add(self, other: Parts) -> None:
        for one in fields(self):
            setattr(self, one.name, getattr(self, one.name) + getattr(other, one.name))


def parts_of(span: Span, by_gpu: Mapping[str, Any], start: int, end: int) -> Parts:
    """Return how the GPUs of an attempt were used from `start` to `end`.

    A GPU below 10% in five minutes is idle; what other GPUs do not use is underused. GPUs without
    samples are unmeasured.
    """
    found = Parts()
    means = [mean_by_period({gpu: sums}, PERIOD) for gpu, sums in by_gpu.items()]
    for period, overlap in span.overlaps(start, end):
        some = [one[period] for one in means if period in one]
        allocated = overlap * span.gpus
        measured = allocated * min(len(some), span.gpus) // span.gpus
        found.unmeasured += allocated - measured
        if not some:
            continue
        use = min(sum(some) / len(some), 1.0)
        unused_share = sum(1 - u for u in some if u < IDLE_BELOW) / len(some)
        used = round(measured * use)
        idle = min(round(measured * unused_share), measured - used)
        found.used += used
        found.idle += idle
        found.underused += measured - used - idle
    return found


def record_hour(start: int, end: int, inventory: Inventory) -> None:
    """Store an hour, or its part until `end`, in one transaction. Times are Unix milliseconds."""
    spans = spans_in(start, end)
    sums = sums_of(spans, start, end)
    about = _about([span.attempt_id for span in spans], inventory)
    teams: dict[tuple[UUID, UUID, Place], Parts] = defaultdict(Parts)
    attempts = []
    for span in spans:
        job_id, place = about[span.attempt_id]
        parts = parts_of(span, sums.get(span.attempt_id, {}), start, end)
        if parts.allocated:
            teams[span.org_id, span.team_id, place].add(parts)
            attempts.append((span, job_id, place, parts))
    fleet = _fleet(teams, inventory, start, end)
    for place, power in power_of(inventory.owners, start, end).items():
        fleet[place] |= {
            "energy": round(power.energy),
            "metered": power.metered,
            "watts": power.watts,
        }
    hour = at_ms(start)
    with transaction.atomic():
        for model in (FleetGpuTime, TeamGpuTime, AttemptGpuTime):
            model.objects.filter(is_day=False, hour=hour).delete()  # type: ignore[attr-defined]
        FleetGpuTime.objects.bulk_create(
            fleet_row(hour, place, one) for place, one in fleet.items()
        )
        TeamGpuTime.objects.bulk_create(
            [
                TeamGpuTime(org_id=org, team_id=team, hour=hour, **_place(place), **vars(parts))
                for (org, team, place), parts in teams.items()
            ],
            batch_size=1000,
        )
        rows = [
            AttemptGpuTime(
                org_id=span.org_id,
                team_id=span.team_id,
                attempt_id=span.attempt_id,
                job_id=job_id,
                hour=hour,
                gpus=span.gpus,
                **_place(place),
                **{name: getattr(parts, name) for name in PARTS},
            )
            for span, job_id, place, parts in attempts
        ]
        mark_top(rows)
        AttemptGpuTime.objects.bulk_create(rows, batch_size=1000)


def mark_top(rows: Iterable[AttemptGpuTime]) -> None:
    """Mark the attempts of each organization that wasted most in an hour or a day."""
    by_org: dict[UUID, list[AttemptGpuTime]] = defaultdict(list)
    for row in rows:
        by_org[row.org_id].append(row)
    for some in by_org.values():
        for row in nlargest(TOP, some, key=lambda row: row.idle + row.underused):
            row.is_top = bool(row.idle + row.underused)


def power_of(owners: Mapping[str, Place], start: int, end: int) -> dict[Place, Power]:
    """Return the power of the GPUs of nodes by place, from their series.

    A GPU that was measured in a period of five minutes has had the mean of its values in all of it.
    """
    found: dict[Place, Power] = defaultdict(Power)
    for some in batches(owners):
        read = series.sums_by_period(some, GPU_POWER, start_ms=start, end_ms=end, period_ms=PERIOD)
        for owner, by_gpu in read.items():
            power = found[owners[owner]]
            for sums in by_gpu.values():
                for period, (total, count) in sums.items():
                    watts = total / count
                    power.energy += watts * PERIOD / 1000
                    power.metered += PERIOD
                    if period == end - PERIOD:
                        power.watts = (power.watts or 0.0) + watts
    return found


def fleet_row(hour: datetime, place: Place, one: dict[str, Any]) -> FleetGpuTime:
    return FleetGpuTime(hour=hour, **_place(place), **one)


def _place(place: Place) -> dict[str, Any]:
    return dict(zip(("cluster_id", "pool", "gpu_class"), place, strict=True))


def _about(ids: Sequence[UUID], inventory: Inventory) -> dict[UUID, tuple[UUID, Place]]:
    """Return the job of each attempt, and the pool and class of its first node."""
    classes = GpuClasses()
    rows = Attempt.objects.filter(id__among=list(ids)).values_list(
        "id", "job_id", "cluster_id", "job__pool__name", "job__resources", "node", "nodes"
    )
    found = {}
    for pk, job, cluster, pool, amounts, node, nodes in rows:
        names = nodes or (node.split(",") if node else [""])
        known = inventory.nodes.get((cluster, names[0]), (pool or "", ""))
        asked = next((name for name in sorted(amounts) if name.startswith("gpu.")), "")
        gpu_class = known[1] or asked or classes.of(cluster, None, names)
        found[pk] = job, (cluster, known[0], gpu_class)
    return found


def _fleet(
    teams: dict[tuple[UUID, UUID, Place], Parts], inventory: Inventory, start: int, end: int
) -> dict[Place, dict[str, Any]]:
    """Return the parts of each place; adds `reserved` to those of teams.

    More may be promised or allocated than there is, as nodes go away: capacity is then what is
    allocated, and promises count as far as there is room.
    """
    allocated: dict[Place, Parts] = defaultdict(Parts)
    for (_, _, place), parts in teams.items():
        allocated[place].add(parts)
    promises = list(_promises(start, end))
    places = {*allocated, *inventory.supply}
    found = {}
    for place in sorted(places, key=str):
        supply, parts = inventory.supply.get(place, Supply()), allocated[place]
        capacity = max(supply.gpus * (end - start), parts.allocated)
        left = capacity - parts.allocated
        for org, team, wanted in promises:
            if wanted[0] == place:
                mine = min(left, wanted[1])
                left -= mine
                parts.reserved += mine
                if mine:
                    teams[org, team, place].reserved += mine
        unusable = min(left, supply.unusable * (end - start))
        found[place] = {
            **vars(parts),
            "capacity": capacity,
            "unusable": unusable,
            "free": left - unusable,
            "unhealthy": sum(n * max(end - max(since, start), 0) for since, n in supply.unhealthy),
        }
    return found


def _promises(start: int, end: int) -> Iterator[tuple[UUID, UUID, tuple[Place, int]]]:
    """Yield what granted requests promise in this time and the jobs of their teams do not use."""
    rows = PoolRequest.objects.filter(
        state__in=(PoolRequest.State.APPROVED, PoolRequest.State.ENDED),
        pool__isnull=False,
        starts_at__lt=at_ms(end),
        ends_at__gt=at_ms(start),
    ).select_related("pool")
    groups: dict[tuple[UUID, UUID, str], list[PoolRequest]] = defaultdict(list)
    for row in rows.order_by("starts_at", "id"):
        assert row.pool_id
        groups[row.team_id, row.pool_id, row.gpu_type].append(row)
    for (team, pool, kind), some in groups.items():
        used = _used_spans(team, pool, kind, start, end)
        spans = [
            (max(ms_of(row.starts_at), start), min(ms_of(row.ends_at), end), row.gpus)
            for row in some
        ]
        n = sum(
            unused(gpus, spans[:at], used, a, b) for at, (a, b, gpus) in enumerate(spans) if a < b
        )
        first = some[0]
        assert first.pool
        yield first.org_id, team, ((first.pool.cluster_id, first.pool.name, f"gpu.{kind}"), n)


def _used_spans(
    team: UUID, pool: UUID, kind: str, start: int, end: int
) -> list[tuple[int, int, int]]:
    rows = Attempt.objects.filter(
        job__team=team, job__pool=pool, started_at__lt=at_ms(end), state__gt=State.DISPATCHING
    ).exclude(finished_at__lte=at_ms(start))
    return [
        (
            ms_of(begin),
            ms_of(until) if until else end,
            int(amounts.get(f"gpu.{kind}") or amounts.get("gpu", 0)),
        )
        for begin, until, amounts in rows.values_list("started_at", "finished_at", "job__resources")
    ]


# Days


_SUMS: tuple[tuple[Any, tuple[str, ...], tuple[str, ...]], ...] = (
    (
        FleetGpuTime,
        ("cluster_id", "pool", "gpu_class"),
        (*PARTS, "reserved", "capacity", "unusable", "free", "unhealthy", "energy", "metered"),
    ),
    (
        TeamGpuTime,
        ("org_id", "team_id", "cluster_id", "pool", "gpu_class"),
        (*PARTS, "reserved"),
    ),
    (
        AttemptGpuTime,
        (
            "org_id",
            "team_id",
            "attempt_id",
            "job_id",
            "cluster_id",
            "pool",
            "gpu_class",
            "gpus",
        ),
        PARTS,
    ),
)


@transaction.atomic
def _add_up_day(day: datetime) -> None:
    """Compute the sums of a day from its hours."""
    for model, keys, amounts in _SUMS:
        hours = model.objects.filter(
            is_day=False, hour__gte=day, hour__lt=day + timedelta(days=1)
        ).order_by()
        sums = hours.values(*keys).annotate(
            **{f"{name}_sum": Cast(Sum(name), BigIntegerField()) for name in amounts}
        )
        found = sums.iterator(chunk_size=2000)
        rows = [
            model(
                is_day=True,
                hour=day,
                **{name: row[name] for name in keys},
                **{name: row[f"{name}_sum"] for name in amounts},
            )
            for row in (_worst(found) if model is AttemptGpuTime else found)
        ]
        if model is AttemptGpuTime:
            mark_top(rows)
        model.objects.filter(is_day=True, hour=day).delete()
        model.objects.bulk_create(rows, batch_size=1000)


def _worst(rows: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield the attempts of each team that wasted most: a day may have 100,000."""
    by_team: dict[UUID, list[dict[str, Any]]] = defaultdict(list)
    for row in rows:
        if row["idle_sum"] + row["underused_sum"]:
            by_team[row["team_id"]].append(row)
    for some in by_team.values():
        yield from nlargest(WORST, some, key=lambda row: row["idle_sum"] + row["underused_sum"])


def _forget() -> None:
    now = clock.now()
    for model, _, _ in _SUMS:
        is_attempt = model is AttemptGpuTime
        hours = ATTEMPT_HOURS_KEPT if is_attempt else HOURS_KEPT
        days = ATTEMPTS_KEPT if is_attempt else DAYS_KEPT
        model.objects.filter(is_day=False, hour__lt=now - hours).delete()
        model.objects.filter(is_day=True, hour__lt=now - days).delete()
