"""Links of the page of a job to its run and experiment."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from experiments.selectors import visible_runs
from jobs.models import Job
from jobs.web.links import Link
from portal.core.messages import Message


def run_links(actor: Any, job: Job) -> Iterator[Link]:
    """Yield the links of a job that has a run."""
    run = visible_runs(actor).filter(job=job).select_related("experiment").first()
    if run is not None:
        base = f"/{job.org.slug}"
        yield Link(Message("Run"), run.name, f"{base}/runs/{run.id.hex}")
        yield Link(
            Message("Experiment"),
            run.experiment.name,
            f"{base}/experiments/{run.experiment.number}",
        )
