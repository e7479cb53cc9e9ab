"""The page that compares jobs, and the context that other comparisons share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from urllib.parse import urlencode

from django.http import HttpResponse
from django.shortcuts import render

from jobs.selectors import comparison
from jobs.selectors.comparison import ComparedShape, ComparisonShape
from jobs.selectors.metrics import chart_source, unit_of
from portal.core.errors import InvalidInput
from portal.core.messages import Message
from schedulers.states import State
from workspaces.access.permissions import Permission as P
from workspaces.web.base import page


@page()
def compare(request: Any) -> HttpResponse:
    """Compare 2 to 10 jobs named by `jobs`, which may repeat or have commas."""
    error, jobs = None, []
    try:
        jobs = comparison.chosen_jobs(request.actor, request.GET.getlist("jobs"))
    except InvalidInput as refused:
        error = refused.data["errors"][0]["message"]
    runs = [comparison.run_of_job(job) for job in jobs]
    shared = comparison_context(runs, "jobs", request.GET.get("best", ""))
    for row in shared["rows"]:
        row["label"] = f"#{row['run']['number']}"
    best = next(
        (
            row["run"]["id"]
            for row in shared["rows"]
            if row["is_best"] and row["run"]["state"] == State.SUCCEEDED.label
        ),
        None,
    )
    differences = comparison.differences(runs)
    teams = request.actor.teams_where(P.JOBS_SUBMIT)
    return render(
        request,
        "jobs/compare.html",
        {
            **shared,
            "page_title": Message("Compare jobs", context="page title"),
            "crumbs": [(Message("Jobs", context="navigation"), f"/{request.org.slug}/jobs")],
            "error": error,
            "best": next((job for job in jobs if str(job.number) == best), None),
            "differences": differences,
            "chart_sources": [chart_source(job) for job in jobs],
            "plot": _plot(runs, differences, shared["metric"]),
            "may_submit": teams is None or bool(teams),
        },
        status=400 if error else 200,
    )


def comparison_context(
    runs: Sequence[comparison.ComparedRun], name: str, best_by: str
) -> dict[str, Any]:
    """Return the context of jobs/_compare_rows.html and jobs/_compare_metrics.html.

    `name` is the parameter of the URL that has the ids, `best_by` the metric that was asked for.
    """
    found = comparison.comparison(runs)
    metrics, all_ids = found["metrics"], [run.id for run in runs]
    metric = best_by if best_by in metrics else next(iter(metrics), "")

    def url_of(ids: list[str]) -> str:
        return "?" + urlencode({name: ",".join(ids), "best": metric})

    return {
        "rows": [
            {
                "run": run,
                "label": run["name"],
                "colour": n % 8 + 1,
                "metric": run["metrics"].get(metric),
                "is_best": _is_best(found, run, metric),
                "rest_url": url_of([pk for pk in all_ids if pk != run["id"]]),
            }
            for n, run in enumerate(found["runs"])
        ],
        "name": name,
        "ids": ",".join(all_ids),
        "metric": metric,
        "metrics": metrics,
        "metric_rows": [
            {
                "name": one,
                "cells": [
                    {
                        "metric": run["metrics"].get(one),
                        "is_best": _is_best(found, run, one),
                    }
                    for run in found["runs"]
                ],
            }
            for one in metrics
        ],
        "has_gpus": any(run["gpus"] is not None for run in found["runs"]),
        "is_enough": len(runs) >= comparison.LEAST,
        "is_full": len(runs) >= comparison.MOST,
    }


def _is_best(found: ComparisonShape, run: ComparedShape, metric: str) -> bool:
    """Return whether a run has the best value of a metric, and others have worse ones."""
    values = {
        one["id"]: one["metrics"][metric]["best"]
        for one in found["runs"]
        if metric in one["metrics"]
    }
    best = values.get(found["best"].get(metric, ""))
    return best is not None and values.get(run["id"]) == best and len(set(values.values())) > 1


def _plot(
    runs: Sequence[comparison.ComparedRun],
    differences: Sequence[comparison.ConfigDifference],
    metric: str,
) -> dict[str, Any] | None:
    """Return axes and runs of parallel coordinates: settings that differ, then metrics."""
    names = [metric, *(name for name in comparison.metric_names(runs) if name != metric)]
    settings = [
        {
            "name": f"params.{found.key}",
            "title": found.key.rpartition(".")[2],
            "unit": "",
            "values": [comparison.number_of(value) for value in found.values],
        }
        for found in differences
        if found.is_numeric
    ]
    if not settings or not metric:
        return None
    measured = [
        {
            "name": f"metrics.{name}",
            "title": name,
            "unit": unit_of(name),
            "values": [run.metrics[name].best if name in run.metrics else None for run in runs],
        }
        for name in names
    ]
    return {
        "axes": [*settings, *measured],
        "runs": [{"id": run.id, "name": run.name, "url": run.url} for run in runs],
    }
