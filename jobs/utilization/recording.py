"""Record GPU utilization: of running attempts and nodes now, and of teams in each period.

A task calls `record_utilization` every minute. Periods are five minutes long. Each period is
computed from the series and stored whole, so a run that was killed, or two at a time, do no harm.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import Any, TypeVar
from uuid import UUID

from django.db import transaction
from django.db.models import Count, Q

from clusters.models import Gpu, Node
from jobs.models import Attempt, AttemptUtilization, GpuCapacity, GpuTime, NodeUtilization
from jobs.models.attempt import placed_on
from portal import series
from portal.core import clock
from schedulers.states import State
from workspaces.tenancy.scope import platform_scope

GPU_UTILIZATION = "gpu.utilization"  # series of node agents: 0 to 1, per GPU
MINUTE = 60_000
PERIOD = 5 * MINUTE
SETTLED = MINUTE  # a period is recorded this long after its end, once the agents have reported
IDLE_BELOW = 0.1
IDLE_FOR = 30 * MINUTE
RECENT = 72  # periods of `AttemptUtilization.recent`
LOOK_BACK = RECENT * PERIOD
KEPT = timedelta(days=90)
BACKFILL = timedelta(days=7)  # at the first run
SLICE = 6 * 3_600_000
AT_ONCE = 250  # owners of series read by one statement

T = TypeVar("T")
Sums = dict[int, tuple[float, int]]
ByGpu = dict[str, Sums]


def record_utilization(since: datetime | None = None) -> None:
    """Record what has been reported since the last run, or all periods since a time."""
    with platform_scope("utilization is recorded for all organizations"):
        if since:
            AttemptUtilization.objects.filter(recorded_until__gt=_ms(since)).delete()
        _record_nodes()
        _record_attempts()
        _record_teams(since)
        _forget()


# Teams


def _record_teams(since: datetime | None) -> None:
    start = _ms(since) if since else _next_period()
    start -= start % PERIOD
    end = clock.now_ms() - SETTLED
    end -= end % PERIOD
    while start < end:
        until = min(start + SLICE, end)
        _record_slice(start, until)
        start = until


def _next_period() -> int:
    last = GpuCapacity.objects.order_by("-start").values_list("start", flat=True).first()
    return _ms(last) + PERIOD if last else _ms(clock.now() - BACKFILL)


def _record_slice(start: int, end: int) -> None:
    """Store the periods from `start` to `end` in one transaction."""
    spans = spans_in(start, end)
    sums = sums_of(spans, start, end)
    times: dict[tuple[UUID, UUID, int], list[int]] = defaultdict(lambda: [0, 0, 0])
    for span in spans:
        uses = mean_by_period(sums.get(span.attempt_id, {}), PERIOD)
        for period, overlap in span.overlaps(start, end):
            cell = times[span.org_id, span.team_id, period]
            cell[0] += overlap * span.gpus
            if (use := uses.get(period)) is not None:
                cell[1] += overlap * span.gpus
                cell[2] += round(overlap * span.gpus * use)
    rows = [
        GpuTime(org_id=org, team_id=team, start=_at(at), allocated=a, measured=m, used=u)
        for (org, team, at), (a, m, u) in sorted(times.items())
    ]
    gpus = _gpus_of_clusters()
    capacity = [
        GpuCapacity(start=_at(at), gpus=sum(n for since, n in gpus if since < _at(at + PERIOD)))
        for at in range(start, end, PERIOD)
    ]
    with transaction.atomic():
        GpuTime.objects.bulk_create(
            rows,
            batch_size=1000,
            update_conflicts=True,
            unique_fields=["org", "start", "team"],
            update_fields=["allocated", "measured", "used"],
        )
        GpuCapacity.objects.bulk_create(
            capacity, update_conflicts=True, unique_fields=["start"], update_fields=["gpus"]
        )


def _gpus_of_clusters() -> list[tuple[datetime, int]]:
    """Return when each cluster was created and its GPUs; nothing is known of nodes that have gone."""
    found = Gpu.objects.filter(
        node__is_gone=False, node__cluster__is_enabled=True, shares=None
    ).values_list("node__cluster__created_at")
    return list(found.annotate(Count("id")).order_by())


@dataclass(frozen=True)
class Span:
    """The time in which an attempt had GPUs. Times are in Unix milliseconds."""

    attempt_id: UUID
    org_id: UUID
    team_id: UUID
    cluster_id: UUID
    gpus: int
    nodes: tuple[str, ...]
    start: int
    end: int | None

    def overlaps(self, start: int, end: int) -> Iterator[tuple[int, int]]:
        """Yield each period between `start` and `end` with the milliseconds of it in the span."""
        first, last = max(start, self.start), min(end, self.end or end)
        for period in range(first - first % PERIOD, last, PERIOD):
            yield period, min(last, period + PERIOD) - max(first, period)


def spans_in(start: int, end: int, *, is_active: bool = False) -> list[Span]:
    """Return the spans of attempts with GPUs that overlap this time."""
    active = Q(state__gt=State.DISPATCHING, state__lt=State.SUCCEEDED)
    rows = Attempt.objects.filter(
        active if is_active else active | Q(finished_at__gt=_at(start)),
        started_at__lt=_at(end),
        job__resources__gpu__gt=0,
    ).values_list(
        *("id", "org_id", "job__team_id", "cluster_id", "job__resources__gpu"),
        *("node", "nodes", "started_at", "finished_at"),
    )
    return [
        Span(
            pk,
            org,
            team,
            cluster,
            int(gpus),
            tuple(nodes or node.split(",")),
            _ms(begin),
            _ms(until) if until else None,
        )
        for pk, org, team, cluster, gpus, node, nodes, begin, until in rows
    ]


# Running attempts


def _record_attempts() -> None:
    now = clock.now_ms()
    spans = spans_in(now, now, is_active=True)
    known = {
        row.attempt_id: row
        for row in AttemptUtilization.objects.filter(attempt__in=[s.attempt_id for s in spans])
    }
    fresh = [span for span in spans if span.attempt_id not in known]
    old = [span for span in spans if span.attempt_id in known]
    since = min((row.recorded_until for row in known.values()), default=now)
    since = max(min(since, now - PERIOD), now - LOOK_BACK)
    sums = sums_of(fresh, now - LOOK_BACK, now) | sums_of(old, since, now)
    jobs = dict(
        Attempt.objects.filter(id__in=[s.attempt_id for s in spans]).values_list("id", "job_id")
    )
    for some in batches(spans):
        rows = []
        for span in some:
            row = known.get(span.attempt_id) or AttemptUtilization(
                attempt_id=span.attempt_id,
                job_id=jobs[span.attempt_id],
                org_id=span.org_id,
                recorded_until=max(span.start, now - LOOK_BACK) // PERIOD * PERIOD,
            )
            _update(row, sums.get(span.attempt_id, {}), now)
            rows.append(row)
        AttemptUtilization.objects.bulk_create(
            rows,
            update_conflicts=True,
            unique_fields=["attempt"],
            update_fields=["at", "utilization", "gpus", "recent", "recorded_until", "idle_since"],
        )


def _update(row: AttemptUtilization, sums: ByGpu, now: int) -> None:
    """Add the periods that have ended, and the means of the last five minutes."""
    by_gpu = {gpu: mean_by_period({gpu: some}, PERIOD) for gpu, some in sums.items()}
    idle = {gpu: known.get("idle_since") for gpu, known in row.gpus.items()}
    overall = mean_by_period(sums, PERIOD)
    while row.recorded_until + PERIOD <= now - SETTLED:
        period = row.recorded_until
        row.recent = [*row.recent, _rounded(overall.get(period))][-RECENT:]
        for gpu in by_gpu.keys() | idle.keys():
            use = by_gpu.get(gpu, {}).get(period)
            # Unknown is not idle.
            is_idle = use is not None and use < IDLE_BELOW
            idle[gpu] = (idle.get(gpu) or period) if is_idle else None
        row.recorded_until += PERIOD
    means = {gpu: _recent_mean({gpu: some}, now) for gpu, some in sums.items()}
    row.gpus = {
        gpu: {"utilization": _rounded(means.get(gpu)), "idle_since": idle.get(gpu)}
        for gpu in sorted(idle.keys() | means.keys())
    }
    row.at, row.utilization = _at(now), _rounded(_recent_mean(sums, now))
    since = [gpu["idle_since"] for gpu in row.gpus.values() if is_idle_gpu(gpu, now)]
    row.idle_since = _at(min(since)) if since else None


def sums_of_running(
    attempts: Collection[UUID], start: int, end: int, name: str
) -> dict[UUID, ByGpu]:
    """Return the sums of a metric by minute for each GPU of running attempts (Unix ms)."""
    spans = [span for span in spans_in(end, end, is_active=True) if span.attempt_id in attempts]
    found = sums_of(spans, start, end, name)
    rest = {span.attempt_id for span in spans} - found.keys()
    return found | _sums_of_placements(rest, start, end, name)


def _sums_of_placements(
    attempts: Collection[UUID], start: int, end: int, name: str
) -> dict[UUID, ByGpu]:
    """Return the sums of the GPUs that the portal has assigned to attempts."""
    placed = [
        (pk, cluster, part["node"], {str(index) for index in part["gpus"]})
        for pk, cluster, placement in Attempt.objects.filter(
            id__in=list(attempts), placement__isnull=False
        ).values_list("id", "cluster_id", "placement")
        for part in placed_on(placement)
    ]
    nodes = {
        (cluster, host): f"node:{pk.hex}"
        for cluster, host, pk in Node.objects.filter(
            name__in={host for _, _, host, _ in placed}
        ).values_list("cluster_id", "name", "id")
    }
    sums = dict(_read(set(nodes.values()), start, end, name))
    found: dict[UUID, ByGpu] = defaultdict(dict)
    for pk, cluster, host, gpus in placed:
        by_gpu = sums.get(nodes.get((cluster, host), ""), {})
        own = {labels: one for labels, one in by_gpu.items() if _gpu_of(labels) in gpus}
        if found[pk]:  # GPUs of other nodes have the same indexes
            own = {json.dumps({**json.loads(labels), "node": host}): own[labels] for labels in own}
        found[pk] = {**found[pk], **own}
    return {pk: sums for pk, sums in found.items() if sums}


def _gpu_of(labels: str) -> str | None:
    """Return the index of a whole GPU, by the labels of its series."""
    named = json.loads(labels)
    return None if "mig" in named else named.get("gpu")


def is_idle_gpu(gpu: Mapping[str, Any], now: int) -> bool:
    """Return whether an entry of `AttemptUtilization.gpus` has been below 10% for 30 minutes."""
    since, use = gpu["idle_since"], gpu["utilization"]
    return since is not None and now - since >= IDLE_FOR and use is not None and use < IDLE_BELOW


def sums_of(
    spans: Sequence[Span], start: int, end: int, name: str = GPU_UTILIZATION
) -> dict[UUID, ByGpu]:
    """Return the sums of each attempt's GPUs by minute.

    For clusters whose agents do not see jobs, use the GPUs of the nodes that the attempt has alone.
    """
    found: dict[UUID, ByGpu] = {}
    owners = {f"attempt:{span.attempt_id.hex}": span.attempt_id for span in spans}
    for owner, by_gpu in _read(owners, start, end, name):
        found[owners[owner]] = by_gpu
    rest = [s for s in spans if s.attempt_id not in found]
    return found | _sums_of_whole_nodes(rest, start, end, name)


def _sums_of_whole_nodes(
    spans: Sequence[Span], start: int, end: int, name: str
) -> dict[UUID, ByGpu]:
    hosts = {host for span in spans for host in span.nodes if host}
    if not hosts:
        return {}
    nodes = {
        (cluster, host): (pk, gpus)
        for cluster, host, pk, gpus in Node.objects.filter(name__in=hosts)
        .annotate(n=Count("gpus"))
        .values_list("cluster_id", "name", "id", "n")
    }
    whole: dict[UUID, list[tuple[str, str]]] = {}
    for span in spans:
        own = [(host, nodes.get((span.cluster_id, host))) for host in span.nodes]
        if all(node for _, node in own) and sum(node[1] for _, node in own if node) == span.gpus:
            whole[span.attempt_id] = [(host, f"node:{node[0].hex}") for host, node in own if node]
    owners = {owner for some in whole.values() for _, owner in some}
    sums = dict(_read(owners, start, end, name))
    return {
        pk: {
            f"{host} {gpu}": one for host, owner in some for gpu, one in sums.get(owner, {}).items()
        }
        for pk, some in whole.items()
    }


def _read(
    owners: Iterable[str], start: int, end: int, name: str = GPU_UTILIZATION
) -> Iterator[tuple[str, ByGpu]]:
    for some in batches(owners):
        yield from series.sums_by_period(
            some, name, start_ms=start, end_ms=end, period_ms=MINUTE
        ).items()


def batches(items: Iterable[T]) -> Iterator[list[T]]:
    """Yield `AT_ONCE` items at a time."""
    rest = iter(items)
    while some := list(islice(rest, AT_ONCE)):
        yield some


def mean_by_period(by_gpu: ByGpu, period_ms: int) -> dict[int, float]:
    """Return the mean over GPUs, each of which counts the same, by period."""
    values: dict[int, list[float]] = defaultdict(list)
    for sums in by_gpu.values():
        coarse: dict[int, list[float]] = defaultdict(lambda: [0.0, 0.0])
        for minute, (total, count) in sums.items():
            cell = coarse[minute - minute % period_ms]
            cell[0], cell[1] = cell[0] + total, cell[1] + count
        for period, (added, points) in coarse.items():
            values[period].append(added / points)
    return {period: sum(some) / len(some) for period, some in values.items()}


def _recent_mean(by_gpu: ByGpu, now: int) -> float | None:
    means = []
    for sums in by_gpu.values():
        some = [one for minute, one in sums.items() if minute >= now - PERIOD]
        if some:
            means.append(sum(total for total, _ in some) / sum(count for _, count in some))
    return sum(means) / len(means) if means else None


# Nodes


def _record_nodes() -> None:
    now = clock.now_ms()
    nodes = Node.objects.filter(is_gone=False, gpus__isnull=False).distinct()
    owners = {f"node:{pk.hex}": pk for pk in nodes.values_list("id", flat=True)}
    for some in batches(owners):
        rows = [
            NodeUtilization(node_id=owners[owner], at=_at(now), gpus=_by_index(by_gpu, now))
            for owner, by_gpu in _read(some, now - PERIOD, now)
        ]
        NodeUtilization.objects.bulk_create(
            rows, update_conflicts=True, unique_fields=["node"], update_fields=["at", "gpus"]
        )


def _by_index(by_gpu: ByGpu, now: int) -> dict[str, float]:
    found = {}
    for labels, sums in by_gpu.items():
        named = json.loads(labels)
        # The sums begin with a whole minute, part of which is too old: then nothing is known.
        mean = _recent_mean({labels: sums}, now)
        if "gpu" in named and "mig" not in named and mean is not None:
            found[named["gpu"]] = round(mean, 3)
    return found


def _forget() -> None:
    """Delete old periods, and attempts that have ended."""
    GpuTime.objects.filter(start__lt=clock.now() - KEPT).delete()
    GpuCapacity.objects.filter(start__lt=clock.now() - KEPT).delete()
    AttemptUtilization.objects.filter(attempt__state__gte=State.SUCCEEDED).delete()


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 3)


def _at(ms: int) -> datetime:
    return datetime.fromtimestamp(ms / 1000, UTC)


def _ms(at: datetime) -> int:
    return round(at.timestamp() * 1000)
