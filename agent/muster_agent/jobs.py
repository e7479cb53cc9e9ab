"""Find running jobs of the local backend and measure their processes."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from muster_agent.processes import TICKS, JobProcesses, JobRoot, Process, ProcFs
from muster_agent.sample import Sample

STATE = "state.json"
SETTLED = 2.0  # seconds after which a later change surely gets another mtime
NEVER_WRITTEN = 600.0  # seconds; older directories without a state file wait for the full scan
FULL_SCAN = 600.0  # seconds; rereads finished jobs, since a supervisor may have written a new pid
SAME_START = 2.0  # tolerance of start times in seconds; the boot time has a resolution of 1 s


@dataclass(frozen=True)
class JobState:
    """A supervisor's state.json. `gpus` (indexes or UUIDs) are the GPUs allocated to the job."""

    key: str
    pid: int
    started: float  # Unix seconds, or clock ticks since boot; 0 if unknown
    gpus: tuple[str, ...] = ()


@dataclass
class Running:
    """A running job and its last counter values."""

    state: JobState
    root: Process
    ticks: dict[tuple[int, int], tuple[int, int]] = field(default_factory=dict)
    bytes: dict[tuple[int, int], tuple[int, int]] = field(default_factory=dict)
    looked: float | None = None
    measured_ticks: int = 0


@dataclass(frozen=True)
class JobReading:
    key: str
    pids: frozenset[int]
    gpus: tuple[str, ...]
    samples: list[Sample]


class JobFolders:
    """Track which directories in `root` hold a running job, without a stat for finished ones.

    The list is read again only if the mtime of `root` has changed.
    """

    def __init__(self, root: Path, procfs: ProcFs, clock: Callable[[], float] = time.time):
        self._root, self._procfs, self._clock = root, procfs, clock
        self._seen_mtime, self._full_scan_at = -1, 0.0
        self._finished: dict[str, int] = {}  # directory -> mtime of its state file
        self._waiting: dict[str, float] = {}  # directory without a state file yet -> first seen
        self.running: dict[str, Running] = {}  # directory -> job

    def measure(self) -> list[Running]:
        self._list()
        for name in list(self._waiting):
            self._open(name)
        for name, job in list(self.running.items()):
            self._check(name, job)
        return list(self.running.values())

    def forget(self, job: Running) -> None:
        """Mark a job as finished; it has no process left."""
        for name in [name for name, other in self.running.items() if other is job]:
            del self.running[name]
            self._finished[name] = self._mtime(name)

    def _list(self) -> None:
        now = self._clock()
        try:
            mtime = self._root.stat().st_mtime_ns
        except OSError:
            self.running, self._waiting, self._finished, self._seen_mtime = {}, {}, {}, -1
            return
        is_full = now >= self._full_scan_at
        if mtime == self._seen_mtime and not is_full:
            return
        self._seen_mtime = mtime if now - mtime / 1e9 > SETTLED else -1
        names = {entry.name for entry in os.scandir(self._root) if entry.is_dir()}
        if is_full:
            self._full_scan_at = now + FULL_SCAN
            self._finished = {n: m for n, m in self._finished.items() if m and self._mtime(n) == m}
        self._finished = {n: m for n, m in self._finished.items() if n in names}
        known = self._finished.keys() | self.running.keys()
        self._waiting = {name: self._waiting.get(name, now) for name in names - known}

    def _open(self, name: str) -> None:
        """Classify a new directory: running, finished, or without a state file yet."""
        mtime, state = self._mtime(name), self._read(name)
        if state is None:
            if self._clock() - self._waiting[name] > NEVER_WRITTEN:
                del self._waiting[name]
                self._finished[name] = 0
            return
        del self._waiting[name]
        root = living_root(state, self._procfs)
        if root is None:
            self._finished[name] = mtime
        else:
            self.running[name] = Running(state, root)

    def _check(self, name: str, job: Running) -> None:
        """Use a new pid if a restarted supervisor wrote one when adopting its job."""
        state = self._read(name)
        if (
            state is not None
            and state.pid != job.state.pid
            and (root := living_root(state, self._procfs))
        ):
            job.state, job.root = state, root

    def _mtime(self, name: str) -> int:
        try:
            return (self._root / name / STATE).stat().st_mtime_ns
        except OSError:
            return 0

    def _read(self, name: str) -> JobState | None:
        try:
            return parse_state(json.loads((self._root / name / STATE).read_bytes()))
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return None  # missing or invalid


class Jobs:
    """Measure the running jobs in `root`."""

    def __init__(
        self, root: Path, procfs: ProcFs | None = None, clock: Callable[[], float] = time.monotonic
    ):
        self._procfs, self._clock = procfs or ProcFs(), clock
        self._folders = JobFolders(root, self._procfs)
        self._processes = JobProcesses(self._procfs)

    def has_running(self) -> bool:
        """Return whether a job is running. Cheap (two system calls), so callable every second."""
        return bool(self._folders.measure())

    def measure(self) -> list[JobReading]:
        jobs = {job.state.key: job for job in self._folders.measure()}
        if not jobs:
            return []
        roots = [JobRoot(key, job.root) for key, job in jobs.items() if self._is_alive(job.root)]
        trees = self._processes.measure(roots, jobs.keys())
        trees = {
            key: tree
            for key, tree in trees.items()
            if not all(process.is_zombie for process in tree)
        }
        for key in jobs.keys() - trees.keys():
            self._folders.forget(jobs[key])
        return [self._read(jobs[key], tree) for key, tree in trees.items()]

    def _is_alive(self, process: Process) -> bool:
        now = self._procfs.process(process.pid)
        return now is not None and now.ident == process.ident and not now.is_zombie

    def _read(self, job: Running, tree: list[Process]) -> JobReading:
        living = [process for process in tree if not process.is_zombie]
        samples = [
            Sample("memory.used", sum(process.rss for process in living), "bytes"),
            Sample("processes", len(living), "count"),
            *self._usage(job, tree),
        ]
        return JobReading(job.state.key, frozenset(p.pid for p in living), job.state.gpus, samples)

    def _usage(self, job: Running, tree: list[Process]) -> list[Sample]:
        """Return CPU time and traffic since the last measurement; nothing for the first."""
        now, now_ticks = self._clock(), self._procfs.now_ticks()
        ticks = {p.ident: (p.own_ticks, p.reaped_ticks) for p in tree}
        read = {p.ident: t for p in tree if (t := self._procfs.traffic(p.pid))}
        traffic = {ident: (t.read, t.written) for ident, t in read.items()}
        samples = []
        if job.looked is not None and now > job.looked:
            elapsed = now - job.looked
            samples.append(Sample("cpu.used", cpu_growth(job, ticks) / TICKS / elapsed, "cores"))
            if traffic:
                samples += io_samples(job, traffic, elapsed)
        job.ticks, job.bytes, job.looked, job.measured_ticks = ticks, traffic, now, now_ticks
        return samples


def cpu_growth(job: Running, ticks: dict[tuple[int, int], tuple[int, int]]) -> int:
    """Return the clock ticks that the job's processes used since the last measurement.

    The time of a process that ends is added to the parent that reaps it. So the sum of own and
    reaped time over the running processes grows exactly by the time used, including that of
    short-lived children. If a process outside the job reaped a child, the sum decreases; the result
    is then the time of the running processes themselves. Time that a process used before it joined
    the job is not counted.
    """
    before = sum(map(sum, job.ticks.values()))
    joined = sum(
        sum(t)
        for ident, t in ticks.items()
        if ident not in job.ticks and ident[1] < job.measured_ticks
    )
    by_sum = sum(map(sum, ticks.values())) - before - joined
    own = sum(
        t[0] - (job.ticks[ident][0] if ident in job.ticks else 0)
        for ident, t in ticks.items()
        if ident in job.ticks or ident[1] >= job.measured_ticks
    )
    return max(by_sum, own, 0)


def io_samples(
    job: Running, traffic: dict[tuple[int, int], tuple[int, int]], elapsed: float
) -> list[Sample]:
    """Return I/O rates by the same sum; Linux adds a reaped child's traffic to its parent."""
    samples = []
    late = [
        t
        for ident, t in traffic.items()
        if ident not in job.bytes and ident[1] < job.measured_ticks
    ]
    for column, name in enumerate(("io.read", "io.write")):
        joined = sum(t[column] for t in late)
        growth = (
            sum(t[column] for t in traffic.values())
            - sum(t[column] for t in job.bytes.values())
            - joined
        )
        samples.append(Sample(name, max(growth, 0) / elapsed, "bytes/s"))
    return samples


def living_root(state: JobState, procfs: ProcFs) -> Process | None:
    """Return the process of `state`, or None if it has ended or its pid was reused."""
    process = procfs.process(state.pid)
    if (
        process is None
        or process.is_zombie
        or not is_same_start(state.started, process.started, procfs)
    ):
        return None
    return process


def is_same_start(start_time: float, ticks: int, procfs: ProcFs) -> bool:
    """Return whether the start, in `ticks` after boot, matches `start_time`; 0 (unknown) always does."""
    if start_time == 0 or start_time == ticks:
        return True
    began = procfs.boot_seconds() + ticks / TICKS
    return abs(start_time - began) <= SAME_START


def parse_state(raw: dict[str, Any]) -> JobState:
    """Parse state.json. Raises KeyError, ValueError.

    `started` is in clock ticks since boot, Unix seconds or ms, or ISO 8601.
    """
    started = raw.get("started") or 0
    if isinstance(started, str):
        started = datetime.fromisoformat(started).timestamp()
    if started > 1e11:
        started /= 1000
    return JobState(
        str(raw["key"]),
        int(raw["pid"]),
        float(started),
        tuple(str(gpu) for gpu in raw.get("gpus") or ()),
    )
