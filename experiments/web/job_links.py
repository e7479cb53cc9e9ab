"""Links of the page of a job to its run and experiment."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from experiments.models import Run
from experiments.selectors import visible_runs
from jobs.models import Job
from jobs.web.links import Link
from portal.core.messages import Message
from workspaces.access.permissions import Permission


def run_links(actor: Any, job: Job) -> Iterator[Link]:
    """Yield the links of a job to its run, which opening it creates if the job is so new."""
    base = f"/{job.org.slug}"
    run = visible_runs(actor).filter(job=job).select_related("experiment__team").first()
    if run is not None:
        yield Link(
            Message("Run", context="link, training run"), run.name, f"{base}/runs/{run.id.hex}"
        )
        yield Link(
            Message("Experiment", context="link"),
            run.experiment.title,
            f"{base}/experiments/{run.experiment.number}",
        )
    elif (
        actor.may(Permission.EXPERIMENTS_READ, job.team_id)
        and not Run.objects.filter(id=job.id).exists()  # else it is in the trash
    ):
        yield Link(
            Message("Run", context="link, training run"), job.name, f"{base}/runs/{job.id.hex}"
        )
