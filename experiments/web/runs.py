"""The page of an experiment: its runs as a table or as charts, and groups."""

from __future__ import annotations

from collections import defaultdict
from statistics import fmean
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django.core.cache import cache
from django.db.models import QuerySet
from django.http import HttpResponse, JsonResponse

from experiments import charts
from experiments.lists import is_expression, nested, run_item, runs_of
from experiments.models import Experiment, Run
from experiments.run_keys import RunKeys, keys_of, last_values, with_older
from experiments.search.expressions import json_text
from experiments.selectors import find_experiment, visible_runs
from experiments.web.bulk import MOST_CHANGED, matching_runs, parsed_ids
from experiments.web.views import tracking_command
from jobs.quotas.pricing import cost_of_jobs
from portal.core.messages import Message
from portal.lists import Column, ListView, Shown
from portal.series.models import Series
from portal.web.charts import expected_charts
from workspaces.access.permissions import Permission as P
from workspaces.web.base import page

MOST_PINS, MOST_GROUPS, MOST_METRICS = 20, 200, 4
MOST_POINTS = 500  # runs of a scatter plot
ATTRIBUTES = ("attributes.run_name", "attributes.status", "attributes.start_time")
PIN_COOKIE = "muster_pins"
MOST_PRICED = 2000  # jobs of an experiment whose cost is added up
PRICED_FOR = 60  # seconds


@page()
def experiment(request: Any, number: str) -> HttpResponse:
    """Show the runs of an experiment; the whole state is in the URL, pins are in a cookie."""
    row = find_experiment(request.actor, number)
    query = request.GET
    every = Run.objects.filter(experiment=row, deleted_at=None)
    keys = keys_of(every)
    if query.get("format") == "terms":
        return JsonResponse({"terms": _terms(keys)})
    asked = (query.get("sort", ""), f"params.{query.get('group', '')}")
    keys = with_older(keys, every, [*asked, *query.get("columns", "").split(",")])
    view = runs_of(row, keys, show=query.get("show", ""), sort=query.get("sort", ""))
    shown = view.shown(request.actor, query, request.COOKIES)
    if not shown.asked.sort:
        shown.rows = nested(shown.rows)
    group = query.get("group", "") if query.get("group") in keys.params else ""
    tab = "charts" if query.get("view") == "charts" else ""
    context = {
        "page_title": row.title,
        "crumbs": [
            (Message("Experiments", context="navigation"), f"/{request.org.slug}/experiments")
        ],
        "experiment": row,
        "cost": _cost(row, every),
        "list": shown,
        "tab": tab,
        "may_write": request.actor.may(P.EXPERIMENTS_WRITE, row.team_id),
        "command": tracking_command(request, row.team.slug, row.name),
        "new_job_url": f"/{request.org.slug}/jobs/new?"
        + urlencode({"experiment": row.name, "team": row.team.slug}),
        "group": group,
        "table_url": shown.asked.url(view=""),
        "charts_url": shown.asked.url(view="charts", group=""),
        "has_live": any(item["is_live"] for item in shown.rows),
    }
    if not tab:
        context["group_options"] = [
            (name, shown.asked.url(group=name)) for name in ("", *keys.varying) if keys.varying
        ]
    if group and not tab and not shown.error:
        context["groups"] = _groups(request, view, shown, group)
    elif not tab:
        _put_pinned_first(request, row, shown)
        logged = [c for c in view.columns if c.name in shown.has and _is_logged(c)]
        if shown.rows:
            shown.hide_empty([*logged, *(c for c in view.columns if c.name == "job")])
        context["columns"] = [c for c in logged if c.name in shown.has]
        context["matching"] = _matching(request, view, shown)
    elif not shown.error:
        context |= _charts(request, view, shown, keys)
    is_part = request.headers.get("HX-Request") and not request.headers.get("HX-Boosted")
    template = "experiments/_runs.html" if is_part else "experiments/experiment.html"
    return view.render(request, template, context)


def _is_logged(column: Column) -> bool:
    return column.name.startswith(("metrics.", "params.", "tags."))


def _matching(request: Any, view: ListView, shown: Shown) -> int:
    """Return how many runs a bulk action on all would change; 0 if all are shown or too many."""
    if shown.error or not (shown.next_url or shown.previous_url):
        return 0
    number = matching_runs(request.actor, view, shown.filters).count()
    return number if number <= MOST_CHANGED else 0


def _cost(row: Experiment, runs: QuerySet[Run]) -> str:
    """Return what the jobs of an experiment cost so far, at most a minute old; "" if too many."""
    key = f"experiment-cost:{row.id}"
    found: str | None = cache.get(key)
    if found is None:
        jobs = runs.filter(job_id__isnull=False).order_by().values_list("job_id", flat=True)
        ids = list(jobs.distinct()[: MOST_PRICED + 1])
        found = cost_of_jobs(ids) if len(ids) <= MOST_PRICED else ""
        cache.set(key, found, PRICED_FOR)
    return found


def _terms(keys: RunKeys) -> list[dict[str, Any]]:
    """Return what the filter of runs suggests: names with their values."""
    return [
        *({"name": f"metrics.{name}", "values": []} for name in keys.metrics),
        *({"name": f"params.{name}", "values": list(v)} for name, v in keys.params.items()),
        *({"name": f"tags.{name}", "values": []} for name in keys.tags),
        *({"name": name, "values": _VALUES.get(name, [])} for name in ATTRIBUTES),
    ]


_VALUES = {"attributes.status": ["RUNNING", "FINISHED", "FAILED", "KILLED", "SCHEDULED"]}


def _put_pinned_first(request: Any, row: Experiment, shown: Shown) -> None:
    """Put the runs that this browser has pinned at the top of the first page, in any filter."""
    ids = parsed_ids(request.COOKIES.get(PIN_COOKIE, "").split("."))[:MOST_PINS]
    if not ids or shown.previous_url or shown.error:
        return
    rows = Run.objects.filter(experiment=row, id__in=ids, deleted_at=None)
    found = list(rows.select_related("org", "owner", "team", "job"))
    values = last_values(found)
    items = [run_item(one, values[one.series_owner]) | {"is_pinned": True} for one in found]
    pinned = {item["id"] for item in items}
    items.sort(key=lambda item: ids.index(UUID(item["id"])))
    shown.rows = [*items, *(item for item in shown.rows if item["id"] not in pinned)]


def _groups(request: Any, view: Any, shown: Shown, param: str) -> list[dict[str, Any]]:
    """Return the number of runs and the metrics for each value of a param."""
    metrics = [name for name in shown.has if name.startswith("metrics.")][:MOST_METRICS]
    names = [name.partition(".")[2] for name in metrics]
    rows = view.narrowed(request.actor, shown.filters).order_by()
    groups: dict[str | None, list[str]] = defaultdict(list)
    for owner, value in rows.annotate(group=json_text("params", param)).values_list(
        "series_owner", "group"
    ):
        groups[value].append(owner)
    points = Series.objects.filter(owner__in=rows.values("series_owner"), name__in=names)
    last = {
        (owner, name): value
        for owner, name, value in points.values_list("owner", "name", "last_value")
        if value is not None
    }
    largest = sorted(groups.items(), key=lambda one: (-len(one[1]), one[0] or ""))
    return [
        {
            "value": value,
            "runs": len(owners),
            "url": _narrowed_url(shown, param, value),
            "metrics": [
                _summary(name, [last[o, name] for o in owners if (o, name) in last])
                for name in names
            ],
        }
        for value, owners in largest[:MOST_GROUPS]
    ]


def _summary(name: str, values: list[float]) -> dict[str, Any]:
    if not values:
        return {"name": name, "mean": None, "low": None, "high": None}
    return {"name": name, "mean": fmean(values), "low": min(values), "high": max(values)}


def _narrowed_url(shown: Shown, param: str, value: str | None) -> str:
    """Return the table of the runs with a value; "" if no filter can say it."""
    if value is None or '"' in value:
        return ""
    name = param if param.replace("_", "").isalnum() else f"`{param}`"
    before = shown.filters.get("filter", "")
    terms = [before] if before and is_expression(before) else []
    return shown.asked.url(filter=" and ".join([*terms, f'params.{name} = "{value}"']), group="")


def _charts(request: Any, view: Any, shown: Shown, keys: RunKeys) -> dict[str, Any]:
    """Return the curves of the first runs of the table, and points of many for a scatter plot."""
    ids = parsed_ids(item["id"] for item in shown.rows[: charts.MOST])
    found = {row.id: row for row in _full(visible_runs(request.actor).filter(id__in=ids))}
    sources = [charts.source_of(found[pk]) for pk in ids if pk in found]
    many = view.first_rows(request.actor, shown.asked, MOST_POINTS)
    return {
        "has_metrics": bool(keys.metrics),
        "expected_charts": expected_charts(keys.metrics, runs=len(sources)),
        "chart_sources": sources,
        "legend": [
            {"name": s["name"], "page": f"/{request.org.slug}/runs/{s['id']}", "colour": n % 8 + 1}
            for n, s in enumerate(sources)
        ],
        "plot": charts.points_of(many, keys),
        "plotted": len(many),
    }


def _full(rows: QuerySet[Run]) -> QuerySet[Run]:
    return rows.select_related("org", "owner", "team", "job", "experiment")
