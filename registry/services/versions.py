"""Create, change, delete and promote versions."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import transaction

from portal.blobs.paths import clean_path
from portal.blobs.store import file_store
from portal.core import clock, texts
from portal.core.errors import Conflict, InvalidInput, NotFound
from portal.core.events import changes
from portal.core.messages import Message
from registry import sources
from registry.inspection import inspect_files, signature_in
from registry.models import ModelFile, ModelVersion, RegisteredModel
from registry.names import checked_card, merged_tags
from registry.selectors import aliases_of, find_model, find_version
from registry.services.models import create_model
from registry.services.records import (
    check_unchanged,
    locked_model,
    locked_version,
    record_version,
    shortened,
    touch_model,
)
from registry.sources import SourceFile
from registry.storage import release
from workspaces.access.actors import Actor, authorize
from workspaces.access.permissions import Permission
from workspaces.approvals.services import forget_subjects
from workspaces.models import Team

MOST_FILES = 5000
Approval = ModelVersion.Approval
_VERSION_URI = re.compile(
    r"models:/(?P<name>[^/@]+)(?:/(?P<version>[0-9]{1,9}|latest)|@(?P<alias>[^/@]+))"
)
READY, PENDING = "READY", "PENDING_REGISTRATION"


@dataclass(frozen=True)
class About:
    """What a client says about a new version."""

    source: str = ""
    run_id: UUID | None = None
    logged_model_id: UUID | None = None
    description: str = ""
    tags: Mapping[str, Any] = field(default_factory=dict)
    signature: Mapping[str, Any] | None = None
    metrics: Mapping[str, float] = field(default_factory=dict)


def create_version(
    *,
    actor: Actor,
    model: RegisteredModel,
    about: About,
    files: Sequence[SourceFile] | None = None,
) -> ModelVersion:
    """Create a version from stored files that the actor may read.

    Without `files`, the source says them: a run, a logged model or a checkpoint
    (`registry.sources`), or a version of the same team such as `models:/resnet/3` and
    `models:/resnet@best`. Then metrics come from there as well. The files' headers are read before
    the version is visible. Raises InvalidInput, NotFound, Conflict, NotPermitted.
    """
    authorize(actor, Permission.MODELS_WRITE, model.team_id)
    metrics, run_id, logged_model_id = dict(about.metrics), about.run_id, about.logged_model_id
    checkpoint_id: UUID | None = None
    copied = None if files is not None else _version_at(actor, model, about.source)
    if copied is not None:
        files = _files(copied)
        metrics = {**copied.metrics, **metrics}
        run_id, logged_model_id = copied.run_id or run_id, copied.logged_model_id or logged_model_id
        checkpoint_id = copied.checkpoint_id
    if files is None:
        found = sources.find(actor, about.source, run_id, logged_model_id)
        files, metrics = found.files, {**found.metrics, **metrics}
        run_id, logged_model_id = found.run_id or run_id, found.logged_model_id or logged_model_id
        checkpoint_id = found.checkpoint_id
    files = checked_files(files)
    for file in files:
        file_store().keep(model.org_id, file.sha256)
    inspection = inspect_files(model.org_id, files)
    with transaction.atomic():
        if copied is not None:
            _lock_to_copy(copied, model)
        row = new_version(actor, model, about)
        row.run_id, row.logged_model_id, row.metrics = run_id, logged_model_id, metrics
        row.checkpoint_id = checkpoint_id
        row.status, row.inspection = READY, inspection
        row.signature = row.signature or signature_in(inspection)
        if copied is not None:
            row.signature = row.signature or copied.signature
            row.acknowledged_by, row.promoted_from = copied.acknowledged_by, copied
        row.save()
        _add_files(row, files)
        record_version("version_created", actor, row, after=_created(row, files))
    return row


def new_version(actor: Actor, model: RegisteredModel, about: About) -> ModelVersion:
    """Take the next number of a model, in the caller's transaction. Return the unsaved row."""
    assert actor.user_id is not None
    locked = locked_model(model)
    number = locked.next_version
    RegisteredModel.objects.filter(id=locked.id).update(
        next_version=number + 1, updated_at=clock.now()
    )
    if len(about.source) > 1000 or not about.source.isprintable():
        raise InvalidInput.at("source", Message("must be at most {n} characters long", n=1000))
    return ModelVersion(
        org_id=locked.org_id,
        model=locked,
        version=number,
        owner_id=actor.user_id,
        source=about.source,
        run_id=about.run_id,
        logged_model_id=about.logged_model_id,
        description=checked_card(about.description),
        tags=merged_tags({}, about.tags),
        signature=dict(about.signature) if about.signature else None,
        metrics=dict(about.metrics),
    )


def checked_files(files: Sequence[SourceFile]) -> list[SourceFile]:
    """Return the files by path. Raises InvalidInput for none, too many or bad paths."""
    if not files:
        raise InvalidInput.at(
            "source", Message("has no files. Log the model first, or upload its files")
        )
    if len(files) > MOST_FILES:
        raise InvalidInput.at(
            "files", Message("must be at most {n}", context="error of a field", n=MOST_FILES)
        )
    found = {clean_path(file.path): file for file in files}
    if len(found) < len(files):
        raise InvalidInput.at("files", Message("must each have a path of its own"))
    return [found[path] for path in sorted(found)]


@transaction.atomic
def update_version(
    *,
    actor: Actor,
    version: ModelVersion,
    description: str | None = None,
    tags: Mapping[str, Any] | None = None,
    seen_at: datetime | None = None,
    was: str | None = None,
) -> ModelVersion:
    """Change description and tags; of an approved version, only approvers may.

    A tag of None is deleted; the other tags stay. `was` is the mark of the description as a person
    has read it. Raises Conflict, InvalidInput, NotPermitted.
    """
    authorize(actor, Permission.MODELS_WRITE, version.model.team_id)
    row = locked_version(version)
    if row.approval == Approval.APPROVED:
        authorize(actor, Permission.MODELS_APPROVE, row.model.team_id)
    check_unchanged(row, seen_at)
    texts.check_unchanged("description", row.description, was)
    before = {"description": row.description, "tags": dict(row.tags)}
    if description is not None:
        row.description = checked_card(description)
    if tags is not None:
        row.tags = merged_tags(row.tags, tags)
    after = {"description": row.description, "tags": dict(row.tags)}
    if before != after:
        row.updated_at = clock.now()
        row.save(update_fields=["description", "tags", "updated_at"])
        moved = changes(before, after)
        record_version("version_updated", actor, row, **{k: shortened(v) for k, v in moved.items()})
    return row


@transaction.atomic
def delete_version(*, actor: Actor, version: ModelVersion) -> None:
    """Delete a version permanently. Its number is not used again.

    Raises Conflict while an alias points to it or it is approved, NotPermitted.
    """
    authorize(actor, Permission.MODELS_WRITE, version.model.team_id)
    row = locked_version(version)
    if names := aliases_of(row):
        raise Conflict(
            Message(
                "Version {version} has the alias {alias}. Remove it first.",
                version=row.version,
                alias=names[0],
            ),
            code="has_alias",
        )
    if row.approval == Approval.APPROVED:
        raise Conflict(
            Message(
                "Version {version} is approved. An approver must revoke that first.",
                version=row.version,
            ),
            code="approved",
        )
    release(row)
    touch_model(row)
    record_version("version_deleted", actor, row, before={"source": row.source, "tags": row.tags})
    forget_subjects([row.id])
    row.delete()


def promote_version(
    *, actor: Actor, version: ModelVersion, team: Team, name: str = ""
) -> ModelVersion:
    """Create a version of another team's model with the same files.

    The model is created if that team has none with the name (by default the same). The new version
    has an approval of its own. Raises Conflict, InvalidInput, NotPermitted.
    """
    authorize(actor, Permission.MODELS_READ, version.model.team_id)
    authorize(actor, Permission.MODELS_WRITE, team)
    name = name.strip() or version.model.name
    if team.id == version.model.team_id and name == version.model.name:
        raise InvalidInput.at("team", Message("must be another team, or give another name"))
    check_is_ready(version)
    _check_may_leave(version)
    files = _files(version)
    for file in files:
        file_store().keep(version.org_id, file.sha256)
    with transaction.atomic():
        _lock_to_copy(version)
        row = new_version(actor, _model_for(actor, version, team, name), _about(version))
        row.inspection, row.acknowledged_by = version.inspection, version.acknowledged_by
        row.promoted_from = version
        row.save()
        _add_files(row, files)
        where = {"team": version.model.team.slug, "name": version.model.name}
        record_version(
            "version_promoted", actor, row, after={"from": {**where, "version": version.version}}
        )
    return row


def _version_at(actor: Actor, model: RegisteredModel, uri: str) -> ModelVersion | None:
    """Return the version of the same team that a URI names; None for other URIs.

    Raises NotFound, NotPermitted, Conflict.
    """
    named = _VERSION_URI.fullmatch(uri)
    if named is None:
        return None
    parent = find_model(actor, model.team, named["name"])
    authorize(actor, Permission.MODELS_READ, parent.team_id)
    version = find_version(actor, parent, named["version"] or named["alias"])
    check_is_ready(version)
    if parent.id != model.id:
        _check_may_leave(version)
    return version


def _lock_to_copy(version: ModelVersion, model: RegisteredModel | None = None) -> None:
    """Lock a version: not deleted, and approved still, until the copy is there."""
    rows = ModelVersion.objects.select_for_update(of=("self",), no_key=True)
    here = rows.select_related("model__team").filter(id=version.id).first()
    if here is None:
        raise NotFound(Message("This version was deleted."), code="no_version")
    if model is None or here.model_id != model.id:
        _check_may_leave(here)


def _files(version: ModelVersion) -> list[SourceFile]:
    return [SourceFile(f.path, f.sha256, f.size) for f in ModelFile.objects.filter(version=version)]


def _check_may_leave(version: ModelVersion) -> None:
    if version.model.requires_approval and version.approval != Approval.APPROVED:
        raise Conflict(
            Message(
                "{name} requires approval. Version {version} can be promoted once it is approved.",
                name=version.model.name,
                version=version.version,
            ),
            code="not_approved",
        )


def _model_for(actor: Actor, version: ModelVersion, team: Team, name: str) -> RegisteredModel:
    known = RegisteredModel.objects.filter(team=team, name=name, deleted_at=None).first()
    if known is not None:
        return find_model(actor, team, name)
    return create_model(actor=actor, team=team, name=name, description=version.model.description)


def _about(version: ModelVersion) -> About:
    return About(
        source=version.source,
        run_id=version.run_id,
        logged_model_id=version.logged_model_id,
        description=version.description,
        tags=version.tags,
        signature=version.signature,
        metrics=version.metrics,
    )


def inspect_again(*, actor: Actor, version: ModelVersion) -> ModelVersion:
    """Read the headers of a version's files again, for example after an update of Muster."""
    authorize(actor, Permission.MODELS_WRITE, version.model.team_id)
    return _inspected_again(actor, version)


def inspect_if_older(actor: Actor, version: ModelVersion) -> None:
    """Inspect a version again that an older release did not look for unchecked files in."""
    if version.inspection and "unchecked" not in version.inspection:
        version.inspection = _inspected_again(actor, version).inspection


def _inspected_again(actor: Actor, version: ModelVersion) -> ModelVersion:
    files = _files(version)
    found = inspect_files(version.org_id, files)
    with transaction.atomic():
        row = locked_version(version)
        row.inspection = found
        row.save(update_fields=["inspection"])
        record_version("version_inspected", actor, row, after={"files": len(files)})
    return row


def check_is_ready(version: ModelVersion) -> None:
    """Raise Conflict while the files of a version are being uploaded."""
    if version.status != READY:
        raise Conflict(
            Message("Version {version} is still being uploaded.", version=version.version),
            code="not_ready",
        )


def _add_files(version: ModelVersion, files: Sequence[SourceFile]) -> None:
    ModelFile.objects.bulk_create(
        [
            ModelFile(
                org_id=version.org_id,
                version=version,
                path=file.path,
                size=file.size,
                sha256=file.sha256,
            )
            for file in files
        ],
        batch_size=500,
    )


def _created(row: ModelVersion, files: Sequence[SourceFile]) -> dict[str, Any]:
    return {
        "source": row.source,
        "run": row.run_id.hex if row.run_id else None,
        "files": len(files),
        "bytes": sum(file.size for file in files),
    }
