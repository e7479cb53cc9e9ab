"""Create, change, trash and restore registered models."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.db import IntegrityError, transaction

from portal.core import clock, texts
from portal.core.errors import Conflict, NotFound
from portal.core.events import changes
from portal.core.messages import Message
from registry.models import ModelVersion, RegisteredModel
from registry.names import checked_card, checked_name, merged_tags
from registry.services.records import check_unchanged, locked_model, record_model, shortened
from registry.storage import release
from workspaces.access.actors import Actor, authorize
from workspaces.access.permissions import Permission
from workspaces.models import Team


@transaction.atomic
def create_model(
    *,
    actor: Actor,
    team: Team,
    name: str,
    description: str = "",
    tags: Mapping[str, Any] | None = None,
    requires_approval: bool = False,
) -> RegisteredModel:
    """Create a model without versions. Raises Conflict, InvalidInput, NotPermitted."""
    authorize(actor, Permission.MODELS_WRITE, team)
    assert actor.user_id is not None
    row = RegisteredModel(
        org_id=team.org_id,
        team=team,
        owner_id=actor.user_id,
        name=checked_name(name),
        description=checked_card(description),
        tags=merged_tags({}, tags or {}),
        requires_approval=requires_approval,
    )
    _save_new_name(row)
    record_model("created", actor, row, after=shortened(_facts(row)))
    return row


@transaction.atomic
def update_model(
    *,
    actor: Actor,
    model: RegisteredModel,
    name: str | None = None,
    description: str | None = None,
    tags: Mapping[str, Any] | None = None,
    requires_approval: bool | None = None,
    seen_at: datetime | None = None,
    was: str | None = None,
) -> RegisteredModel:
    """Change what is given. A tag of None is deleted; the other tags stay.

    Only approvers change `requires_approval`. `seen_at` is `updated_at` as the client has read it;
    `was` is the mark of the description as a person has read it.
    Raises Conflict if somebody else was faster or the name is taken, InvalidInput, NotPermitted.
    """
    authorize(actor, Permission.MODELS_WRITE, model.team_id)
    row = locked_model(model)
    check_unchanged(row, seen_at)
    texts.check_unchanged("description", row.description, was)
    before = _facts(row)
    if name is not None:
        row.name = checked_name(name)
    if description is not None:
        row.description = checked_card(description)
    if tags is not None:
        row.tags = merged_tags(row.tags, tags)
    if requires_approval is not None and requires_approval != row.requires_approval:
        authorize(actor, Permission.MODELS_APPROVE, model.team_id)
        row.requires_approval = requires_approval
    after = _facts(row)
    if before != after:
        row.updated_at = clock.now()
        _save_new_name(row)
        moved = changes(before, after)
        record_model("updated", actor, row, **{k: shortened(v) for k, v in moved.items()})
    return row


@transaction.atomic
def delete_model(*, actor: Actor, model: RegisteredModel) -> RegisteredModel:
    """Move a model with its versions to the trash; its name becomes free.

    Where a version is approved, only approvers may. Raises NotPermitted, Conflict.
    """
    authorize(actor, Permission.MODELS_WRITE, model.team_id)
    row = locked_model(model)
    if ModelVersion.objects.filter(model=row, approval=ModelVersion.Approval.APPROVED).exists():
        authorize(actor, Permission.MODELS_APPROVE, model.team_id)
    row.deleted_at = row.updated_at = clock.now()
    row.save(update_fields=["deleted_at", "updated_at"])
    record_model("deleted", actor, row, before={"aliases": row.aliases})
    return row


@transaction.atomic
def restore_model(*, actor: Actor, model: RegisteredModel) -> RegisteredModel:
    """Take a model out of the trash. Idempotent. Raises Conflict if its name was taken."""
    authorize(actor, Permission.MODELS_WRITE, model.team_id)
    row = _locked_anywhere(model)
    if row.deleted_at is not None:
        before = {"deleted_at": row.deleted_at.isoformat()}
        row.deleted_at, row.updated_at = None, clock.now()
        _save_new_name(row)
        record_model("restored", actor, row, before=before)
    return row


@transaction.atomic
def purge_model(*, actor: Actor, model: RegisteredModel) -> None:
    """Delete a model in the trash permanently, with its versions. Raises Conflict, NotPermitted."""
    authorize(actor, Permission.MODELS_WRITE, model.team_id)
    row = _locked_anywhere(model)
    if row.deleted_at is None:
        raise Conflict(Message("{name} is not in the trash.", name=row.name))
    versions = list(ModelVersion.objects.filter(model=row).select_related("model"))
    if any(v.approval == ModelVersion.Approval.APPROVED for v in versions):
        authorize(actor, Permission.MODELS_APPROVE, model.team_id)
    for version in versions:
        release(version)
    record_model("purged", actor, row, before={"versions": len(versions)})
    row.delete()


def _locked_anywhere(model: RegisteredModel) -> RegisteredModel:
    row = (
        RegisteredModel.objects.select_for_update(of=("self",), no_key=True)
        .select_related("team")
        .filter(id=model.id)
        .first()
    )
    if row is None:
        raise NotFound(Message("{name} was deleted.", name=model.name), code="no_model")
    return row  # type: ignore[no-any-return]


def _save_new_name(row: RegisteredModel) -> None:
    """Save the row. Raises Conflict if another model of the team has its name."""
    try:
        with transaction.atomic():
            row.save()
    except IntegrityError:
        raise Conflict(
            Message(
                "{team} already has a model {name}. Choose another name, or add a version to it.",
                team=row.team.slug,
                name=row.name,
            ),
            code="name_taken",
        ) from None


def _facts(row: RegisteredModel) -> dict[str, Any]:
    return {
        "name": row.name,
        "description": row.description,
        "tags": dict(row.tags),
        "requires_approval": row.requires_approval,
    }
