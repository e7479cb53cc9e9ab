"""Measure the CPU cost of a submission on both sides, optionally pinned to one core each.

In production, a cluster's controller has its own machine. Here it shares the cores with the processes
under test. `apart` gives the first core to the cluster and the second to this process, PostgreSQL
and Redis, for both the raw rate and ours.
"""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from bench.idle import TICKS, stat_fields, tree
from tests.rig.processes import Folder

OURS = ("postgres", "redis")  # processes of the rig that are ours; the rest is the cluster
TOO_FEW = "no row with the cluster on a core of its own: there is one core only"
Round = tuple["Pace", "Pace"]  # raw, ours


@dataclass(frozen=True)
class Pace:
    """Jobs per second, and CPU ms per job of this process, PostgreSQL and the cluster."""

    rate: float
    cpu: tuple[float, float, float]


@dataclass(frozen=True)
class Sides:
    """Processes of each side, by the roots of their trees."""

    database: int
    near: Sequence[int]
    cluster: Sequence[int]

    @classmethod
    def of(cls, folder: Folder, cluster: Sequence[int] = ()) -> Sides:
        """Set the roots; `cluster` if the rig's folder did not start it."""
        started = {
            name: int(pid)
            for pid, name in map(str.split, (folder.path / "pids").read_text().splitlines())
        }
        return cls(
            started["postgres"],
            [started[name] for name in OURS],
            cluster or [started[name] for name in started.keys() - set(OURS)],
        )

    def pace(self, work: Callable[[], object], count: int) -> Pace:
        """Measure work that submits `count` jobs."""
        before, began = self._spent(), time.perf_counter()
        work()
        seconds, after = time.perf_counter() - began, self._spent()
        own, database, cluster = (
            (b - a) * 1000 / count for a, b in zip(before, after, strict=True)
        )
        return Pace(count / seconds, (own, database, cluster))

    @contextmanager
    def apart(self) -> Iterator[None]:
        """Pin each side to its own core for the duration."""
        cores = sorted(os.sched_getaffinity(0))
        try:
            _pin(self.cluster, cores[:1])
            _pin([os.getpid()], cores[1:2], with_children=False)
            _pin(self.near, cores[1:2])
            yield
        finally:
            _pin([*self.cluster, *self.near, os.getpid()], cores)

    def _spent(self) -> tuple[float, float, float]:
        return time.process_time(), _seconds([self.database]), _seconds(self.cluster)


def can_part() -> bool:
    return len(os.sched_getaffinity(0)) > 1


def compared(rounds: Sequence[Round]) -> tuple[float, float, float]:
    """Return medians of raw, ours, and ours as a share of raw."""
    ratio = statistics.median(ours.rate / raw.rate for raw, ours in rounds)
    return (
        statistics.median(raw.rate for raw, _ in rounds),
        statistics.median(ours.rate for _, ours in rounds),
        ratio,
    )


def costs(rounds: Sequence[Round]) -> str:
    """Format the CPU ms per job of each side."""
    raw, ours = (
        [statistics.mean(pace.cpu[side] for pace in paces) for side in range(3)]
        for paces in zip(*rounds, strict=True)
    )
    return (
        f"CPU a job: our process {ours[0]:.1f} ms, PostgreSQL {ours[1]:.1f}, the cluster "
        f"{ours[2]:.1f}; "
        f"raw: who sends {raw[0]:.1f}, the cluster {raw[2]:.1f}"
    )


def _seconds(roots: Iterable[int]) -> float:
    """Return CPU seconds of these trees, including reaped children."""
    return (
        sum(
            sum(map(int, fields[11:15]))
            for root in roots
            for pid in tree(root)
            if (fields := stat_fields(pid))
        )
        / TICKS
    )


def _pin(roots: Iterable[int], cores: Sequence[int], *, with_children: bool = True) -> None:
    """Pin all threads of these processes; their children inherit it."""
    for pid in {pid for root in roots for pid in (tree(root) if with_children else [root])}:
        for thread in Path(f"/proc/{pid}/task").glob("*"):
            with suppress(ProcessLookupError):
                os.sched_setaffinity(int(thread.name), cores)
