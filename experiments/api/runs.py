"""REST: runs, and what is logged to them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from math import isfinite
from typing import Any

from django.db import transaction
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from experiments import comparison, search, services
from experiments.api import serializers as s
from experiments.charts import MOST_CURVES
from experiments.lists import STATES
from experiments.models import Run, RunStatus
from experiments.selectors import (
    ID,
    LastPoint,
    find_experiment,
    find_run,
    last_metrics,
    visible_runs,
)
from jobs.api.query import limit_of, whole
from portal import series
from portal.core import clock
from portal.core.errors import InvalidInput, NotFound
from portal.core.messages import Message
from portal.series import Point
from portal.series.reading import MOST_POINTS
from workspaces.api.base import OrgView, idempotent
from workspaces.api.views import read

_VIEWS = ("active", "deleted", "all")


class RunsView(OrgView):
    permissions = {"GET": None, "POST": None}

    @extend_schema(
        operation_id="runs_search",
        parameters=[
            OpenApiParameter(
                "filter",
                str,
                description="MLflow's filter language: `metrics.loss < 0.1 and params.lr = '0.1'`.",
            ),
            OpenApiParameter(
                "order_by",
                str,
                many=True,
                description="Such as `metrics.loss ASC`, repeated; the newest first by default. "
                "Missing values and NaN come last.",
            ),
            OpenApiParameter("experiment", str, description="Numbers separated by commas."),
            OpenApiParameter(
                "view", str, enum=_VIEWS, description="`deleted` are in the trash; default active."
            ),
            OpenApiParameter("archived", bool, description="Include archived runs."),
            OpenApiParameter("page_token", str, description="From `next`."),
            OpenApiParameter("limit", int, description="1 to 1000; default 100."),
        ],
        responses=s.FoundRunsSerializer,
    )
    def get(self, request: Request) -> Response:
        """Search the visible runs of all experiments, in keyset pages without a total."""
        query = request.query_params
        view = query.get("view") or "active"
        if view not in _VIEWS:
            raise InvalidInput.at("view", f"must be one of {', '.join(_VIEWS)}")
        rows = visible_runs(self.actor, view)
        if query.get("archived", "").lower() not in {"1", "true", "yes"}:
            rows = rows.filter(archived_at=None)
        if numbers := query.get("experiment"):
            rows = rows.filter(
                experiment__number__in=[whole("experiment", n) for n in numbers.split(",")]
            )
        order = [text for text in query.getlist("order_by") if text]
        found, token = search.page_of(
            _joined(search.search_runs(rows, query.get("filter", ""), order)),
            limit=limit_of(query.get("limit"), 100, 1000),
            token=query.get("page_token", ""),
        )
        return Response({"items": represented(found), "next": token or None})

    @extend_schema(request=s.StartRunSerializer, responses={201: s.RunSerializer})
    @idempotent
    def post(self, request: Request) -> Response:
        """Start a run."""
        body = read(s.StartRunSerializer, request)
        number, team = body.pop("experiment", None), body.pop("team", None)
        if number is None:
            experiment = services.default_experiment(actor=self.actor, team=self.team(team))
        else:
            experiment = find_experiment(self.actor, number)
        if parent := body.pop("parent", None):
            body["parent"] = find_run(self.actor, parent)
        row = services.create_run(actor=self.actor, experiment=experiment, **body)
        return Response(_one(row), status=status.HTTP_201_CREATED)


class RunView(OrgView):
    permissions = {"GET": None, "PATCH": None, "DELETE": None}

    @extend_schema(responses=s.RunSerializer)
    def get(self, request: Request, run: str) -> Response:
        """Get one run by its id, with the last point of each metric."""
        return Response(_one(find_run(self.actor, run)))

    @extend_schema(request=s.ChangeRunSerializer, responses=s.RunSerializer)
    def patch(self, request: Request, run: str) -> Response:
        """Change the name, or the status, such as FINISHED."""
        row = services.update_run(
            actor=self.actor,
            run=find_run(self.actor, run),
            **read(s.ChangeRunSerializer, request),
        )
        return Response(_one(row))

    @extend_schema(request=None, responses={200: s.ChangedSerializer})
    def delete(self, request: Request, run: str) -> Response:
        """Move a run to the trash, from which it can be restored. Idempotent."""
        row = find_run(self.actor, run, with_trash=True)
        return Response({"changed": services.delete_runs(actor=self.actor, runs=[row])})


class RunMetricsView(OrgView):
    permissions = {"GET": None}

    @extend_schema(
        parameters=[
            OpenApiParameter(
                "names", str, description=f"Separated by commas; default: the first {MOST_CURVES}."
            ),
            OpenApiParameter("start", int, description="Unix milliseconds."),
            OpenApiParameter("end", int, description="Unix milliseconds."),
            OpenApiParameter(
                "max_points",
                int,
                description=f"1 to {MOST_POINTS}; default 600. All curves share {MOST_POINTS}. "
                "Longer curves keep their extremes.",
            ),
        ],
        responses=OpenApiTypes.OBJECT,
    )
    def get(self, request: Request, run: str) -> Response:
        """Return the curves of the metrics; null is a gap, NaN or infinite."""
        row, query = find_run(self.actor, run), request.query_params
        names = [name for name in query.get("names", "").split(",") if name][:100]
        names = names or series.names(row.series_owner, MOST_CURVES)
        span = {f"{n}_ms": whole(n, query[n]) for n in ("start", "end") if query.get(n)}
        points = limit_of(query.get("max_points"), 600, MOST_POINTS)
        found = series.query(row.series_owner, names=names, max_points=points, **span)
        return Response({"series": [one.as_dict() for one in found]})


class RunLogView(OrgView):
    permissions = {"POST": None}

    @extend_schema(request=s.LogSerializer, responses=OpenApiTypes.OBJECT)
    def post(self, request: Request, run: str) -> Response:
        """Log a batch of metrics, params and tags: all or nothing.

        At most 1000 metrics, 100 params, 100 tags, and 1000 in all. A repeated batch adds nothing.
        """
        row, body = find_run(self.actor, run), read(s.LogSerializer, request)
        now = clock.now_ms()
        metrics = [
            Point(p["name"], {}, now if p["at"] is None else p["at"], p["value"], p["step"])
            for p in body.get("metrics", ())
        ]
        params, tags = body.get("params", {}), body.get("tags", {})
        services.log_batch(actor=self.actor, run=row, metrics=metrics, params=params, tags=tags)
        return Response({"metrics": len(metrics), "params": len(params), "tags": len(tags)})


class ActView(OrgView):
    permissions = {"POST": None}

    @extend_schema(request=s.ActSerializer, responses=s.ChangedSerializer)
    def post(self, request: Request) -> Response:
        """Archive, unarchive, delete, restore or tag many runs: all or nothing."""
        body = read(s.ActSerializer, request)
        rows = self._runs(body["runs"])
        services_by_verb = {
            "archive": services.archive_runs,
            "unarchive": services.unarchive_runs,
            "delete": services.delete_runs,
            "restore": services.restore_runs,
        }
        if service := services_by_verb.get(body["do"]):
            return Response({"changed": service(actor=self.actor, runs=rows)})
        if not (tags := body.get("tags")):
            raise InvalidInput.at("tags", Message("must have at least one tag"))
        with transaction.atomic():
            for row in sorted(rows, key=lambda row: row.id):
                services.log_batch(actor=self.actor, run=row, tags=tags)
        return Response({"changed": len(rows)})

    def _runs(self, ids: Sequence[str]) -> list[Run]:
        """Return the runs. Raises NotFound for one that the actor may not see."""
        wanted = {text.replace("-", "").lower() for text in ids if ID.fullmatch(text)}
        rows = visible_runs(self.actor, "all").select_related("experiment")
        found = list(rows.filter(id__in=wanted))
        missing = [text for text in ids if text.replace("-", "").lower() not in wanted]
        missing += sorted(wanted - {row.id.hex for row in found})
        if missing:
            raise NotFound(Message("There is no run {x} that you can see.", x=missing[0][:40]))
        return found


class CompareRunsView(OrgView):
    permissions = {"GET": None}

    @extend_schema(
        operation_id="runs_compare",
        parameters=[
            OpenApiParameter("runs", str, required=True, description="2 to 10 ids with commas.")
        ],
    )
    def get(self, request: Request) -> comparison.RunComparisonShape:
        """Compare 2 to 10 runs: configuration that differs, summaries of metrics, the best runs.

        `ranked` has the differences of the first and the last run, those with the most likely
        effect first. `best` is the minimum of losses, errors and times, and the maximum of others.
        """
        rows = comparison.chosen_runs(self.actor, request.query_params.getlist("runs"))
        if len(rows) < 2:
            raise InvalidInput.at("runs", Message("choose 2 to 10 runs, such as ?runs=ID,ID"))
        return comparison.compared_runs([comparison.compared(row) for row in rows])


def represented(rows: Sequence[Run]) -> list[dict[str, Any]]:
    """Return runs for REST. Reads their experiment, team, owner, job and organization."""
    metrics = last_metrics(rows)
    return [_item(row, metrics[row.id]) for row in rows]


def _joined(rows: Any) -> Any:
    return rows.select_related("experiment", "team", "owner", "job", "org")


def _one(row: Run) -> dict[str, Any]:
    [found] = represented([row])
    return found


def _item(row: Run, metrics: Mapping[str, LastPoint]) -> dict[str, Any]:
    return {
        "id": row.id.hex,
        "name": row.name,
        "experiment": row.experiment.number,
        "team": row.team.slug,
        "owner": {"email": row.owner.email, "name": row.owner.display_name},
        "status": row.status,  # MLflow's name
        "state": STATES[RunStatus(row.status)],
        "job": row.job.number if row.job else None,
        "parent": row.parent_id.hex if row.parent_id else None,
        "started_ms": row.started_ms,
        "ended_ms": row.ended_ms,
        "params": row.params,
        "tags": row.tags,
        "metrics": {
            name: {"value": _number(value), "step": step, "at": at}
            for name, (value, step, at) in metrics.items()
        },
        "inputs": row.inputs,
        "outputs": row.outputs,
        "created_at": row.created_at,
        "updated_at": row.updated_at,
        "archived_at": row.archived_at,
        "deleted_at": row.deleted_at,
        "page": f"/{row.org.slug}/runs/{row.id.hex}",
    }


def _number(value: float) -> float | str:
    """Return a number; NaN and infinities as text, because JSON has none."""
    if isfinite(value):
        return value
    return "NaN" if value != value else re.sub("inf", "Infinity", str(value))
