"""Point aliases at versions, and set the stages of old clients."""

from __future__ import annotations

from django.db import transaction

from portal.core import clock
from portal.core.errors import Conflict, InvalidInput, NotFound
from portal.core.messages import Message
from registry.models import ModelVersion, RegisteredModel
from registry.names import checked_alias, checked_stage
from registry.services.records import (
    locked_model,
    locked_version,
    record_model,
    record_version,
    touch_model,
)
from registry.services.versions import check_is_ready
from workspaces.access.actors import Actor, authorize
from workspaces.access.permissions import Permission

MOST_ALIASES = 100
PRODUCTION, ARCHIVED, NO_STAGE = "Production", "Archived", "None"


@transaction.atomic
def set_alias(
    *, actor: Actor, version: ModelVersion, alias: str, if_version: int | None = None
) -> RegisteredModel:
    """Point an alias at a version, moving it from another one. Idempotent.

    With `if_version`, only if the alias points there now; 0 means that it does not exist yet. Where
    the model requires approval, the version must be approved. Raises Conflict, InvalidInput,
    NotPermitted.
    """
    authorize(actor, Permission.MODELS_WRITE, version.model.team_id)
    name = checked_alias(alias)
    row = locked_version(version)
    model = row.model
    before = model.aliases.get(name)
    _check_condition(name, before, if_version)
    check_is_ready(row)
    _check_approved(row)
    if before == row.version:
        return model
    if before is None and len(model.aliases) >= MOST_ALIASES:
        raise InvalidInput.at("alias", Message("must be one of at most {n}", n=MOST_ALIASES))
    _write_aliases(model, {**model.aliases, name: row.version})
    was = {} if before is None else {"before": {"alias": name, "version": before}}
    record_model(
        "alias_set", actor.email, model, **was, after={"alias": name, "version": row.version}
    )
    return model


@transaction.atomic
def delete_alias(
    *, actor: Actor, model: RegisteredModel, alias: str, if_version: int | None = None
) -> RegisteredModel:
    """Delete an alias, with `if_version` only if it points there. Raises NotFound, Conflict."""
    authorize(actor, Permission.MODELS_WRITE, model.team_id)
    row = locked_model(model)
    if alias not in row.aliases:
        raise NotFound(
            Message("{name} has no alias {alias}.", name=row.name, alias=repr(alias[:80])),
            code="no_alias",
        )
    _check_condition(alias, row.aliases[alias], if_version)
    before = {"alias": alias, "version": row.aliases[alias]}
    _write_aliases(row, {name: v for name, v in row.aliases.items() if name != alias})
    record_model("alias_deleted", actor.email, row, before=before)
    return row


@transaction.atomic
def set_stage(
    *,
    actor: Actor,
    version: ModelVersion,
    stage: str,
    archive_existing_versions: bool = False,
    was: str | None = None,
) -> ModelVersion:
    """Set the stage of a version, for clients before aliases; `was` is the stage that was read.

    With `archive_existing_versions`, other versions in that stage become Archived. Raises
    InvalidInput, Conflict, NotPermitted.
    """
    authorize(actor, Permission.MODELS_WRITE, version.model.team_id)
    stage = checked_stage(stage)
    row = locked_version(version)
    check_is_ready(row)
    if was not in {None, row.stage}:
        raise Conflict(
            Message("Somebody has changed this in the meantime. Reload, and change it again."),
            code="changed",
        )
    if stage == PRODUCTION:
        _check_approved(row)
    if archive_existing_versions and stage not in {ARCHIVED, NO_STAGE}:
        others = ModelVersion.objects.filter(model=row.model, stage=stage).exclude(id=row.id)
        for other in others.select_related("model__team"):
            _move(actor, other, ARCHIVED)
    _move(actor, row, stage)
    return row


def _move(actor: Actor, version: ModelVersion, stage: str) -> None:
    before = version.stage
    if before != stage:
        version.stage, version.updated_at = stage, clock.now()
        version.save(update_fields=["stage", "updated_at"])
        touch_model(version)
        record_version(
            "stage_set", actor, version, before={"stage": before}, after={"stage": stage}
        )


def _write_aliases(model: RegisteredModel, aliases: dict[str, int]) -> None:
    model.aliases, model.updated_at = aliases, clock.now()
    model.save(update_fields=["aliases", "updated_at"])


def _check_condition(alias: str, now: int | None, if_version: int | None) -> None:
    if if_version is not None and (now or 0) != if_version:
        raise Conflict(
            Message("The alias {alias} was moved in the meantime. Reload the page.", alias=alias)
            if now
            else Message("The alias {alias} was deleted in the meantime.", alias=alias),
            code="changed",
            data={"version": now},
        )


def _check_approved(version: ModelVersion) -> None:
    is_approved = version.approval == ModelVersion.Approval.APPROVED
    if version.model.requires_approval and not is_approved:
        raise Conflict(
            Message(
                "{name} requires approval, and version {version} is not approved. Request it first.",
                name=version.model.name,
                version=version.version,
            ),
            code="not_approved",
        )
