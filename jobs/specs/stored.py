"""Convert a job's row to its spec, and a spec to the request of one task."""

from __future__ import annotations

from functools import lru_cache

import orjson

from jobs.models import Job
from schedulers.capacity import ResourceRequest
from schedulers.spec import JobSpec, parse_mapping


def spec_of(job: Job) -> JobSpec:
    """Return the spec as it was accepted."""
    return _parsed(orjson.dumps(job.spec))


@lru_cache(128)  # Tasks of a sweep and retries request the same.
def _parsed(text: bytes) -> JobSpec:
    return parse_mapping(orjson.loads(text))


def request_of(spec: JobSpec) -> ResourceRequest:
    """Return what one task requests on each of its nodes."""
    resources = spec.resources
    return ResourceRequest(
        resources.gpus,
        round(resources.cpus * 1000),
        resources.memory,
        spec.num_nodes,
        (resources.gpu_type or "").lower() if resources.gpus else "",
    )
