"""Convert a job's row to its spec, and a spec to the resources of one task."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

import orjson

from jobs.models import Job
from schedulers.spec import JobSpec, parse_mapping


def spec_of(job: Job) -> JobSpec:
    """Return the spec as it was accepted."""
    return _parsed(orjson.dumps(job.spec))


@lru_cache(128)  # Tasks of a sweep and retries request the same.
def _parsed(text: bytes) -> JobSpec:
    return parse_mapping(orjson.loads(text))


def resources_of(spec: JobSpec) -> dict[str, int]:
    """Return what one task reserves in quota units: millicores, bytes of memory, GPUs."""
    ask = spec.resources
    amounts = {"cpu": round(ask.cpus * 1000), "memory": ask.memory, "gpu": ask.gpus, "jobs": 1}
    if ask.gpus and ask.gpu_type:
        amounts[f"gpu.{ask.gpu_type.lower()}"] = ask.gpus
    return {
        name: amount * (1 if name == "jobs" else spec.num_nodes)
        for name, amount in amounts.items()
        if amount
    }


def gpu_type_in(resources: Mapping[str, int]) -> str:
    """Return the requested GPU type; empty for any."""
    return next((name.partition(".")[2] for name in resources if name.startswith("gpu.")), "")
