"""Curves of runs for charts, and points of many runs for scatter plots."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from typing import Any

from experiments.models import Run, RunStatus
from experiments.run_keys import RunKeys, last_values
from jobs import metrics as job_metrics
from jobs.comparison import number_of
from jobs.metrics import JobSeriesShape, first_tasks, system_series, task_labels, training_series
from portal import series

MOST = 8  # runs whose curves are drawn together, each in its colour
MOST_AXES = 40
MOST_CURVES = 1000  # of a run that are read together
_SYSTEM = "system/"  # metrics of machines that MLflow clients log


def source_of(run: Run) -> dict[str, Any]:
    """Return what a chart needs to load and follow the curves of a run; see c-charts."""
    topics: list[dict[str, Any]] = [{"name": f"metrics:{run.series_owner}", "kind": "training"}]
    if run.job and run.status == RunStatus.RUNNING:
        topics += [
            {
                "name": f"metrics:attempt:{attempt.id.hex}",
                "kind": "system",
                "labels": task_labels(run.job, attempt.index),
            }
            for attempt in first_tasks(run.job)
        ]
    return {
        "id": run.id.hex,
        "name": run.name,
        "url": f"/{run.org.slug}/runs/{run.id.hex}/curves",
        "start": run.started_ms / 1000,
        "isLive": run.status == RunStatus.RUNNING,
        "topics": topics,
    }


def curves_of(run: Run) -> JobSeriesShape:
    """Return the curves of a run: what it logged, and what the machines of its job measured."""
    names = series.names(run.series_owner, MOST_CURVES)
    if run.job and run.series_owner == f"job:{run.job.id.hex}":
        attempts = first_tasks(run.job)
        training = training_series(run.job, attempts, names=names)
    else:
        attempts = first_tasks(run.job) if run.job else []
        training = [found.as_dict() for found in series.query(run.series_owner, names=names)]
    for one in training:
        one["unit"] = one["unit"] or job_metrics.unit_of(one["name"])
    return {
        "training": training,
        "system": system_series(run.job, attempts) if run.job else [],
    }


def points_of(runs: Sequence[Run], keys: RunKeys) -> dict[str, Any]:
    """Return axes and runs of scatter plots and parallel coordinates.

    An axis is a metric, or a param that varies; its `values` are numbers, texts or null, by run.
    """
    values = last_values(runs)
    axes: list[dict[str, Any]] = [
        {
            "name": f"metrics.{name}",
            "title": name,
            "unit": job_metrics.unit_of(name),
            "values": [_finite(values[run.series_owner].get(name)) for run in runs],
        }
        for name in keys.metrics
        if not name.startswith(_SYSTEM)
    ]
    axes += [
        {"name": f"params.{name}", "title": name, "unit": "", "values": _numbers(runs, name)}
        for name in keys.varying
    ]
    if len(runs) > 1:
        axes.append(
            {
                "name": "duration",
                "title": "duration",
                "unit": "s",
                "values": [r.ended_ms and (r.ended_ms - r.started_ms) / 1000 for r in runs],
            }
        )
    kept = [axis for axis in axes if any(v is not None for v in axis["values"])]
    return {
        "axes": kept[:MOST_AXES],
        "runs": [
            {
                "id": run.id.hex,
                "name": run.name,
                "url": f"/{run.org.slug}/runs/{run.id.hex}",
                "status": run.status,
            }
            for run in runs
        ],
    }


def _finite(point: dict[str, Any] | None) -> float | None:
    value: float | None = point["value"] if point else None
    return value if value is not None and isfinite(value) else None


def _numbers(runs: Sequence[Run], name: str) -> Sequence[float | str | None]:
    """Return a param of each run: numbers if all are, else texts."""
    texts = [run.params.get(name) for run in runs]
    numbers = [number_of(text) for text in texts]
    is_numeric = all(
        n is not None for n, text in zip(numbers, texts, strict=True) if text is not None
    )
    return numbers if is_numeric else texts
