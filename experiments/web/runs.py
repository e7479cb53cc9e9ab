"""The page of an experiment: its runs as a table or as charts, groups, and bulk actions."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from statistics import fmean
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.db.models import QuerySet
from django.http import HttpResponse, JsonResponse
from django.shortcuts import redirect

from experiments import charts, services
from experiments.lists import is_expression, nested, run_item, runs_of
from experiments.models import Experiment, Run
from experiments.run_keys import RunKeys, keys_of, last_values
from experiments.search.expressions import json_text
from experiments.selectors import find_experiment, visible_runs
from experiments.web.views import POST, tracking_command
from portal.core.errors import InvalidInput, PortalError
from portal.core.messages import Message
from portal.lists import Shown
from portal.series.models import Series
from portal.web.denials import record_denied_request
from portal.web.undo import Undo, offer_undo
from workspaces.access.permissions import Permission as P
from workspaces.web.base import page, show_error

MOST_PINS, MOST_GROUPS, MOST_METRICS = 20, 200, 4
MOST_SELECTED = 200
MOST_POINTS = 500  # runs of a scatter plot
ATTRIBUTES = ("attributes.run_name", "attributes.status", "attributes.start_time")
PIN_COOKIE = "muster_pins"


@page()
def experiment(request: Any, number: str) -> HttpResponse:
    """Show the runs of an experiment; the whole state is in the URL, pins are in a cookie."""
    row = find_experiment(request.actor, number)
    query = request.GET
    keys = keys_of(Run.objects.filter(experiment=row, deleted_at=None))
    if query.get("format") == "terms":
        return JsonResponse({"terms": _terms(keys)})
    view = runs_of(row, keys, show=query.get("show", ""), sort=query.get("sort", ""))
    shown = view.shown(request.actor, query, request.COOKIES)
    if not query.get("sort"):
        shown.rows = nested(shown.rows)
    group = query.get("group", "") if query.get("group") in keys.params else ""
    tab = "charts" if query.get("view") == "charts" else ""
    context = {
        "page_title": row.name,
        "crumbs": [(Message("Experiments"), f"/{request.org.slug}/experiments")],
        "experiment": row,
        "list": shown,
        "tab": tab,
        "may_write": request.actor.may(P.EXPERIMENTS_WRITE, row.team_id),
        "command": tracking_command(request, row.team.slug, row.name),
        "group": group,
        "columns": [c for c in view.columns if c.name in shown.has and "." in c.name],
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
        context["pinned"] = _pinned(request, row, shown)
    elif not shown.error:
        context |= _charts(request, view, shown, keys)
    is_part = request.headers.get("HX-Request") and not request.headers.get("HX-Boosted")
    template = "experiments/_runs.html" if is_part else "experiments/experiment.html"
    return view.render(request, template, context)


def _terms(keys: RunKeys) -> list[dict[str, Any]]:
    """Return what the filter of runs suggests: names with their values."""
    return [
        *({"name": f"metrics.{name}", "values": []} for name in keys.metrics),
        *({"name": f"params.{name}", "values": list(v)} for name, v in keys.params.items()),
        *({"name": f"tags.{name}", "values": []} for name in keys.tags),
        *({"name": name, "values": _VALUES.get(name, [])} for name in ATTRIBUTES),
    ]


_VALUES = {"attributes.status": ["RUNNING", "FINISHED", "FAILED", "KILLED", "SCHEDULED"]}


def _pinned(request: Any, row: Experiment, shown: Shown) -> list[dict[str, Any]]:
    """Return the runs that this browser has pinned, for the top of the first page."""
    ids = _ids(request.COOKIES.get(PIN_COOKIE, "").split("."))[:MOST_PINS]
    if not ids or shown.previous_url:
        return []
    rows = Run.objects.filter(experiment=row, id__in=ids, deleted_at=None)
    found = list(rows.select_related("org", "owner", "team", "job"))
    values = last_values(found)
    items = [run_item(one, values[one.series_owner]) | {"is_pinned": True} for one in found]
    pinned = {item["id"] for item in items}
    shown.rows = [item for item in shown.rows if item["id"] not in pinned]
    return sorted(items, key=lambda item: ids.index(UUID(item["id"])))


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
    ids = _ids(item["id"] for item in shown.rows[: charts.MOST])
    found = {row.id: row for row in _full(visible_runs(request.actor).filter(id__in=ids))}
    many = view.first_rows(request.actor, shown.asked, MOST_POINTS)
    return {
        "chart_sources": [charts.source_of(found[pk]) for pk in ids if pk in found],
        "plot": charts.points_of(many, keys),
        "plotted": len(many),
    }


def _full(rows: QuerySet[Run]) -> QuerySet[Run]:
    return rows.select_related("org", "owner", "team", "job", "experiment")


def _ids(texts: Any) -> list[UUID]:
    found = []
    for text in texts:
        try:
            found.append(UUID(text))
        except ValueError:
            continue
    return list(dict.fromkeys(found))


@page(None, POST)
def act_on_runs(request: Any, number: str) -> HttpResponse:
    """Tag, archive or delete the selected runs, or undo that; then redirect back."""
    row = find_experiment(request.actor, number)
    verb = request.POST.get("verb", "")
    if verb not in _VERBS:
        raise InvalidInput.at("verb", Message("must be one of {names}", names=", ".join(_VERBS)))
    query = request.POST.get("query", "")[:2000]
    back = f"/{request.org.slug}/experiments/{row.number}" + (f"?{query}" if query else "")
    rows = _full(
        Run.objects.filter(experiment=row, id__in=_ids(request.POST.getlist("run")[:MOST_SELECTED]))
    )
    act, done, opposite = _VERBS[verb]
    found = [one for one in rows if verb not in _CHANGES or _CHANGES[verb](one)]
    key = request.POST.get("key", "").strip()
    if verb == "tag" and any(key in one.tags for one in found):
        opposite = ""  # the values before would be lost
    try:
        n = act(request, found)
    except PortalError as error:
        record_denied_request(request, error)
        show_error(request, error)
        return redirect(back)
    text = Message.plural(n, done[0], done[1], n=n)
    fields: dict[str, str | list[str]] = {
        "verb": opposite,
        "query": query,
        "run": [one.id.hex for one in found],
    }
    if request.POST.get("key"):
        fields["key"] = request.POST["key"]
    if n and opposite:
        offer_undo(request, text, Undo(request.path, fields))
    else:
        messages.success(request, text)
    return redirect(back)


def _tag(request: Any, rows: list[Run]) -> int:
    key = request.POST.get("key", "").strip()
    if not key:
        raise InvalidInput.at("key", Message("Enter the name of the tag."))
    for row in rows:
        services.log_batch(
            actor=request.actor, run=row, tags={key: request.POST.get("value", "").strip()}
        )
    return len(rows)


def _untag(request: Any, rows: list[Run]) -> int:
    key = request.POST.get("key", "").strip()
    for row in rows:
        if key in row.tags:
            services.delete_run_tag(actor=request.actor, run=row, key=key)
    return len(rows)


# Which runs a verb changes, so that an undo leaves the others as they are
_CHANGES: dict[str, Callable[[Run], bool]] = {
    "archive": lambda run: run.archived_at is None,
    "unarchive": lambda run: run.archived_at is not None,
    "delete": lambda run: run.deleted_at is None,
    "restore": lambda run: run.deleted_at is not None,
}
# verb -> what it does, what is said then, and the verb that undoes it
_VERBS: dict[str, tuple[Callable[[Any, list[Run]], int], tuple[Message, Message], str]] = {
    "archive": (
        lambda request, rows: services.archive_runs(actor=request.actor, runs=rows),
        (Message("{n} run is archived."), Message("{n} runs are archived.")),
        "unarchive",
    ),
    "unarchive": (
        lambda request, rows: services.unarchive_runs(actor=request.actor, runs=rows),
        (Message("{n} run is active again."), Message("{n} runs are active again.")),
        "archive",
    ),
    "delete": (
        lambda request, rows: services.delete_runs(actor=request.actor, runs=rows),
        (Message("{n} run is in the trash."), Message("{n} runs are in the trash.")),
        "restore",
    ),
    "restore": (
        lambda request, rows: services.restore_runs(actor=request.actor, runs=rows),
        (Message("{n} run is restored."), Message("{n} runs are restored.")),
        "delete",
    ),
    "tag": (_tag, (Message("{n} run is tagged."), Message("{n} runs are tagged.")), "untag"),
    "untag": (_untag, (Message("{n} run is untagged."), Message("{n} runs are untagged.")), ""),
}
