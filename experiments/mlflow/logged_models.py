"""Logged models of MLflow 3."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from experiments import search, selectors, services
from experiments.mlflow.calls import Call, integer, invalid, number
from experiments.mlflow.represent import logged_model_json, page
from experiments.mlflow.routes import route
from experiments.mlflow.rows import experiment_of, experiments_of, model_of, run_of
from experiments.models import Run
from portal.core.errors import InvalidInput, NotFound
from portal.core.messages import Message

_STATUSES = {
    "1": "LOGGED_MODEL_PENDING",
    "2": "LOGGED_MODEL_READY",
    "3": "LOGGED_MODEL_UPLOAD_FAILED",
}
_MOST = 50_000


@route("POST", "logged-models")
def create(call: Call) -> Any:
    experiment = experiment_of(call, call.required("experiment_id"))
    run_id = call.text("source_run_id")
    row = services.create_logged_model(
        actor=call.actor,
        experiment=experiment,
        name=call.text("name"),
        model_type=call.text("model_type"),
        run=run_of(call, run_id) if run_id else None,
        params=call.pairs("params"),
        tags=call.pairs("tags"),
    )
    return {"model": logged_model_json(row)}


@route("GET", "logged-models/{model_id}")
def get(call: Call, model_id: str) -> Any:
    row = model_of(call, model_id, with_trash=call.flag("allow_deleted"))
    return {"model": logged_model_json(row)}


@route("PATCH", "logged-models/{model_id}")
def finalize(call: Call, model_id: str) -> Any:
    given = call.required("status")
    status = _STATUSES.get(given, given)
    if status not in _STATUSES.values():
        raise invalid("status", given)
    row = services.finalize_logged_model(
        actor=call.actor, model=model_of(call, model_id), status=status
    )
    return {"model": logged_model_json(row)}


@route("DELETE", "logged-models/{model_id}")
def delete(call: Call, model_id: str) -> Any:
    services.delete_logged_model(actor=call.actor, model=model_of(call, model_id))


@route("PATCH", "logged-models/{model_id}/tags")
def set_tags(call: Call, model_id: str) -> Any:
    services.set_logged_model_tags(
        actor=call.actor, model=model_of(call, model_id), tags=call.pairs("tags")
    )


@route("DELETE", "logged-models/{model_id}/tags/{key...}")
def delete_tag(call: Call, model_id: str, key: str) -> Any:
    row = model_of(call, model_id)
    if key not in row.tags:
        raise NotFound(
            Message(
                "No tag with key '{key}' found for model with ID '{model_id}'.",
                key=key,
                model_id=model_id,
            )
        )
    services.delete_logged_model_tag(actor=call.actor, model=row, key=key)


@route("POST", "logged-models/{model_id}/params")
def log_params(call: Call, model_id: str) -> Any:
    services.log_logged_model_params(
        actor=call.actor, model=model_of(call, model_id), params=call.pairs("params")
    )


@route("POST", "logged-models/search")
def search_models(call: Call) -> Any:
    experiments = experiments_of(call, call.texts("experiment_ids"))
    rows = selectors.visible_logged_models(call.actor).filter(experiment__in=experiments)
    datasets = [
        (str(each.get("dataset_name") or _no_dataset()), each.get("dataset_digest"))
        for each in call.objects("datasets")
    ]
    order = [
        f"{each.get('field_name', '')} {'ASC' if each.get('ascending', True) else 'DESC'}"
        for each in call.objects("order_by")
    ]
    rows = search.search_logged_models(rows, call.text("filter"), order)
    found, token = search.page_of(
        rows.select_related("experiment"),
        limit=call.limit("max_results", 100, _MOST),
        token=call.text("page_token"),
    )
    models = [row for row in found if not datasets or _has_dataset(row.metrics, datasets)]
    return page("models", [logged_model_json(row) for row in models], token)


def _has_dataset(
    metrics: Sequence[Mapping[str, Any]], datasets: Sequence[tuple[str, str | None]]
) -> bool:
    return any(
        each.get("dataset_name") == name and digest in (None, "", each.get("dataset_digest"))
        for each in metrics
        for name, digest in datasets
    )


def _no_dataset() -> str:
    raise InvalidInput(Message("`dataset_name` in the `datasets` clause must be specified."))


def log_model_metrics(call: Call, run: Run, metrics: Sequence[Mapping[str, Any]]) -> None:
    """Add those points of a run that name a logged model to that model, too."""
    by_model: dict[str, list[dict[str, Any]]] = {}
    for each in metrics:
        if model_id := each.get("model_id"):
            by_model.setdefault(str(model_id), []).append(
                {
                    "key": str(each["key"]),
                    "value": number("value", each["value"]),
                    "timestamp": integer("timestamp", each["timestamp"]),
                    "step": integer("step", each.get("step") or 0),
                    "dataset_name": str(each.get("dataset_name") or ""),
                    "dataset_digest": str(each.get("dataset_digest") or ""),
                    "run_id": run.id.hex,
                }
            )
    for model_id, points in by_model.items():
        services.log_logged_model_metrics(
            actor=call.actor, model=model_of(call, model_id), metrics=points
        )
