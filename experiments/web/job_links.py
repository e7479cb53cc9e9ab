"""Links of the page of a job to its run and experiment."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from experiments.selectors import find_run
from jobs.models import Job
from jobs.web.links import Link
from portal.core.errors import NotFound
from portal.core.messages import Message


def run_links(actor: Any, job: Job) -> Iterator[Link]:
    """Yield the links of a job to its run, which is created if the job is so new."""
    try:
        run = find_run(actor, job.id, related=("experiment",))
    except NotFound:  # in the trash, or hidden from the actor
        return
    base = f"/{job.org.slug}"
    yield Link(Message("Run"), run.name, f"{base}/runs/{run.id.hex}")
    yield Link(
        Message("Experiment"),
        run.experiment.name,
        f"{base}/experiments/{run.experiment.number}",
    )
