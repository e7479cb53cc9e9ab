"""Create, change, trash and restore registered models."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.db import transaction

from portal.core import clock, texts
from portal.core.events import changes
from registry.models import ModelVersion, RegisteredModel
from registry.names import checked_card, checked_name, merged_tags
from registry.services.records import (
    TRASH,
    check_unchanged,
    locked_model,
    record_model,
    shortened,
)
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
    TRASH.save(row)
    record_model("created", actor.email, row, after=shortened(_facts(row)))
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
        TRASH.save(row)
        moved = changes(before, after)
        record_model("updated", actor.email, row, **{k: shortened(v) for k, v in moved.items()})
    return row


@transaction.atomic
def delete_model(*, actor: Actor, model: RegisteredModel) -> RegisteredModel:
    """Move a model with its versions to the trash; its name becomes free.

    Where a version is approved, only approvers may. Raises NotPermitted, Conflict.
    """
    authorize(actor, Permission.MODELS_WRITE, model.team_id)
    row = locked_model(model)
    _check_may_delete(actor, row)
    return TRASH.put(row, actor.email, {"aliases": row.aliases})


@transaction.atomic
def restore_model(*, actor: Actor, model: RegisteredModel) -> RegisteredModel:
    """Take a model out of the trash. Idempotent. Raises Conflict if its name was taken."""
    authorize(actor, Permission.MODELS_WRITE, model.team_id)
    return TRASH.restore(model, actor.email)


@transaction.atomic
def purge_model(*, actor: Actor, model: RegisteredModel) -> None:
    """Delete a model in the trash permanently, with its versions. Raises Conflict, NotPermitted."""
    authorize(actor, Permission.MODELS_WRITE, model.team_id)
    row = TRASH.locked(model, with_trash=True, is_to_be_purged=True)
    _check_may_delete(actor, row)
    TRASH.purge(row, actor.email)


def _check_may_delete(actor: Actor, row: RegisteredModel) -> None:
    """Raise NotPermitted where a version is approved, unless the actor may approve."""
    if ModelVersion.objects.filter(model=row, approval=ModelVersion.Approval.APPROVED).exists():
        authorize(actor, Permission.MODELS_APPROVE, row.team_id)


def _facts(row: RegisteredModel) -> dict[str, Any]:
    return {
        "name": row.name,
        "description": row.description,
        "tags": dict(row.tags),
        "requires_approval": row.requires_approval,
    }
