"""Lock rows, check conditions and record events: what all services of the registry share."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from portal.core.errors import Conflict, NotFound
from portal.core.events import EventRecord, record
from portal.core.messages import Message
from registry.models import ModelVersion, RegisteredModel
from workspaces.access.actors import Actor


def locked_model(model: RegisteredModel) -> RegisteredModel:
    """Lock a model until the transaction ends and return its row.

    Writers of versions and aliases lock it first. Raises Conflict for a model in the trash.
    """
    row = (
        RegisteredModel.objects.select_for_update(of=("self",), no_key=True)
        .select_related("team")
        .filter(id=model.id)
        .first()
    )
    if row is None:
        raise NotFound(Message("{name} was deleted.", name=model.name), code="no_model")
    if row.deleted_at is not None:
        raise Conflict(
            Message("{name} is in the trash. Restore it first.", name=row.name), code="deleted"
        )
    return row  # type: ignore[no-any-return]


def locked_version(version: ModelVersion) -> ModelVersion:
    """Lock a version and its model until the transaction ends and return its row."""
    model = locked_model(version.model)
    row = (
        ModelVersion.objects.select_for_update(of=("self",), no_key=True)
        .filter(id=version.id)
        .first()
    )
    if row is None:
        raise NotFound(Message("This version was deleted."), code="no_version")
    row.model = model
    return row  # type: ignore[no-any-return]


def check_unchanged(row: RegisteredModel | ModelVersion, seen_at: datetime | None) -> None:
    """Raise Conflict if the row was changed after a client has read it."""
    if seen_at is not None and row.updated_at != seen_at:
        raise Conflict(
            Message("Somebody has changed this in the meantime. Reload, and change it again."),
            code="changed",
        )


def record_model(kind: str, actor: Actor, model: RegisteredModel, **data: Any) -> None:
    """Record an event of a model."""
    named = {"name": model.name, "team": model.team.slug}
    record(
        EventRecord(
            f"model.{kind}", model.org_id, "model", model.id, actor.email, {**named, **data}
        )
    )


def record_version(kind: str, actor: Actor, version: ModelVersion, **data: Any) -> None:
    """Record an event of a version; its subject is the model."""
    record_model(kind, actor, version.model, version=version.version, **data)


def shortened(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return values for an event, long texts cut."""
    return {
        name: f"{value[:200]}…" if isinstance(value, str) and len(value) > 200 else value
        for name, value in values.items()
    }
