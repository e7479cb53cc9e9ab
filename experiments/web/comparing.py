"""The page that compares runs."""

from __future__ import annotations

from typing import Any

from django.http import HttpResponse
from django.shortcuts import render

from experiments import charts
from experiments.comparison import chosen_runs, compared, compared_files, ranked
from experiments.models import Run
from experiments.run_keys import RunKeys, in_order
from experiments.web.run_page import preview_of
from jobs.selectors import comparison
from jobs.web.comparing import comparison_context
from portal.core.errors import InvalidInput, NotFound
from portal.core.messages import Message
from portal.web.charts import expected_charts
from workspaces.web.base import page


@page()
def compare(request: Any) -> HttpResponse:
    """Compare 2 to 10 runs named by `runs`, which may repeat or have commas."""
    error, rows = None, []
    try:
        rows = chosen_runs(request.actor, request.GET.getlist("runs"))
    except InvalidInput as refused:
        error = refused.data["errors"][0]["message"]
    runs = [compared(row) for row in rows]
    shared = comparison_context(runs, "runs", request.GET.get("best", ""))
    metric = shared["metric"]
    differences = comparison.differences(runs)
    file = request.GET.get("file", "")
    experiments = {row.experiment_id: row.experiment for row in rows}
    experiment = next(iter(experiments.values()), None)
    base = f"/{request.org.slug}/experiments"
    return render(
        request,
        "experiments/compare.html",
        {
            **shared,
            "page_title": Message("Compare runs", context="page title"),
            "crumbs": [
                (Message("Experiments", context="navigation"), base),
                *(
                    [(experiment.title, f"{base}/{experiment.number}")]
                    if experiment and len(experiments) == 1
                    else []
                ),
            ],
            "error": error,
            "differences": differences,
            "ranked": ranked(differences) if len(runs) == 2 else None,
            "expected_charts": expected_charts(shared["metrics"], runs=len(rows)),
            "chart_sources": [charts.source_of(row) for row in rows],
            "plot": charts.points_of(rows, _keys(rows, shared["metrics"]))
            if len(rows) > 1
            else None,
            "plot_metric": f"metrics.{metric}" if metric else "",
            "files": compared_files(rows),
            "file": file,
            "previews": _previews(request, rows, shared["rows"], file) if file else [],
            "experiment": experiment,
        },
        status=400 if error else 200,
    )


def _keys(rows: list[Run], metrics: list[str]) -> RunKeys:
    names = sorted({name for row in rows for name in row.params})
    values = {name: tuple({row.params.get(name, "") for row in rows}) for name in names}
    return RunKeys(metrics=tuple(in_order(metrics)), params=values)


def _previews(
    request: Any, rows: list[Run], shown: list[dict[str, Any]], path: str
) -> list[dict[str, Any]]:
    """Return a file of each run, None where it is missing."""
    api = f"/api/v1/orgs/{request.org.slug}/runs"
    found = []
    for row, one in zip(rows, shown, strict=True):
        try:
            preview = preview_of(row, path)
        except (NotFound, InvalidInput):
            preview = None
        found.append({"row": one, "preview": preview, "source": f"{api}/{row.id.hex}/artifacts"})
    return found
