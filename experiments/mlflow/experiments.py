"""Experiments."""

from __future__ import annotations

from typing import Any

from experiments import jobs, search, selectors, services
from experiments.mlflow.calls import Call
from experiments.mlflow.errors import InvalidState
from experiments.mlflow.represent import experiment_json, page
from experiments.mlflow.routes import route
from experiments.mlflow.rows import active_experiment, experiment_of, view_type
from portal.core.errors import NotFound
from portal.core.messages import Message

_MOST = 50_000


@route("POST", "experiments/create", fields="name artifact_location tags")
def create(call: Call) -> Any:
    tags = call.pairs("tags")
    call.refuse("artifact_location", Message("files of experiments are stored in this portal"))
    row = services.create_experiment(
        actor=call.actor, team=call.team, name=call.required("name"), tags=tags
    )
    jobs.choose_experiment(call.actor, row)
    return {"experiment_id": str(row.number)}


@route("GET", "experiments/get", fields="experiment_id")
def get(call: Call) -> Any:
    return {"experiment": experiment_json(experiment_of(call, call.required("experiment_id")))}


@route("GET", "experiments/get-by-name", fields="experiment_name")
def get_by_name(call: Call) -> Any:
    name = call.required("experiment_name").strip()  # as where it is created
    if name == "Default":
        services.default_experiment(actor=call.actor, team=call.team)
    rows = selectors.visible_experiments(call.actor, view="all").filter(team=call.team, name=name)
    if (row := rows.first()) is None:
        raise NotFound(Message("Could not find experiment with name '{name}'", name=name))
    jobs.choose_experiment(call.actor, row)
    return {"experiment": experiment_json(row)}


@route("POST", "experiments/search", fields="max_results page_token filter order_by view_type")
@route("GET", "experiments/search", fields="max_results page_token filter order_by view_type")
@route("GET", "experiments/list", fields="max_results page_token filter order_by view_type")
def search_experiments(call: Call) -> Any:
    rows = selectors.visible_experiments(call.actor, view=view_type(call, "view_type"))
    if call.team_slug:
        rows = rows.filter(team=call.team)
    rows = search.search_experiments(rows, call.text("filter"), call.texts("order_by"))
    found, token = search.page_of(
        rows, limit=call.limit("max_results", 1000, _MOST), token=call.text("page_token")
    )
    return page("experiments", [experiment_json(row) for row in found], token)


@route("POST", "experiments/update", fields="experiment_id new_name")
def update(call: Call) -> Any:
    row = experiment_of(call, call.required("experiment_id"))
    name = call.required("new_name")
    if row.deleted_at is not None:
        raise InvalidState(Message("Cannot rename a non-active experiment."))
    services.update_experiment(actor=call.actor, experiment=row, name=name)


@route("POST", "experiments/delete", fields="experiment_id")
def delete(call: Call) -> Any:
    row = active_experiment(call, call.required("experiment_id"))
    services.delete_experiment(actor=call.actor, experiment=row)


@route("POST", "experiments/restore", fields="experiment_id")
def restore(call: Call) -> Any:
    row = experiment_of(call, call.required("experiment_id"))
    if row.deleted_at is None:
        raise NotFound(Message("No Experiment with id={number} exists", number=row.number))
    services.restore_experiment(actor=call.actor, experiment=row)


@route("POST", "experiments/set-experiment-tag", fields="experiment_id key value")
def set_tag(call: Call) -> Any:
    row = active_experiment(call, call.required("experiment_id"))
    tags = {call.required("key"): call.text("value")}
    services.set_experiment_tags(actor=call.actor, experiment=row, tags=tags)


@route("POST", "experiments/delete-experiment-tag", fields="experiment_id key")
def delete_tag(call: Call) -> Any:
    row = active_experiment(call, call.required("experiment_id"))
    key = call.required("key")
    if key not in row.tags:
        raise NotFound(
            Message(
                "No tag with name: {key} in experiment with id {number}", key=key, number=row.number
            )
        )
    services.delete_experiment_tag(actor=call.actor, experiment=row, key=key)
