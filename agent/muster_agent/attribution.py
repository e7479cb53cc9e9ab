"""Attribute GPU usage to jobs."""

from __future__ import annotations

from collections.abc import Iterable

from muster_agent.gpus import GpuProcess, GpuReading
from muster_agent.jobs import JobReading
from muster_agent.sample import Sample

SHARED_FACTS = (
    "gpu.memory.total",
    "gpu.temperature",
)  # properties of the device, independent of the job
Place = tuple[tuple[str, str], ...]  # the labels of a GPU or of a MIG slice, sorted


def place_of(labels: dict[str, str]) -> Place:
    return tuple(sorted((name, value) for name, value in labels.items() if name in ("gpu", "mig")))


def gpu_samples(job: JobReading, reading: GpuReading) -> list[Sample]:
    """Return one job's GPU samples, for each GPU or slice that it was given or has a process on.

    All metrics of a GPU that no other process uses belong to the job. On a shared GPU, only memory
    and busy time are known per process; power and clocks are omitted.
    """
    found: list[Sample] = []
    for place in sorted(places_of(job, reading)):
        on_it = [p for p in reading.processes if place_of(p.labels) == place]
        mine = [p for p in on_it if p.pid in job.pids]
        device = [
            s for s in reading.samples if place_of(dict(s.labels)) == place and "ecc" not in s.name
        ]
        if len(mine) == len(on_it):
            found += device
        else:
            found += [s for s in device if s.name in SHARED_FACTS] + shares(mine, dict(place))
    return found


def shares(mine: list[GpuProcess], labels: dict[str, str]) -> list[Sample]:
    """Return the samples that the driver reports for these processes alone."""
    memory = [p.memory for p in mine if p.memory is not None]
    busy = [p.busy for p in mine if p.busy is not None]
    found = [Sample("gpu.memory.used", sum(memory), "bytes", labels)] if memory else []
    return (
        [*found, Sample("gpu.utilization", min(1.0, sum(busy)), "ratio", labels)] if busy else found
    )


def places_of(job: JobReading, reading: GpuReading) -> set[Place]:
    """Return the GPUs and slices with the job's processes or allocated to it, even if idle."""
    places = {place_of(p.labels) for p in reading.processes if p.pid in job.pids}
    for gpu in reading.gpus:
        if not gpu.slices and {str(gpu.index), gpu.uuid} & set(job.gpus):
            places.add(place_of({"gpu": str(gpu.index)}))
        places |= {
            place_of({"gpu": str(gpu.index), "mig": str(part.index)})
            for part in gpu.slices
            if part.uuid in job.gpus
        }
    return places


def jobs_on(gpu: int | None, jobs: Iterable[JobReading], reading: GpuReading) -> set[str]:
    """Return the keys of the jobs on this GPU, which an XID concerns."""
    return {
        job.key
        for job in jobs
        if any(("gpu", str(gpu)) in place for place in places_of(job, reading))
    }
