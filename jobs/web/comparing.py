"""The page that compares jobs."""

from __future__ import annotations

from typing import Any

from django.http import HttpResponse
from django.shortcuts import render

from jobs import comparison
from jobs.metrics import chart_source
from portal.core.errors import InvalidInput
from portal.core.messages import Message
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
    found = comparison.comparison(runs)
    metrics = found["metrics"]
    metric = request.GET.get("best", "")
    metric = metric if metric in metrics else next(iter(metrics), "")
    best = found["best"].get(metric)
    rows = [
        {
            "run": run,
            "label": f"#{run['number']}",
            "colour": n % 8 + 1,
            "metric": run["metrics"].get(metric),
            "is_best": run["id"] == best,
            "without": ",".join(other["id"] for other in found["runs"] if other is not run),
        }
        for n, run in enumerate(found["runs"])
    ]
    changed = {d.key: d for d in comparison.differences(runs)}
    teams = request.actor.teams_where(P.JOBS_SUBMIT)
    return render(
        request,
        "jobs/compare.html",
        {
            "page_title": Message("Compare jobs"),
            "crumbs": [(Message("Jobs"), f"/{request.org.slug}/jobs")],
            "error": error,
            "rows": rows,
            "numbers": ",".join(run["id"] for run in found["runs"]),
            "metric": metric,
            "metrics": metrics,
            "metric_rows": [
                {
                    "name": name,
                    "cells": [
                        {
                            "metric": run["metrics"].get(name),
                            "is_best": found["best"][name] == run["id"] and len(runs) > 1,
                        }
                        for run in found["runs"]
                    ],
                }
                for name in metrics
            ],
            "best": next((job for job in jobs if str(job.number) == best), None),
            "differences": list(changed.values()),
            "chart_sources": [chart_source(job) for job in jobs],
            "parallel": _parallel(runs, list(changed.values()), metric),
            "is_enough": len(runs) >= comparison.LEAST,
            "is_full": len(runs) >= comparison.MOST,
            "may_submit": teams is None or bool(teams),
        },
        status=400 if error else 200,
    )


def _parallel(
    runs: list[comparison.Run], differences: list[comparison.Difference], metric: str
) -> dict[str, Any]:
    """Return what parallel coordinates show: numeric settings that differ, and the metric."""
    axes = [found.key for found in differences if found.is_numeric]
    return {
        "axes": axes,
        "metric": metric,
        "runs": [
            {
                "id": run.id,
                "name": run.name,
                "config": {key: comparison.number_of(run.config.get(key)) for key in axes},
                "metrics": {
                    metric: {"best": run.metrics[metric].best, "unit": run.metrics[metric].unit}
                }
                if metric in run.metrics
                else {},
            }
            for run in runs
        ],
    }
