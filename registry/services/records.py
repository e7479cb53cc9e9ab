"""Lock rows, check conditions and record events: what all services of the registry share."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from portal.core import clock
from portal.core.errors import Conflict, NotFound
from portal.core.events import EventRecord, record
from portal.core.messages import Message
from portal.core.trash import Trash
from registry import storage
from registry.models import ModelVersion, RegisteredModel
from workspaces.access.actors import Actor
from workspaces.approvals.services import forget_subjects


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


def touch_model(version: ModelVersion) -> None:
    """Move the time of a version's model, which is locked."""
    version.model.updated_at = clock.now()
    version.model.save(update_fields=["updated_at"])


def check_unchanged(row: RegisteredModel | ModelVersion, seen_at: datetime | None) -> None:
    """Raise Conflict if the row was changed after a client has read it."""
    if seen_at is not None and row.updated_at != seen_at:
        raise Conflict(
            Message("Somebody has changed this in the meantime. Reload, and change it again."),
            code="changed",
        )


def record_model(kind: str, by: str, model: RegisteredModel, **data: Any) -> None:
    """Record an event of a model."""
    named = {"name": model.name, "team": model.team.slug}
    record(EventRecord(f"model.{kind}", model.org_id, "model", model.id, by, {**named, **data}))


def record_version(kind: str, actor: Actor, version: ModelVersion, **data: Any) -> None:
    """Record an event of a version; its subject is the model."""
    record_model(kind, actor.email, version.model, version=version.version, **data)


def shortened(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return values for an event, long texts cut."""
    return {
        name: f"{value[:200]}…" if isinstance(value, str) and len(value) > 200 else value
        for name, value in values.items()
    }


def _taken(row: RegisteredModel) -> Conflict:
    return Conflict.at(
        "name",
        Message(
            "{team} already has a model {name}. Choose another name, or add a version to it.",
            team=row.team.slug,
            name=row.name,
        ),
        code="name_taken",
    )


def _free(row: RegisteredModel) -> dict[str, Any]:
    versions = list(ModelVersion.objects.filter(model=row).select_related("model"))
    for version in versions:
        storage.release(version)
    forget_subjects([version.id for version in versions])
    return {"versions": len(versions)}


TRASH = Trash(RegisteredModel, "no_model", _taken, record_model, _free, related=("team",))
locked_model = TRASH.locked  # writers of versions and aliases lock the model first
