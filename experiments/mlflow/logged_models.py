"""Logged models of MLflow 3."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from experiments import search, selectors, services
from experiments.mlflow.calls import Call, integer, invalid, number, text_in
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


@route("POST", "logged-models", fields="experiment_id name model_type source_run_id params tags")
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


@route("GET", "logged-models/{model_id}", fields="model_id allow_deleted")
def get(call: Call, model_id: str) -> Any:
    row = model_of(call, model_id, with_trash=call.flag("allow_deleted"))
    return {"model": logged_model_json(row)}


@route("PATCH", "logged-models/{model_id}", fields="model_id status")
def finalize(call: Call, model_id: str) -> Any:
    given = call.required("status")
    status = _STATUSES.get(given, given)
    if status not in _STATUSES.values():
        raise invalid("status", given)
    row = services.finalize_logged_model(
        actor=call.actor, model=model_of(call, model_id), status=status
    )
    return {"model": logged_model_json(row)}


@route("DELETE", "logged-models/{model_id}", fields="model_id")
def delete(call: Call, model_id: str) -> Any:
    services.delete_logged_model(actor=call.actor, model=model_of(call, model_id))


@route("PATCH", "logged-models/{model_id}/tags", fields="model_id tags")
def set_tags(call: Call, model_id: str) -> Any:
    services.set_logged_model_tags(
        actor=call.actor, model=model_of(call, model_id), tags=call.pairs("tags")
    )


@route("DELETE", "logged-models/{model_id}/tags/{key...}", fields="model_id tag_key")
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


@route("POST", "logged-models/{model_id}/params", fields="model_id params")
def log_params(call: Call, model_id: str) -> Any:
    services.log_logged_model_params(
        actor=call.actor, model=model_of(call, model_id), params=call.pairs("params")
    )


@route(
    "POST",
    "logged-models/search",
    fields="experiment_ids filter datasets max_results order_by page_token",
)
def search_models(call: Call) -> Any:
    experiments = experiments_of(call, call.texts("experiment_ids"))
    rows = selectors.visible_logged_models(call.actor).filter(experiment__in=experiments)
    order_by = call.objects("order_by")
    order = [
        f"{text_in(each, 'field_name')} {'DESC' if each.get('ascending') is False else 'ASC'}"
        for each in order_by
    ]
    rows = search.search_logged_models(
        rows,
        call.text("filter"),
        order,
        [_dataset(each) for each in call.objects("datasets")],
        {
            text_in(each, "field_name").partition(".")[2].strip('`"'): _dataset(each)
            for each in order_by
            if each.get("dataset_name") or each.get("dataset_digest")
        },
    )
    found, token = search.page_of(
        rows.select_related("experiment"),
        limit=call.limit("max_results", 100, _MOST),
        token=call.text("page_token"),
    )
    return page("models", [logged_model_json(row) for row in found], token)


def _dataset(given: Mapping[str, Any]) -> search.Dataset:
    name = text_in(given, "dataset_name")
    if not name:
        raise InvalidInput(Message("`dataset_name` in the `datasets` clause must be specified."))
    return search.Dataset(name, text_in(given, "dataset_digest"))


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
