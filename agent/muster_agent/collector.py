"""Collect one batch: all measurements of this machine at one moment."""

from __future__ import annotations

import logging
import os
import time
import uuid
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TypeVar

import psutil

from muster_agent.attribution import gpu_samples, jobs_on
from muster_agent.config import Config
from muster_agent.deadline import CallTimeout, Deadline
from muster_agent.gpus import GpuReading, GpuSampler
from muster_agent.host import Host, cpu_count
from muster_agent.jobs import JobReading, Jobs
from muster_agent.processes import ProcFs
from muster_agent.sample import Event, Json, Sample, is_possible
from muster_agent.version import VERSION

log = logging.getLogger("muster.agent")
GPU_PATIENCE = 5.0  # seconds; reading eight healthy GPUs takes about 20 ms
MIG_PATIENCE = 300.0  # seconds; a GPU that is reset takes up to a minute
NO_PROC = "jobs are not measured: this system has no /proc"
NO_JOBS: list[JobReading] = []
NOTHING: list[Sample] = []
T = TypeVar("T")


class Collector:
    """Measure the machine, its GPUs and its jobs.

    A part that fails is left out and named in `facts.note`. Nothing raises.
    """

    def __init__(
        self,
        config: Config,
        *,
        gpus: GpuSampler | None = None,
        host: Host | None = None,
        jobs: Jobs | None = None,
    ):
        procfs = ProcFs(config.proc)
        self._config, self._gpus, self._host = (
            config,
            gpus or GpuSampler(),
            host or Host(config.disks),
        )
        self._has_proc = procfs.is_there
        self._jobs = jobs or (
            Jobs(config.jobs_dir, procfs) if config.jobs_dir and self._has_proc else None
        )
        self._measure_gpus = Deadline("the NVIDIA driver", self._gpus.measure, GPU_PATIENCE)
        self._reading = GpuReading()
        self._failing: dict[str, str] = {}
        self._mig_report: Json | None = None  # of the last work
        self._claims: dict[str, set[str]] = {}  # GPU -> jobs on it in the last cycle

    def has_running(self) -> bool:
        """Return whether a job runs here. Cheap enough to call every second."""
        return self._jobs is not None and self._guard("jobs", self._jobs.has_running, False)

    def collect(self) -> Json:
        """Return the body of POST /api/v1/agent/samples.

        Rates cover the time since the last call and are missing from the first.
        """
        at = int(time.time() * 1000)
        reading = self._guard("gpus", self._measure_gpus, GpuReading(gpus=self._reading.gpus))
        self._reading = reading
        jobs = self._guard("jobs", self._jobs.measure, NO_JOBS) if self._jobs else NO_JOBS
        before, self._claims = self._claims, claims_on(jobs, reading)
        measured = {
            "samples": rows_of((*self._host_samples(), *reading.samples)),
            "jobs": [self._job(job, reading) for job in jobs],
            "events": [
                with_jobs(event, self._claims, before) for event in self._gpus.take_events()
            ],
        }
        return {
            "batch": str(uuid.uuid4()),
            "node": self._config.node,
            "at": at,
            "facts": self.facts(),  # last, so that its note includes failures of this batch
            **measured,
        }

    def partition(self, work: Json) -> None:
        """Change MIG instances as the portal asks; batches then have the report.

        Blocks, so that nothing else of this process uses the driver meanwhile. Work that was done
        is not done again.
        """
        if self._mig_report is not None and self._mig_report["id"] == work.get("id"):
            return
        log.info("changing MIG instances: %s", work.get("id"))
        change = Deadline("the NVIDIA driver", lambda: self._gpus.partition(work), MIG_PATIENCE)
        try:
            self._mig_report = change()
        except CallTimeout as error:
            failed = {"state": "failed", "error": str(error), "is_restored": False}
            self._mig_report = {"id": work.get("id"), **failed, "layouts": {}}

    def facts(self) -> Json:
        """Describe this machine, for the inventory.

        Keys: cpus, memory, arch, driver, cuda, agent, note, and gpus, a list of
        {index, uuid, model, memory, compute, mig}; mig: whether `partition` is allowed, its report.
        """
        return {
            "cpus": cpu_count(),
            "memory": self._guard("memory size", lambda: psutil.virtual_memory().total, 0),
            "gpus": [gpu.as_json() for gpu in self._reading.gpus],
            "arch": os.uname().machine,
            "driver": self._reading.version,
            "cuda": self._reading.cuda,
            "agent": VERSION,
            "mig": {"is_allowed": self._config.allow_mig}
            | ({"report": self._mig_report} if self._mig_report else {}),
            "note": "; ".join(self._notes()),
        }

    def _notes(self) -> Iterable[str]:
        yield from filter(None, (self._reading.note, *self._host.notes()))
        yield from list(self._failing.values())
        if self._config.jobs_dir and not self._has_proc:
            yield NO_PROC

    def _host_samples(self) -> list[Sample]:
        found = (
            self._guard(name, all_of(measure), NOTHING) for name, measure in self._host.parts()
        )
        return [sample for samples in found for sample in samples]

    def _job(self, job: JobReading, reading: GpuReading) -> Json:
        samples = job.samples + self._guard(
            "gpu use of jobs", lambda: gpu_samples(job, reading), NOTHING
        )
        return {"key": job.key, "samples": rows_of(samples)}

    def _guard(self, part: str, work: Callable[[], T], otherwise: T) -> T:
        """Run one measurement. A failure is logged when it starts and noted until it ends."""
        try:
            found = work()
        except CallTimeout as error:
            self._fail(part, str(error))
        except Exception as error:  # one failing metric must not affect others
            self._fail(part, f"{part} cannot be measured: {type(error).__name__}: {error}")
        else:
            self._failing.pop(part, None)
            return found
        return otherwise

    def _fail(self, part: str, message: str) -> None:
        if part not in self._failing:
            log.warning("%s", message, exc_info=log.isEnabledFor(logging.DEBUG))
        self._failing[part] = message


def rows_of(samples: Iterable[Sample]) -> list[Json]:
    return [one.as_json() for one in samples if is_possible(one.value, one.unit)]


def all_of(measure: Callable[[], Iterable[Sample]]) -> Callable[[], list[Sample]]:
    """Wrap a generator so that it runs to its end, and fails, inside the guard."""
    return lambda: list(measure())


def claims_on(jobs: list[JobReading], reading: GpuReading) -> dict[str, set[str]]:
    """Map each GPU index, as text, to the keys of the jobs on it."""
    return {str(gpu.index): jobs_on(gpu.index, jobs, reading) for gpu in reading.gpus}


def with_jobs(event: Event, now: dict[str, set[str]], before: dict[str, set[str]]) -> Json:
    """Add to an event the jobs on its GPU, from the last cycle if the error has ended them."""
    gpu = str(event.gpu)
    return {**event.as_json(), "jobs": sorted(now.get(gpu, set()) | before.get(gpu, set()))}


def collect(jobs_dir: Path | None = None, over: float = 1.0) -> Json:
    """Return one batch with rates measured over `over` seconds, for manual checks."""
    collector = Collector(Config(jobs_dir=jobs_dir))
    collector.collect()
    time.sleep(over)
    return collector.collect()
