"""Registered models and their versions. A model's name is unique in its team."""

from __future__ import annotations

from typing import Any

from experiments import search
from experiments.mlflow.calls import Call
from experiments.mlflow.represent import ROOT, ms, page, pairs, without_empty
from experiments.mlflow.routes import route
from experiments.mlflow.rows import uuid_of
from portal.core.errors import InvalidInput, NotFound
from portal.core.messages import Message
from registry import selectors, services
from registry.models import ModelVersion, RegisteredModel
from registry.names import STAGES, checked_alias, checked_stage
from registry.services.versions import About

_NO_DEPLOYMENT = Message("models have no deployment jobs here")
_MOST_MODELS, _MOST_VERSIONS = 1000, 200_000


@route("POST", "registered-models/create", fields="name tags description deployment_job_id")
def create_model(call: Call) -> Any:
    call.refuse("deployment_job_id", _NO_DEPLOYMENT)
    row = services.create_model(
        actor=call.actor,
        team=call.team,
        name=call.required("name"),
        description=call.text("description"),
        tags=call.pairs("tags"),
    )
    return {"registered_model": model_json(row, [])}


@route("GET", "registered-models/get", fields="name")
def get_model(call: Call) -> Any:
    row = model_of(call)
    return {"registered_model": model_json(row, latest_versions(row))}


@route("POST", "registered-models/rename", fields="name new_name")
def rename_model(call: Call) -> Any:
    row = services.update_model(
        actor=call.actor, model=model_of(call), name=call.required("new_name")
    )
    return {"registered_model": model_json(row, latest_versions(row))}


@route("PATCH", "registered-models/update", fields="name description deployment_job_id")
def update_model(call: Call) -> Any:
    call.refuse("deployment_job_id", _NO_DEPLOYMENT)
    row = services.update_model(
        actor=call.actor, model=model_of(call), description=call.text("description")
    )
    return {"registered_model": model_json(row, latest_versions(row))}


@route("DELETE", "registered-models/delete", fields="name")
def delete_model(call: Call) -> Any:
    services.delete_model(actor=call.actor, model=model_of(call))


@route("GET", "registered-models/search", fields="filter max_results order_by page_token")
@route("GET", "registered-models/list", fields="filter max_results order_by page_token")
def search_models(call: Call) -> Any:
    rows = selectors.visible_models(call.actor)
    if call.team_slug:
        rows = rows.filter(team=call.team)
    rows = search.search_registered_models(rows, call.text("filter"), call.texts("order_by"))
    found, token = search.page_of(
        rows, limit=call.limit("max_results", 100, _MOST_MODELS), token=call.text("page_token")
    )
    return page(
        "registered_models", [model_json(row, latest_versions(row)) for row in found], token
    )


@route("GET", "registered-models/get-latest-versions", fields="name stages")
@route("POST", "registered-models/get-latest-versions", fields="name stages")
def get_latest_versions(call: Call) -> Any:
    rows = latest_versions(model_of(call))
    stages = {checked_stage(stage) for stage in call.texts("stages")}
    found = [row for row in rows if not stages or row.stage in stages]
    return page("model_versions", [version_json(row) for row in found], "")


@route("POST", "registered-models/set-tag", fields="name key value")
def set_model_tag(call: Call) -> Any:
    tags = {call.required("key"): call.text("value")}
    services.update_model(actor=call.actor, model=model_of(call), tags=tags)


@route("DELETE", "registered-models/delete-tag", fields="name key")
def delete_model_tag(call: Call) -> Any:
    services.update_model(actor=call.actor, model=model_of(call), tags={call.required("key"): None})


@route("POST", "registered-models/alias", fields="name alias version")
def set_alias(call: Call) -> Any:
    alias = checked_alias(call.required("alias"))
    services.set_alias(actor=call.actor, version=version_of(call), alias=alias)


@route("DELETE", "registered-models/alias", fields="name alias")
def delete_alias(call: Call) -> Any:
    alias = checked_alias(call.required("alias"), may_be_reserved=True)
    row = model_of(call)
    if alias in row.aliases:  # MLflow's server ignores others
        services.delete_alias(actor=call.actor, model=row, alias=alias)


@route("GET", "registered-models/alias", fields="name alias")
def get_by_alias(call: Call) -> Any:
    alias = checked_alias(call.required("alias"), may_be_reserved=True)
    model = model_of(call)
    if alias not in model.aliases and alias != "latest":
        raise InvalidInput(Message("Registered model alias {alias} not found.", alias=alias[:100]))
    return {"model_version": version_json(selectors.find_version(call.actor, model, alias))}


@route(
    "POST", "model-versions/create", fields="name source run_id tags run_link description model_id"
)
def create_version(call: Call) -> Any:
    model, source = model_of(call), call.required("source")
    run_id, logged = call.text("run_id"), call.text("model_id")
    call.refuse("run_link", Message("the run of a version is named by run_id"))
    row = services.create_version(
        actor=call.actor,
        model=model,
        about=About(
            source=source,
            run_id=uuid_of(run_id) if run_id else None,
            logged_model_id=uuid_of(logged.removeprefix("m-")) if logged else None,
            description=call.text("description"),
            tags=call.pairs("tags"),
        ),
    )
    return {"model_version": version_json(row)}


@route("GET", "model-versions/get", fields="name version")
def get_version(call: Call) -> Any:
    return {"model_version": version_json(version_of(call))}


@route("PATCH", "model-versions/update", fields="name version description")
def update_version(call: Call) -> Any:
    row = services.update_version(
        actor=call.actor, version=version_of(call), description=call.text("description")
    )
    return {"model_version": version_json(row)}


@route("DELETE", "model-versions/delete", fields="name version")
def delete_version(call: Call) -> Any:
    services.delete_version(actor=call.actor, version=version_of(call))


@route(
    "POST", "model-versions/transition-stage", fields="name version stage archive_existing_versions"
)
def transition_stage(call: Call) -> Any:
    stage, archive = checked_stage(call.required("stage")), call.flag("archive_existing_versions")
    row = services.set_stage(
        actor=call.actor,
        version=version_of(call),
        stage=stage,
        archive_existing_versions=archive,
    )
    return {"model_version": version_json(row)}


@route("GET", "model-versions/search", fields="filter max_results order_by page_token")
def search_versions(call: Call) -> Any:
    rows = selectors.visible_versions(call.actor)
    if call.team_slug:
        rows = rows.filter(model__team=call.team)
    rows = search.search_model_versions(rows, call.text("filter"), call.texts("order_by"))
    found, token = search.page_of(
        rows,
        limit=call.limit("max_results", 10_000, _MOST_VERSIONS),
        token=call.text("page_token"),
    )
    return page("model_versions", [version_json(row) for row in found], token)


@route("GET", "model-versions/get-download-uri", fields="name version")
def get_download_uri(call: Call) -> Any:
    return {"artifact_uri": f"{ROOT}registered-models/{version_of(call).id.hex}"}


@route("POST", "model-versions/set-tag", fields="name version key value")
def set_version_tag(call: Call) -> Any:
    tags = {call.required("key"): call.text("value")}
    services.update_version(actor=call.actor, version=version_of(call), tags=tags)


@route("DELETE", "model-versions/delete-tag", fields="name version key")
def delete_version_tag(call: Call) -> Any:
    services.update_version(
        actor=call.actor, version=version_of(call), tags={call.required("key"): None}
    )


def model_of(call: Call) -> RegisteredModel:
    """Return the model that a request names. Raises NotFound."""
    name = call.required("name")
    try:
        return selectors.find_model(call.actor, call.team, name)
    except NotFound as error:
        raise NotFound(
            Message("Registered Model with name={name} not found", name=name[:250])
        ) from error


def version_of(call: Call) -> ModelVersion:
    """Return the version that a request names. Raises NotFound, InvalidInput."""
    number = call.required("version")
    if not (number.isascii() and number.isdigit() and len(number) < 10):
        raise InvalidInput(Message("Model version must be an integer, got '{n}'", n=number[:40]))
    model = model_of(call)
    try:
        return selectors.find_version(call.actor, model, int(number))
    except NotFound as error:
        raise NotFound(
            Message(
                "Model Version (name={name}, version={number}) not found",
                name=model.name,
                number=number,
            )
        ) from error


def latest_versions(model: RegisteredModel) -> list[ModelVersion]:
    """Return the last version of each stage."""
    found: dict[str, ModelVersion] = {}
    for row in selectors.versions_of(model):
        row.model = model
        found.setdefault(row.stage, row)
    return [found[stage] for stage in STAGES if stage in found]


def model_json(row: RegisteredModel, latest: list[ModelVersion]) -> dict[str, Any]:
    """Return a registered model."""
    return {"description": row.description} | without_empty(
        {
            "name": row.name,
            "creation_timestamp": ms(row.created_at),
            "last_updated_timestamp": ms(row.updated_at),
            "latest_versions": [version_json(each) for each in latest],
            "tags": pairs(row.tags),
            "aliases": [
                {"alias": alias, "version": str(number)}
                for alias, number in sorted(row.aliases.items())
            ],
        }
    )


def version_json(row: ModelVersion) -> dict[str, Any]:
    """Return a version. Reads `row.model`."""
    return {"description": row.description} | without_empty(
        {
            "name": row.model.name,
            "version": str(row.version),
            "creation_timestamp": ms(row.created_at),
            "last_updated_timestamp": ms(row.updated_at),
            "current_stage": row.stage,
            "source": row.source,
            "run_id": row.run_id.hex if row.run_id else "",
            "status": row.status,
            "status_message": row.status_message,
            "tags": pairs(row.tags),
            "aliases": selectors.aliases_of(row),
            "model_id": f"m-{row.logged_model_id.hex}" if row.logged_model_id else "",
        }
    )


def version_files(call: Call, version_id: str) -> ModelVersion:
    """Return the version whose files a download URI names. Raises NotFound."""
    row = selectors.visible_versions(call.actor).filter(id=uuid_of(version_id)).first()
    if row is None:
        raise NotFound(Message("There is no version {text}.", text=repr(version_id[:100])))
    selectors.check_may_read(call.actor, row.model)
    return row
