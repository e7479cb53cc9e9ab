"""The lists of this app: experiments, and the runs of one experiment."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import partial
from typing import Any

from django.db.models import Count, Max, Prefetch, Q, QuerySet
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy as pgettext

from experiments import run_order
from experiments.models import Experiment, Run, RunStatus
from experiments.run_keys import RunKeys, best_results, by_interest, last_values
from experiments.search import search_runs
from experiments.selectors import visible_experiments
from jobs.models import Job
from portal.core.keyset import Order
from portal.lists import Column, Filter, ListView, containing, one_of, search_in, times
from workspaces.access.actors import Actor
from workspaces.access.permissions import Permission as P
from workspaces.list_filters import OWNER, TEAM

Item = dict[str, Any]
DEFAULT_METRICS, DEFAULT_PARAMS = 3, 4  # columns that are shown at first
LONGEST_SETTINGS = 80  # characters below the name of a run
STATES = {  # what pages call MLflow's statuses: a run has the states of a job
    RunStatus.SCHEDULED: "queued",
    RunStatus.RUNNING: "running",
    RunStatus.FINISHED: "succeeded",
    RunStatus.FAILED: "failed",
    RunStatus.KILLED: "canceled",
}
_STATUSES = {state: status.value for status, state in STATES.items()}
_CHIPS = (
    ("running", pgettext("choice of a filter", "Running")),
    ("succeeded", pgettext("choice of a filter", "Succeeded")),
    ("failed", pgettext("choice of a filter", "Failed")),
    ("canceled", pgettext("choice of a filter", "Canceled")),
)
_IS_EXPRESSION = re.compile(r"[<>=]|\s(like|ilike|in|is)\s", re.IGNORECASE)


def _experiments(actor: Actor) -> QuerySet[Experiment]:
    return visible_experiments(actor).select_related("team", "owner", "org")


def _experiment_items(rows: Sequence[Experiment], actor: Actor) -> list[Item]:
    counts = {
        one["experiment_id"]: one
        for one in Run.objects.filter(experiment__in=rows, deleted_at=None)
        .values("experiment_id")
        .annotate(
            runs=Count("id"),
            running=Count("id", filter=Q(status=RunStatus.RUNNING)),
            last=Max("started_ms"),
        )
    }
    best = best_results(rows)
    return [_experiment_item(row, counts.get(row.id, {}), best.get(row.id)) for row in rows]


def _experiment_item(row: Experiment, counts: dict[str, Any], best: Item | None) -> Item:
    return {
        "id": str(row.id),
        "number": row.number,
        "name": row.name,
        "title": row.title,
        "description": row.description,
        "team": row.team.slug,
        "owner": {"email": row.owner.email, "name": row.owner.display_name},
        "runs": counts.get("runs", 0),
        "running": counts.get("running", 0),
        "best": best,
        "last_run_at": instant(counts.get("last")),
        "created_at": row.created_at,
        "page": f"/{row.org.slug}/experiments/{row.number}",
    }


def _best(row: Item) -> str:
    return f"{row['best']['metric']}={row['best']['value']}" if row["best"] else ""


EXPERIMENTS = ListView(
    name="experiments",
    rows=_experiments,
    represent=_experiment_items,
    row_template="experiments/_experiment_row.html",
    permission=P.EXPERIMENTS_READ,
    order=Order("number", is_descending=True),
    filters=(
        search_in("name", placeholder=_("A name, or team:vision user:me"), is_search=True),
        OWNER,
        TEAM,
        *times("created_at", pgettext("column", "Created")),
    ),
    columns=(
        Column("number", pgettext("column", "Experiment"), sort=("number",)),
        Column("name", None),
        Column("team", pgettext("column", "Team"), sort=("team__slug", "number")),
        Column("runs", pgettext("column, training runs", "Runs"), "num"),
        Column("best", pgettext("column", "Best result"), "num", value=_best),
        Column("last_run_at", pgettext("column", "Last run"), "num"),
        Column("owner", pgettext("column", "Owner"), value=lambda row: row["owner"]["email"]),
        Column("created_at", pgettext("column", "Created"), "num", sort=("number",)),
    ),
)


def runs_of(experiment: Experiment, keys: RunKeys, *, show: str = "", sort: str = "") -> ListView:
    """Return the list of an experiment's runs; its columns are the keys that were logged.

    `show` is "" for active runs, "archived" or "trash"; `sort` is the order asked for.
    """
    state = one_of("status", lambda word: _STATUSES.get(word.lower(), word.upper()))
    return ListView(
        name=f"runs-{experiment.number}",
        is_local=True,
        others=("view", "group"),
        rows=lambda actor: run_order.sortable(_runs(experiment, show), sort),
        represent=_run_items,
        row_template="experiments/_run_row.html",
        permission=P.EXPERIMENTS_READ,
        order=Order("started_ms", "id", is_descending=True),
        filters=(
            Filter(
                "filter",
                narrowed,
                'MLflow\'s filter language, such as `metrics.acc > 0.9 and params.lr = "3e-4"`, '
                "or a part of the name.",
                pgettext("filter", "Filter runs"),
                _('metrics.acc > 0.9 and params.lr = "3e-4"'),
                is_search=True,
                is_expression=True,
            ),
            Filter(
                "state",
                state,
                "States separated by commas; `!` excludes one.",
                pgettext("filter", "State"),
                chips=(
                    ("", pgettext("choice of a filter", "All")),
                    *_CHIPS,
                ),
                is_multiple=True,
                is_counted=True,
            ),
            OWNER,
            *times(
                "started_ms", pgettext("column", "Started"), lambda at: int(at.timestamp() * 1000)
            ),
            Filter(
                "show",
                lambda rows, text, actor: rows,
                "`archived` or `trash` instead of active runs.",
                pgettext("filter", "Show"),
                chips=(
                    ("archived", pgettext("choice of a filter", "Archived")),
                    ("trash", pgettext("choice of a filter", "Trash")),
                ),
            ),
        ),
        columns=tuple(_columns(keys)),
    )


def narrowed(rows: QuerySet[Run], text: str, actor: Actor) -> QuerySet[Run]:
    """Return the runs that pass an expression, or whose name has all words of a text."""
    if not is_expression(text):
        return containing("name")(rows, text, actor)
    return search_runs(rows, text)


def is_expression(text: str) -> bool:
    """Return whether a text compares something, and is not just words of a name."""
    return _IS_EXPRESSION.search(text) is not None


def _runs(experiment: Experiment, show: str) -> QuerySet[Run]:
    # Prefetched, because runs share all of these but the job; a join would make each again
    job = Prefetch("job", Job.objects.only("number", "spec"))
    rows = Run.objects.filter(experiment=experiment).prefetch_related("org", "owner", "team", job)
    if show == "trash":
        return rows.exclude(deleted_at=None)
    return rows.filter(deleted_at=None, archived_at__isnull=show != "archived")


def _columns(keys: RunKeys) -> list[Column]:
    metrics, params = keys.metrics[:DEFAULT_METRICS], keys.varying[:DEFAULT_PARAMS]
    found = [
        Column("name", pgettext("column, training run", "Run"), sort=("name", *run_order.TIE)),
        Column("id", None),
        Column("status", pgettext("column", "State"), sort=("status", *run_order.TIE)),
        Column(
            "job",
            pgettext("column", "Job"),
            "num",
            is_optional=True,
            group=pgettext("group of columns, training run", "Run"),
        ),
    ]
    for name in keys.metrics:
        is_shown = name in metrics
        found.append(
            Column(
                f"metrics.{name}",
                name,
                "num",
                value=partial(_metric, name),
                sort=run_order.BY_METRIC,
                is_optional=is_shown,
                is_extra=not is_shown,
                group=pgettext("group of columns", "Metrics"),
            )
        )
    for kind, names, shown in (("params", keys.params, params), ("tags", keys.tags, ())):
        for name in names:
            is_shown = name in shown
            found.append(
                Column(
                    f"{kind}.{name}",
                    name,
                    "param num" if kind == "params" and keys.is_numeric(name) else "param",
                    value=partial(_text, kind, name),
                    sort=run_order.BY_TEXT,
                    is_optional=is_shown,
                    is_extra=not is_shown,
                    group=pgettext("group of columns", "Parameters")
                    if kind == "params"
                    else pgettext("group of columns", "Tags"),
                )
            )
    return [
        *found,
        Column(
            "owner",
            pgettext("column", "Owner"),
            value=lambda row: row["owner"]["email"],
            sort=("owner__email", *run_order.TIE),
            is_optional=True,
            group=pgettext("group of columns, training run", "Run"),
        ),
        Column(
            "duration",
            pgettext("column", "Duration"),
            "num",
            sort=run_order.BY_DURATION,
            is_optional=True,
            group=pgettext("group of columns, training run", "Run"),
        ),
        Column(
            "started_at",
            pgettext("column", "Started"),
            "num",
            sort=run_order.TIE,
            is_optional=True,
            group=pgettext("group of columns, training run", "Run"),
        ),
        Column("ended_at", None),
    ]


def _metric(name: str, row: Item) -> object:
    found = row["metrics"].get(name)
    return found and found["value"]


def _text(kind: str, name: str, row: Item) -> object:
    return row[kind].get(name)


def _run_items(rows: Sequence[Run], actor: Actor) -> list[Item]:
    values = last_values(rows)
    items = [run_item(row, values[row.series_owner]) for row in rows]
    for item, text in zip(items, _settings(rows), strict=True):
        item["settings"] = text
    return items


def _settings(rows: Sequence[Run]) -> list[str]:
    """Return the environment variables of each run's job that differ among these runs."""
    given: list[dict[str, Any]] = [
        (row.job.spec.get("envs") or {} if row.job else {}) for row in rows
    ]
    values: dict[str, set[str]] = defaultdict(set)
    for envs in given:
        for name, value in envs.items():
            values[name].add(str(value))
    several = [name for name in sorted(values, key=by_interest) if len(values[name]) > 1]
    return [
        " ".join(f"{name}={envs[name]}" for name in several if name in envs)[:LONGEST_SETTINGS]
        for envs in given
    ]


def run_item(row: Run, metrics: dict[str, dict[str, Any]]) -> Item:
    """Return a run as the table shows it; durations are in seconds."""
    started, ended = instant(row.started_ms), instant(row.ended_ms)
    return {
        "id": row.id.hex,
        "name": row.name,
        "status": row.status,
        "state": STATES[RunStatus(row.status)],
        "is_live": row.status == RunStatus.RUNNING,
        "topic": f"metrics:{row.series_owner}",
        "owner": {"email": row.owner.email, "name": row.owner.display_name},
        "team": row.team.slug,
        "job": row.job.number if row.job else None,
        "params": row.params,
        "tags": row.tags,
        "metrics": metrics,
        "started_at": started,
        "ended_at": ended,
        "duration": (row.ended_ms - row.started_ms) / 1000 if row.ended_ms else None,
        "is_child": row.parent_id is not None,
        "parent": row.parent_id.hex if row.parent_id else None,
        "is_archived": row.archived_at is not None,
        "is_deleted": row.deleted_at is not None,
        "page": f"/{row.org.slug}/runs/{row.id.hex}",
    }


def nested(rows: Sequence[Item]) -> list[Item]:
    """Return the rows with children below their parents, where both are among them.

    `level` is the depth of a row. Children of a parent are in the order of their names, so that the
    tasks of an array are in the order of their indexes.
    """
    ids = {row["id"] for row in rows}
    below: dict[str, list[Item]] = defaultdict(list)
    for row in rows:
        below[row["parent"] if row["parent"] in ids else ""].append(row)
    found: list[Item] = []
    waiting = [(row, 0) for row in reversed(below.pop("", []))]
    while waiting:
        row, level = waiting.pop()
        found.append(row | {"level": level})
        inside = sorted(below.pop(row["id"], []), key=_by_number, reverse=True)
        waiting += [(child, level + 1) for child in inside]
    return found + [row for left in below.values() for row in left]  # a circle of parents


def _by_number(row: Item) -> tuple[int, str]:
    """Return a key by which `sweep[2]` is before `sweep[10]`."""
    return len(row["name"]), row["name"]


def instant(milliseconds: int | None) -> datetime | None:
    """Return a time of Unix milliseconds; None without."""
    return None if milliseconds is None else datetime.fromtimestamp(milliseconds / 1000, UTC)
