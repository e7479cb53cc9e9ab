"""Runs, and what is logged to them."""

from __future__ import annotations

from typing import Any

from experiments import search, selectors, services
from experiments.mlflow.calls import Call, integer, missing, number, pairs, parsed
from experiments.mlflow.logged_models import log_model_metrics
from experiments.mlflow.represent import info_json, page, run_json
from experiments.mlflow.routes import route
from experiments.mlflow.rows import (
    DEFAULT,
    active_run,
    check_active,
    experiment_of,
    experiments_of,
    run_of,
    uuid_of,
    view_type,
)
from experiments.models import Run, RunStatus
from portal.core import clock
from portal.core.errors import InvalidInput, NotFound
from portal.core.messages import Message
from portal.series import Point

MOST_RUNS = 50_000  # per page of a search
_MOST_METRICS, _MOST_PARAMS, _MOST_TAGS, _MOST_ENTITIES = 1000, 100, 100, 1000
_NO_LABELS: dict[str, str] = {}
_NOTE_OF_MODELS = "mlflow.log-model.history"


@route("POST", "runs/create", fields="experiment_id user_id run_name start_time tags")
def create(call: Call) -> Any:
    experiment = experiment_of(call, call.text("experiment_id") or DEFAULT)
    if experiment.deleted_at is not None:
        raise InvalidInput(
            Message(
                "The experiment {number} must be in the 'active' state. Current state is deleted.",
                number=experiment.number,
            )
        )
    tags = call.pairs("tags")
    name, name_tag = call.text("run_name"), tags.pop("mlflow.runName", "")
    if name and name_tag and name != name_tag:
        raise InvalidInput(
            Message(
                "Both 'run_name' argument and 'mlflow.runName' tag are specified, but with "
                "different values (run_name='{name}', mlflow.runName='{name_tag}').",
                name=name,
                name_tag=name_tag,
            )
        )
    if user := call.text("user_id"):
        tags.setdefault("mlflow.user", user)
    row = services.create_run(
        actor=call.actor,
        experiment=experiment,
        name=name or name_tag,
        started_ms=call.integer("start_time") or int(clock.now().timestamp() * 1000),
        tags=tags,
        parent=_parent(call, tags),
    )
    run = run_json(row, {})
    del run["outputs"]  # as MLflow's server does
    return {"run": run}


def _parent(call: Call, tags: dict[str, str]) -> Run | None:
    """Return the run that the tag names, if it exists."""
    try:
        return run_of(call, tags["mlflow.parentRunId"]) if "mlflow.parentRunId" in tags else None
    except NotFound:
        return None


@route("GET", "runs/get", fields="run_id run_uuid")
def get(call: Call) -> Any:
    row = run_of(call, call.run_id())
    return {"run": run_json(row, selectors.last_metrics([row])[row.id])}


@route("POST", "runs/update", fields="run_id run_uuid status end_time run_name")
def update(call: Call) -> Any:
    row = active_run(call, call.run_id())
    status = call.text("status") or None
    if status is not None:
        by_number = {str(n): name for n, name in enumerate(RunStatus.values, 1)}
        by_number |= {"1": "RUNNING", "2": "SCHEDULED"}  # MLflow's order
        status = by_number.get(status, status)
    row = services.update_run(
        actor=call.actor,
        run=row,
        name=call.text("run_name") or None,
        status=status,
        ended_ms=call.integer("end_time"),
    )
    return {"run_info": info_json(row)}


@route("POST", "runs/delete", fields="run_id run_uuid")
def delete(call: Call) -> Any:
    services.delete_runs(actor=call.actor, runs=[run_of(call, call.run_id())])


@route("POST", "runs/restore", fields="run_id run_uuid")
def restore(call: Call) -> Any:
    services.restore_runs(actor=call.actor, runs=[run_of(call, call.run_id())])


@route(
    "POST",
    "runs/log-metric",
    fields="run_id run_uuid key value timestamp step model_id dataset_name dataset_digest",
)
def log_metric(call: Call) -> Any:
    run_id, point = call.run_id(), _point(None, call.data)
    row = active_run(call, run_id)
    services.log_batch(actor=call.actor, run=row, metrics=[point])
    log_model_metrics(call, row, [call.data])


@route("POST", "runs/log-parameter", fields="run_id run_uuid key value")
def log_param(call: Call) -> Any:
    run_id, params = call.run_id(), {call.required("key"): call.text("value")}
    services.log_batch(actor=call.actor, run=active_run(call, run_id), params=params)


@route("POST", "runs/set-tag", fields="run_id run_uuid key value")
def set_tag(call: Call) -> Any:
    run_id, tags = call.run_id(), {call.required("key"): call.text("value")}
    services.log_batch(actor=call.actor, run=active_run(call, run_id), tags=tags)


@route("POST", "runs/delete-tag", fields="run_id key run_uuid")
def delete_tag(call: Call) -> Any:
    row, key = active_run(call, call.run_id()), call.required("key")
    if key not in row.tags:
        raise NotFound(
            Message("No tag with name: {key} in run with id {run}", key=key, run=row.id.hex)
        )
    services.delete_run_tag(actor=call.actor, run=row, key=key)


@route("POST", "runs/log-batch", fields="run_id metrics params tags run_uuid")
def log_batch(call: Call) -> Any:
    run_id, metrics, given = call.run_id(), call.objects("metrics"), call.objects("params")
    tags = call.objects("tags")
    for name, found, most in (
        ("metrics", metrics, _MOST_METRICS),
        ("params", given, _MOST_PARAMS),
        ("tags", tags, _MOST_TAGS),
        ("metrics, params, and tags", [*metrics, *given, *tags], _MOST_ENTITIES),
    ):
        if len(found) > most:
            raise InvalidInput(
                Message(
                    "A batch logging request can contain at most {most} {name}. Got {count} "
                    "{name}. Please split up {name} across multiple requests and try again.",
                    most=most,
                    name=name,
                    count=len(found),
                )
            )
    params = pairs("params", given)
    if len(params) < len(given):
        _check_repeated(given)
    points = [_point(n, each) for n, each in enumerate(metrics)]
    row = active_run(call, run_id)
    services.log_batch(
        actor=call.actor, run=row, metrics=points, params=params, tags=pairs("tags", tags)
    )
    log_model_metrics(call, row, metrics)


def _check_repeated(params: Any) -> None:
    seen: dict[str, str] = {}
    repeated = sorted(
        {p["key"] for p in params if seen.setdefault(p["key"], p["value"]) != p["value"]}
    )
    if repeated:
        raise InvalidInput(
            Message(
                "Duplicate parameter keys have been submitted: {keys}. Please ensure the request "
                "contains only one param value per param key.",
                keys=str(repeated),
            )
        )


def _point(number_in_batch: int | None, data: Any) -> Point:
    """Return the point of a JSON object. Raises InvalidInput."""
    get = data.get
    key, value, at, step = get("key"), get("value"), get("timestamp"), get("step") or 0
    if type(key) is str and key and type(value) is float and type(at) is int and type(step) is int:
        return Point(key, _NO_LABELS, at, value, step)  # as nearly all are: there may be a thousand
    where = "" if number_in_batch is None else f"metrics[{number_in_batch}]."
    for name, found in (("key", key), ("value", value), ("timestamp", at)):
        if found in (None, ""):
            missing(f"{where}{name}")
    return Point(
        str(key),
        _NO_LABELS,
        integer(f"{where}timestamp", at),
        number(f"{where}value", value),
        integer(f"{where}step", step),
    )


@route("POST", "runs/log-inputs", fields="run_id datasets models run_uuid")
def log_inputs(call: Call) -> Any:
    inputs: list[dict[str, Any]] = []
    for n, each in enumerate(call.objects("datasets")):
        data = each.get("dataset")
        if not isinstance(data, dict) or not data.get("name") or not data.get("digest"):
            missing(f"datasets[{n}].dataset")
        inputs.append({"dataset": data, "tags": pairs(f"datasets[{n}].tags", each.get("tags"))})
    for n, each in enumerate(call.objects("models")):
        inputs.append({"model_id": str(each.get("model_id") or missing(f"models[{n}].model_id"))})
    row = active_run(call, call.run_id())
    services.log_inputs(actor=call.actor, run=row, inputs=inputs)


@route("POST", "runs/outputs", fields="run_id models run_uuid")
def log_outputs(call: Call) -> Any:
    outputs = [
        {
            "model_id": str(each.get("model_id") or missing(f"models[{n}].model_id")),
            "step": integer(f"models[{n}].step", each.get("step") or 0),
        }
        for n, each in enumerate(call.objects("models"))
    ]
    row = active_run(call, call.run_id())
    services.log_outputs(actor=call.actor, run=row, outputs=outputs)


@route("POST", "runs/log-model", fields="run_id model_json run_uuid")
def log_model(call: Call) -> Any:
    """Add a model of MLflow 2 to the tag that lists the models of a run."""
    row = active_run(call, call.run_id())
    model = parsed(call.required("model_json").encode())
    needed = {"artifact_path", "flavors", "utc_time_created", "run_id"}
    given = set(model) if isinstance(model, dict) else set()
    if not needed <= given:
        raise InvalidInput(
            Message(
                "Model json is missing mandatory fields: {names}",
                names=str(sorted(needed - given)),
            )
        )
    check_active(row)
    services.add_to_list_tag(actor=call.actor, run=row, key=_NOTE_OF_MODELS, item=model)


@route(
    "POST",
    "runs/search",
    fields="experiment_ids filter run_view_type max_results order_by page_token",
)
def search_runs(call: Call) -> Any:
    limit = call.limit("max_results", 1000, MOST_RUNS)
    view = view_type(call, "run_view_type")
    experiments = experiments_of(call, call.texts("experiment_ids"))
    rows = selectors.visible_runs(call.actor, view=view).filter(experiment__in=experiments)
    rows = search.search_runs(rows, call.text("filter"), call.texts("order_by"))
    found, token = search.page_of(
        rows.prefetch_related("experiment", "owner"), limit=limit, token=call.text("page_token")
    )
    metrics = selectors.last_metrics(found)
    return page("runs", [run_json(row, metrics[row.id]) for row in found], token)


__all__ = ["uuid_of"]
