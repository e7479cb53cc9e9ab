"""Curves of jobs: those that programs report and those of the sensors of their machines."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Annotated, Any, TypedDict

from jobs.models import Attempt, Job
from portal import series
from portal.series import SeriesShape
from schedulers.spec.environment import task_run_id
from schedulers.states import State

MOST_TASKS = 32  # of an array, drawn together
_UNITS = (
    (re.compile(r"(/|_per_)s(ec(ond)?)?\Z"), "/s"),
    (re.compile(r"[/_]bytes\Z"), "bytes"),
    (re.compile(r"[/_]seconds\Z"), "s"),
)


def unit_of(name: str) -> str:
    """Return the unit that the name of a reported metric states, such as "/s" of `tokens/s`."""
    return next((unit for shape, unit in _UNITS if shape.search(name)), "")


def task_labels(job: Job, index: int) -> dict[str, str]:
    """Return the labels of the curves of one task; none unless the job is an array."""
    return {} if job.array_size is None else {"task": str(index)}


def series_of(job: Job, index: int) -> list[tuple[str, dict[str, str]]]:
    """Return owner and labels of the series in which the points of a task are stored.

    Those of a job have all of its tasks; the run of a task of an array has series of its own.
    """
    found = [(f"job:{job.id.hex}", task_labels(job, index))]
    if job.array_size is not None:
        found.append((f"run:{task_run_id(job.id, index).hex}", {}))
    return found


def first_tasks(job: Job) -> list[Attempt]:
    """Return the current attempts of the first tasks of an array."""
    return list(
        Attempt.objects.filter(job=job, is_current=True, index__lt=MOST_TASKS).order_by("index")
    )


class JobSeriesShape(TypedDict):
    training: Annotated[list[SeriesShape], "What the job reported."]
    system: Annotated[list[SeriesShape], "What its nodes measured."]


def training_series(job: Job, attempts: Sequence[Attempt], **query: Any) -> list[SeriesShape]:
    """Return what the job reported: of an array, by these tasks; with several, also by people."""
    if job.array_size is not None:
        rest: list[dict[str, str]] = [{}] if len(attempts) > 1 else []
        query["labels"] = [*rest, *(task_labels(job, a.index) for a in attempts)]
    return [found.as_dict() for found in series.query(f"job:{job.id.hex}", **query)]


def system_series(job: Job, attempts: Sequence[Attempt], **query: Any) -> list[SeriesShape]:
    """Return what the machines measured of these attempts."""
    rows = []
    for attempt in attempts:
        for found in series.query(f"attempt:{attempt.id.hex}", **query):
            row = found.as_dict()
            row["labels"] = {**row["labels"], **task_labels(job, attempt.index)}
            rows.append(row)
    return rows


def chart_source(job: Job) -> dict[str, Any]:
    """Return what a chart needs to load and follow the curves of a job; see c-charts."""
    attempts = first_tasks(job)
    return {
        "id": str(job.number),
        "name": f"#{job.number} {job.name}",
        "url": f"/api/v1/orgs/{job.org.slug}/jobs/{job.number}/metrics",
        "start": job.started_at.timestamp() if job.started_at else None,
        "isLive": not State(job.state).is_final,
        "topics": [
            {"name": f"metrics:job:{job.id.hex}", "kind": "training"},
            *(
                {
                    "name": f"metrics:attempt:{attempt.id.hex}",
                    "kind": "system",
                    "labels": task_labels(job, attempt.index),
                }
                for attempt in attempts
            ),
        ],
    }


def chart_context(job: Job, task: str) -> dict[str, Any]:
    """Return the context of jobs/_metrics.html. `task` is the task shown, "" for all."""
    size = job.array_size or 0
    tasks = [str(n) for n in range(min(size, 1000))]
    return {
        "chart_sources": [chart_source(job)],
        "chart_tasks": tasks,
        "chart_task": task if task in tasks else "",
        "chart_more": MOST_TASKS if size > MOST_TASKS else 0,
    }
