"""Logged models of MLflow 3."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django.db import transaction

from experiments.models import Experiment, LoggedModel, Run
from experiments.services import limits
from experiments.services.experiments import lock as lock_experiment
from experiments.services.runs import random_name
from portal.core import clock
from portal.core.errors import Conflict, InvalidInput, NotFound
from portal.core.events import EventRecord, record
from portal.core.messages import Message
from workspaces.access.actors import Actor, authorize
from workspaces.access.permissions import Permission

STATUSES = ("LOGGED_MODEL_PENDING", "LOGGED_MODEL_READY", "LOGGED_MODEL_UPLOAD_FAILED")
MOST_METRICS = 10_000


@transaction.atomic
def create_logged_model(
    *,
    actor: Actor,
    experiment: Experiment,
    name: str = "",
    model_type: str = "",
    run: Run | None = None,
    params: Mapping[str, str] | None = None,
    tags: Mapping[str, str] | None = None,
) -> LoggedModel:
    """Create a logged model whose files follow. Raises NotPermitted, InvalidInput, Conflict."""
    here = lock_experiment(actor, experiment)
    limits.check_texts("params", params or {}, limits.PARAM_VALUE)
    limits.check_texts("tags", tags or {}, limits.TAG_VALUE)
    limits.check_text("model_type", model_type, limits.NAME)
    assert actor.user_id is not None
    row: LoggedModel = LoggedModel.objects.create(
        org_id=here.org_id,
        experiment=here,
        run=run,
        owner_id=actor.user_id,
        name=limits.clean_name(name or random_name()),
        model_type=model_type,
        params=dict(params or {}),
        tags=dict(tags or {}),
    )
    _record(actor, row, "logged_model.created", {"after": {"name": row.name}})
    return row


@transaction.atomic
def finalize_logged_model(*, actor: Actor, model: LoggedModel, status: str) -> LoggedModel:
    """Say that the files are complete, or that they failed.

    Raises NotPermitted, InvalidInput, Conflict.
    """
    if status not in STATUSES:
        raise InvalidInput.at(
            "status",
            Message(
                "must be one of {names}", context="error of a field", names=", ".join(STATUSES)
            ),
        )
    row = _lock(actor, model)
    row.status = status
    return _save(row, "status")


@transaction.atomic
def set_logged_model_tags(
    *, actor: Actor, model: LoggedModel, tags: Mapping[str, str]
) -> LoggedModel:
    """Add tags, or replace their values. Raises NotPermitted, InvalidInput, Conflict."""
    limits.check_texts("tags", tags, limits.TAG_VALUE)
    row = _lock(actor, model)
    row.tags = {**row.tags, **tags}
    return _save(row, "tags")


@transaction.atomic
def delete_logged_model_tag(*, actor: Actor, model: LoggedModel, key: str) -> LoggedModel:
    """Delete a tag. Raises NotPermitted, NotFound, Conflict."""
    row = _lock(actor, model)
    if key not in row.tags:
        raise NotFound(Message("{name} has no tag {key}.", name=row.name, key=key[:250]))
    row.tags = {name: value for name, value in row.tags.items() if name != key}
    return _save(row, "tags")


@transaction.atomic
def log_logged_model_params(
    *, actor: Actor, model: LoggedModel, params: Mapping[str, str]
) -> LoggedModel:
    """Add params, which are written once. Raises NotPermitted, InvalidInput, Conflict."""
    limits.check_texts("params", params, limits.PARAM_VALUE)
    row = _lock(actor, model)
    for key, value in params.items():
        if row.params.get(key, value) != value:
            raise InvalidInput.at(
                "params", Message("has another value of {key} than was logged before", key=key)
            )
    row.params = {**row.params, **params}
    return _save(row, "params")


@transaction.atomic
def log_logged_model_metrics(
    *, actor: Actor, model: LoggedModel, metrics: Sequence[Mapping[str, Any]]
) -> LoggedModel:
    """Add points, as `LoggedModel.metrics` has them; of each key and dataset the last remains.

    Raises NotPermitted, InvalidInput, Conflict.
    """
    for each in metrics:
        limits.check_key("metrics", each["key"])
    row = _lock(actor, model)
    found: dict[tuple[str, ...], Mapping[str, Any]] = {}
    for each in [*row.metrics, *map(_storable, metrics)]:
        names = ("key", "dataset_name", "dataset_digest", "run_id")
        identity = tuple(str(each.get(name) or "") for name in names)
        if identity not in found or _place(each) >= _place(found[identity]):
            found[identity] = each
    if len(found) > MOST_METRICS:
        raise InvalidInput.at(
            "metrics", Message("would be more than {most} of this model", most=MOST_METRICS)
        )
    row.metrics = list(found.values())
    return _save(row, "metrics")


@transaction.atomic
def delete_logged_model(*, actor: Actor, model: LoggedModel) -> None:
    """Move a logged model to the trash. Idempotent. Raises NotPermitted."""
    row = _lock(actor, model, is_in_trash=None)
    if row.deleted_at is None:
        row.deleted_at = clock.now()
        _save(row, "deleted_at")
        _record(actor, row, "logged_model.deleted", {"before": {"name": row.name}})


def _lock(actor: Actor, model: LoggedModel, *, is_in_trash: bool | None = False) -> LoggedModel:
    authorize(actor, Permission.EXPERIMENTS_WRITE, model.experiment.team_id)
    rows = LoggedModel.objects.select_for_update(of=("self",), no_key=True)
    row = rows.select_related("experiment").filter(id=model.id).first()
    if row is None:
        raise NotFound(Message("There is no model {x} that you can see.", x=f"m-{model.id.hex}"))
    if is_in_trash is False and row.deleted_at is not None:
        raise Conflict(
            Message("{name} is in the trash. Restore it first.", name=row.name), code="deleted"
        )
    return row  # type: ignore[no-any-return]


def _storable(each: Mapping[str, Any]) -> dict[str, Any]:
    """Return a point for JSON, which has neither NaN nor infinities."""
    value = float(each["value"])
    text = {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}.get(str(value))
    return {**each, "value": text or value}


def _place(each: Mapping[str, Any]) -> tuple[int, int]:
    return int(each.get("step") or 0), int(each.get("timestamp") or 0)


def _save(row: LoggedModel, field: str) -> LoggedModel:
    row.updated_at = clock.now()
    row.save(update_fields=[field, "updated_at"])
    return row


def _record(actor: Actor, row: LoggedModel, kind: str, data: Mapping[str, Any]) -> None:
    about = {"name": row.name, **data}
    record(EventRecord(kind, row.org_id, "logged-model", row.id, actor.email, about))
