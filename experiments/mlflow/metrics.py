"""Histories of metrics."""

from __future__ import annotations

import binascii
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Sequence
from typing import Any

import orjson

from experiments import selectors
from experiments.mlflow.calls import Call
from experiments.mlflow.represent import metric_json, page
from experiments.mlflow.routes import route
from experiments.mlflow.rows import run_of
from portal.core.errors import InvalidInput
from portal.core.messages import Message
from portal.series.points import Row

_MOST_POINTS = 25_000  # of a request for several runs
_MOST_RUNS = 100
_LARGEST_PAGE = 100_000  # points of one run
_MOST_SAMPLES = 2500  # of one run
_MOST_READ = 400_000  # points of all runs whose samples are exact


@route("GET", "metrics/get-history", fields="run_id run_uuid metric_key page_token max_results")
def history(call: Call) -> Any:
    row, name = run_of(call, call.run_id()), call.required("metric_key")
    # Without max_results a query is not paginated, says MLflow; a server may return less than it asks.
    limit = (
        min(call.limit("max_results", 1, 10_000_000), _LARGEST_PAGE)
        if call.data.get("max_results")
        else None
    )
    points = sorted(selectors.metric_history(row, name), key=_time)
    found, token = _part_of(points, limit, call.text("page_token"))
    return page("metrics", [metric_json(name, value, at, step) for step, at, value in found], token)


@route("GET", "metrics/get-history-bulk", fields="run_id metric_key max_results")
def history_bulk(call: Call) -> Any:
    run_ids, name = _run_ids(call, "run_id"), call.required("metric_key")
    limit = min(call.limit("max_results", _MOST_POINTS, 10_000_000), _MOST_POINTS)
    found: list[dict[str, Any]] = []
    for run_id in sorted(run_ids):
        if len(found) >= limit:
            break
        points = selectors.metric_history(run_of(call, run_id), name)
        found += [
            {**metric_json(name, value, at, step), "run_id": run_id}
            for step, at, value in sorted(points, key=_time)
        ]
    return {"metrics": found[:limit]}


@route(
    "GET",
    "metrics/get-history-bulk-interval",
    fields="run_ids metric_key start_step end_step max_results",
)
def history_bulk_interval(call: Call) -> Any:
    """Return points of several runs at the same steps, so that curves are comparable."""
    run_ids, name = _run_ids(call, "run_ids"), call.required("metric_key")
    limit = call.limit("max_results", _MOST_SAMPLES, _MOST_SAMPLES)
    start, end = call.integer("start_step"), call.integer("end_step")
    if (start is None) != (end is None):
        raise InvalidInput(
            Message("If either start step or end step are specified, both must be specified.")
        )
    if start is not None and end is not None and start > end:
        raise InvalidInput(
            Message(
                "end_step must be greater than start_step. Found start_step={start} and "
                "end_step={end}.",
                start=start,
                end=end,
            )
        )
    by_run: dict[str, list[Row]] = {}
    for run_id in run_ids:
        most = _MOST_READ // len(run_ids)
        points = selectors.metric_history(run_of(call, run_id), name, most)
        by_run[run_id] = [p for p in points if start is None or end is None or start <= p[0] <= end]
    wanted = _sampled(by_run, limit)
    return page(
        "metrics",
        [
            {**metric_json(name, value, at, step), "run_id": run_id}
            for run_id, points in by_run.items()
            for step, at, value in points
            if step in wanted
        ],
        "",
    )


def _time(point: Row) -> tuple[int, int]:
    """Return the time and the step of a point, by which MLflow orders them."""
    return point[1], point[0]


def _sampled(by_run: dict[str, list[Row]], limit: int) -> set[int]:
    """Return at most about `limit` of the steps, and the first and last of each run."""
    steps = sorted({step for points in by_run.values() for step, _at, _value in points})
    ends = {end for points in by_run.values() if points for end in (points[0][0], points[-1][0])}
    if len(steps) <= limit:
        return set(steps)
    interval = len(steps) / limit
    return {steps[int(n * interval)] for n in range(limit)} | ends


def _part_of(points: Sequence[Row], limit: int | None, token: str) -> tuple[Sequence[Row], str]:
    """Return a page of the points, and the token of the next one or "". Raises InvalidInput."""
    start = _start(token)
    end = len(points) if limit is None else start + limit
    more = urlsafe_b64encode(orjson.dumps({"offset": end})).decode() if end < len(points) else ""
    return points[start:end], more


def _start(token: str) -> int:
    if not token:
        return 0
    try:
        start = orjson.loads(urlsafe_b64decode(token))["offset"]
        if isinstance(start, int) and start >= 0:
            return start
    except (binascii.Error, orjson.JSONDecodeError, KeyError, TypeError, ValueError):
        pass
    raise InvalidInput(Message("Invalid page token, could not base64-decode"))


def _run_ids(call: Call, name: str) -> list[str]:
    found = call.texts(name)
    if not found:
        raise InvalidInput(Message("The request must specify at least one run_id."))
    if len(found) > _MOST_RUNS:
        raise InvalidInput(
            Message(
                "The request cannot specify more than {most} run_ids. Received {count} run_ids.",
                most=_MOST_RUNS,
                count=len(found),
            )
        )
    return found
