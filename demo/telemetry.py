"""Measurements of the simulated cluster: the past in one go, then live every ten seconds."""

from __future__ import annotations

import threading
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Container, Iterator, Mapping, Sequence
from functools import cache, partial
from itertools import count
from typing import cast
from uuid import UUID

from django.db import transaction

from clusters.backends import backend_of
from clusters.models import Cluster, Gpu, Node
from clusters.services.devices import store_devices
from demo.backend import SimulatedCluster
from demo.history import DAYS, runs_of
from demo.mig import DRIVER, described, report
from demo.pace import Progress, paced, short_transaction
from demo.simulation import SimulatedAttempt, uniform
from jobs.models import Attempt
from jobs.selectors.metrics import task_labels, unit_of
from monitoring.metrics.ingest import store_samples
from portal import series
from portal.background import every
from portal.core import clock, streams
from workspaces.tenancy.scope import platform_scope

COARSE, CURVE_POINTS, LIVE = 300.0, 240, 10.0  # seconds, points per curve, seconds
FINE, FINE_FOR = 30.0, 3600.0  # seconds between measurements of the last hour
AT_ONCE = 4  # attempts written in one transaction
SENSORS = 240.0  # seconds at most between two measurements of a job's GPUs
DETAILED = 10  # nodes with a week of measurements; others of a large fleet have a few minutes
FEW = 300.0  # seconds
AT_A_TIME = 250  # nodes that are measured in one round: those of a large fleet take turns
_rounds = count()
Schedules = dict[
    str, tuple[list[float], list[float], list[SimulatedAttempt]]
]  # starts, ends, runs by GPU
WORN = ("dgx-07", "3")  # a GPU with a replaced memory row, for the health of its node
POWER_CAP = 0.93  # utilization from which the power limit slows the clocks
_WATTS = {"h100": (72, 610), "l40s": (34, 300)}


def write_history(progress: Progress | None = None) -> None:
    """Write a week of measurements for every simulated cluster."""
    progress = progress or Progress()
    with platform_scope("the demo writes measurements"):
        for cluster in Cluster.objects.filter(backend=SimulatedCluster.name):
            now, runs = clock.now().timestamp(), list(runs_of(cluster))
            backend, by_gpu = cast(SimulatedCluster, backend_of(cluster)), _by_gpu(runs)
            moments = [
                *_moments(now - DAYS * 86400, now - FINE_FOR, COARSE),
                *_moments(now - FINE_FOR, now, FINE),
            ]
            last = _moments(now - FEW, now, FINE)
            nodes = list(_nodes(cluster))
            for number, (node, gpus) in enumerate(nodes):
                progress.detail(f"Writing measurements: node {number + 1} of {len(nodes)} …")
                is_detailed = number < DETAILED
                points = [
                    point
                    for at in (moments if is_detailed else last)
                    for point in _node_points(node, gpus, by_gpu, at)
                ]
                if is_detailed:
                    _append_week(node, points)
                else:
                    _append_few(node, points)
                store_devices(node, described(backend, node.name), DRIVER)
            _write_curves(runs, 0.0, now, is_past=True)


def _append_week(node: Node, points: Sequence[series.Point]) -> None:
    """Append a week of a node, one measurement at a time: SQLite has one writer."""
    by_name: dict[str, list[series.Point]] = defaultdict(list)
    for point in points:
        by_name[point.name].append(point)
    for part in by_name.values():
        paced(partial(series.append, f"node:{node.id.hex}", part, org_id=None))


def _append_few(node: Node, points: Sequence[series.Point]) -> None:
    """Append a few minutes of a node as one row, as agents with --batch do."""
    times = sorted({point.at_ms for point in points})
    units = {(point.name, tuple(point.labels.items())): point.unit for point in points}
    values = {
        (point.name, tuple(point.labels.items()), point.at_ms): point.value for point in points
    }
    columns = [
        series.BatchColumn(
            name, dict(labels), unit, [values.get((name, labels, at)) for at in times]
        )
        for (name, labels), unit in units.items()
    ]
    series.append_batch(f"node:{node.id.hex}", times, columns)


@every(LIVE)
def feed(_stop: threading.Event) -> None:
    """Write and publish the current measurements of simulated clusters."""
    with platform_scope("the demo writes measurements"):
        for cluster in Cluster.objects.filter(backend=SimulatedCluster.name, is_enabled=True):
            now, runs = clock.now().timestamp(), list(runs_of(cluster))
            active = [run for run in runs if run.started <= now < run.finished]
            by_gpu = _by_gpu(active)
            if not cluster.config.get("is_measured", True):
                continue
            nodes = list(_nodes(cluster))
            turn = _turn(nodes, by_gpu)
            for node, gpus in turn:
                points = _node_points(node, gpus, by_gpu, now)
                if len(nodes) <= AT_A_TIME:
                    store_samples(f"node:{node.id.hex}", None, round(now * 1000), points)
                else:
                    _append_few(node, points)
            report(cluster, [node for node, _ in turn])
            _write_curves(active, now - LIVE, now)


def _turn(
    nodes: list[tuple[Node, list[Gpu]]], in_use: Container[str]
) -> list[tuple[Node, list[Gpu]]]:
    """Return the nodes with runs, and those whose turn it is; all of a small cluster.

    Counted, not by the clock: a slow machine would leave out some rounds.
    """
    rounds = max(-(-len(nodes) // AT_A_TIME), 1)
    turn = next(_rounds) % rounds
    return [
        (node, gpus)
        for number, (node, gpus) in enumerate(nodes)
        if number % rounds == turn or any(gpu.uuid in in_use for gpu in gpus)
    ]


def _moments(start: float, end: float, step: float) -> list[float]:
    return [start + n * step for n in range(int((end - start) / step))]


def _nodes(cluster: Cluster) -> Iterator[tuple[Node, list[Gpu]]]:
    gpus: dict[UUID, list[Gpu]] = defaultdict(list)
    for gpu in Gpu.objects.filter(node__cluster=cluster).order_by("index"):
        gpus[gpu.node_id].append(gpu)
    for node in Node.objects.filter(cluster=cluster).order_by("name"):
        yield node, gpus[node.id]


def _by_gpu(runs: Sequence[SimulatedAttempt]) -> Schedules:
    found: Schedules = defaultdict(lambda: ([], [], []))
    for run in sorted(runs, key=lambda run: run.started):
        for uuid in run.gpus:
            starts, ends, there = found[uuid]
            starts.append(run.started)
            ends.append(run.finished)
            there.append(run)
    return found


def _run_on(gpu: Gpu, by_gpu: Schedules, at: float) -> SimulatedAttempt | None:
    """Return the run that has a GPU at a time; at most one does."""
    if gpu.uuid not in by_gpu:
        return None
    starts, ends, runs = by_gpu[gpu.uuid]
    last = bisect_right(starts, at) - 1
    return runs[last] if last >= 0 and at < ends[last] else None


@cache
def _labels(index: int) -> dict[str, str]:
    return {"gpu": str(index)}


def _node_points(
    node: Node, gpus: Sequence[Gpu], by_gpu: Schedules, at: float
) -> list[series.Point]:
    busy, points, parts = 0.0, list[series.Point](), Counter[int]()
    for gpu in gpus:
        run = _run_on(gpu, by_gpu, at)
        labels = _labels(gpu.index)
        sensors = _gpu_points(gpu, run, at, labels)
        if gpu.type.startswith("mig-"):
            points += _instance_points(sensors, parts[gpu.index])
            parts[gpu.index] += 1
            continue
        points += sensors
        points += [
            series.Point(name, labels, sensors[0].at_ms, value, unit=unit)
            for name, value, unit in _activity(gpu, sensors[0].value)
        ]
        if sensors[0].value > POWER_CAP and gpu.type == "h100":
            reason = labels | {"reason": "power_cap"}
            points.append(series.Point("gpu.throttle", reason, sensors[0].at_ms, 1.0, unit="ratio"))
        busy += run.recipe.use if run else 0
    share = busy / max(len(gpus), 1)
    memory = node.memory * (0.04 + 0.5 * share)
    values = (
        ("cpu.utilization", min(0.03 + 0.55 * share, 1), "ratio"),
        ("memory.used", memory, "bytes"),
        ("memory.total", float(node.memory), "bytes"),
    )
    at_ms = round(at * 1000)
    if node.name == WORN[0]:
        points.append(series.Point("gpu.rows.pending", {"gpu": WORN[1]}, at_ms, 1.0, unit="ratio"))
    return points + [series.Point(n, {}, at_ms, v, unit=unit) for n, v, unit in values]


def _instance_points(sensors: Sequence[series.Point], number: int) -> list[series.Point]:
    """Return what is measured of one MIG instance, and of its GPU with the first."""
    use, used, total, *others = sensors
    labels = use.labels | {"mig": str(number)}
    points = [one.labelled(labels) for one in (used, total)]
    points.append(series.Point("gpu.sm.active", labels, use.at_ms, use.value * 0.8, unit="ratio"))
    return points if number else points + others


def _gpu_points(
    gpu: Gpu, run: SimulatedAttempt | None, at: float, labels: dict[str, str]
) -> list[series.Point]:
    use = run.gpu_utilization(gpu.index, at) if run else 0.0
    idle, full = _WATTS.get(gpu.type, (50, 300))
    noise = uniform(f"{gpu.uuid}{at // 10}")
    held = min(0.35 + run.recipe.use * 0.6, 0.97) if run else 0.005
    values = (
        ("gpu.utilization", use, "ratio"),  # in the order of `_instance_points`
        ("gpu.memory.used", gpu.memory * held, "bytes"),
        ("gpu.memory.total", float(gpu.memory), "bytes"),
        ("gpu.power", idle + (full - idle) * use + 6 * noise, "W"),
        ("gpu.temperature", 31 + 38 * use + 2 * noise, "degC"),
    )
    return [series.Point(n, labels, round(at * 1000), v, unit=unit) for n, v, unit in values]


def _activity(gpu: Gpu, use: float) -> list[tuple[str, float, str]]:
    """Return what GPM measures, on GPUs that have it."""
    if gpu.type != "h100":
        return []
    noise = use * 10 % 1
    return [
        ("gpu.sm.active", use * (0.78 + 0.05 * noise), "ratio"),
        ("gpu.tensor.active", use * (0.41 + 0.05 * noise), "ratio"),
        ("gpu.memory.bandwidth", use * (0.36 + 0.05 * noise), "ratio"),
        ("gpu.clock.sm", (1980 if use else 345) * 1e6, "Hz"),
        ("gpu.clock.memory", 2619e6, "Hz"),
        ("gpu.throttled", float(use > POWER_CAP), "ratio"),
        ("gpu.pcie.sent", use * (2.1 + noise) * 1e9, "bytes/s"),
        ("gpu.pcie.received", use * (3.4 + noise) * 1e9, "bytes/s"),
        ("gpu.nvlink.sent", use * (38 + 9 * noise) * 1e9, "bytes/s"),
        ("gpu.nvlink.received", use * (38 + 9 * noise) * 1e9, "bytes/s"),
    ]


def _write_curves(
    runs: Sequence[SimulatedAttempt], start: float, end: float, *, is_past: bool = False
) -> None:
    """Write what the programs and the sensors of their GPUs measured in an interval."""
    ids = {UUID(run.key.removeprefix("muster-")): run for run in runs}
    gpus = {gpu.uuid: gpu for gpu in Gpu.objects.filter(uuid__in={u for r in runs for u in r.gpus})}
    attempts = list(Attempt.objects.filter(id__in=list(ids)).select_related("job"))
    for first in range(0, len(attempts), AT_ONCE):
        measured = [
            (attempt, *_measured(attempt, ids[attempt.id], gpus, start, end))
            for attempt in attempts[first : first + AT_ONCE]
        ]
        with short_transaction() if is_past else transaction.atomic():  # waits once per batch
            for attempt, curves, sensors, at_ms in measured:
                _store_curves(attempt.job_id, curves, attempt.org_id)
                store_samples(f"attempt:{attempt.id.hex}", attempt.org_id, at_ms, sensors)


def _measured(
    attempt: Attempt, run: SimulatedAttempt, gpus: Mapping[str, Gpu], start: float, end: float
) -> tuple[list[series.Point], list[series.Point], int]:
    """Return the points of the program, those of its GPUs, and the time of the last."""
    step = max(run.seconds / CURVE_POINTS, LIVE)
    labels = task_labels(attempt.job, attempt.index)
    curves = [
        series.Point(p.name, labels, round(p.at * 1000), p.value, step=p.step, unit=unit_of(p.name))
        for p in run.points(start, end, step)
    ]
    begin, until = max(run.started, start), min(run.finished, end)
    pause = min(step, SENSORS)
    sensors = [
        point
        for at in _moments(begin, until, pause) or [until]
        for uuid in run.gpus
        for point in _gpu_points(gpus[uuid], run, at, _labels(gpus[uuid].index))
    ]
    return curves, sensors, round(until * 1000)


def _store_curves(job: UUID, points: Sequence[series.Point], org_id: UUID) -> None:
    series.append(f"job:{job.hex}", points, org_id=org_id)
    for point in points[-8:]:
        values = {point.key: point.value}
        streams.publish(
            f"metrics:job:{job.hex}", {"t": point.at_ms, "step": point.step, "values": values}
        )
