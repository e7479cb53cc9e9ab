"""Read registered models and their versions."""

from __future__ import annotations

from django.db.models import QuerySet

from portal.core.errors import NotFound
from portal.core.messages import Message
from registry.models import ModelFile, ModelVersion, RegisteredModel
from workspaces.access.actors import Actor, authorize
from workspaces.access.permissions import Permission
from workspaces.models import Team


def visible_models(actor: Actor, *, is_deleted: bool = False) -> QuerySet[RegisteredModel]:
    """Return the models of teams where the actor may read them, or those in the trash."""
    rows = RegisteredModel.objects.filter(deleted_at__isnull=not is_deleted)
    teams = actor.teams_where(Permission.MODELS_READ)
    rows = rows if teams is None else rows.filter(team_id__in=teams)
    return rows.select_related("team", "owner")


def visible_versions(actor: Actor) -> QuerySet[ModelVersion]:
    """Return the versions of visible models."""
    rows = in_readable_teams(actor, ModelVersion.objects.filter(model__deleted_at=None))
    return rows.select_related("model__team", "owner")


def in_readable_teams(actor: Actor, rows: QuerySet[ModelVersion]) -> QuerySet[ModelVersion]:
    """Narrow to the versions of teams where the actor may read models, also those in the trash."""
    teams = actor.teams_where(Permission.MODELS_READ)
    return rows if teams is None else rows.filter(model__team_id__in=teams)


def find_model(
    actor: Actor, team: Team | str, name: str, *, is_deleted: bool = False
) -> RegisteredModel:
    """Return a model of a team by name.

    Raises NotFound, also for models that the actor may not see. Of several in the trash, the one
    deleted last. A name is without blanks around it, as where a model is created.
    """
    name = name.strip()
    slug = team.slug if isinstance(team, Team) else team
    rows = visible_models(actor, is_deleted=is_deleted).filter(team__slug=slug, name=name)
    row = rows.order_by("-deleted_at").first() if name.isprintable() else None
    if row is None:
        raise NotFound(
            Message("There is no model {name} in {team}.", name=repr(name[:80]), team=slug[:40]),
            code="no_model",
        )
    return row


def find_version(actor: Actor, model: RegisteredModel, which: str | int) -> ModelVersion:
    """Return a version by its number, by an alias, or the last one as `latest`. Raises NotFound."""
    rows = visible_versions(actor).filter(model=model)
    text = str(which)
    number = int(text) if text.isascii() and text.isdigit() and len(text) < 10 else None
    if number is None:
        number = model.aliases.get(text)
    if text == "latest" and number is None:
        row = rows.order_by("-version").first()
    else:
        row = rows.filter(version=number).first() if number is not None else None
    if row is None:
        raise NotFound(
            Message("{name} has no version {version}.", name=model.name, version=repr(text[:80])),
            code="no_version",
        )
    row.model = model
    return row


def versions_of(model: RegisteredModel) -> QuerySet[ModelVersion]:
    """Return the versions of a model, the last one first."""
    return ModelVersion.objects.filter(model=model).select_related("owner").order_by("-version")


def files_of(version: ModelVersion) -> list[ModelFile]:
    """Return the files of a version by path."""
    return list(ModelFile.objects.filter(version=version).order_by("path"))


def find_file(version: ModelVersion, path: str) -> ModelFile:
    """Return a file of a version. Raises NotFound."""
    row = ModelFile.objects.filter(version=version, path=path).first() if path else None
    if row is None:
        raise NotFound(Message("There is no file {path} in this version.", path=repr(path[:200])))
    return row


def aliases_of(version: ModelVersion) -> list[str]:
    """Return the aliases that point to a version."""
    return sorted(a for a, number in version.model.aliases.items() if number == version.version)


def teams_to_write(actor: Actor) -> list[Team]:
    """Return the teams whose models the actor may register."""
    teams = actor.teams_where(Permission.MODELS_WRITE)
    rows = Team.objects.order_by("slug")
    return list(rows if teams is None else rows.filter(id__in=teams))


def check_may_read(actor: Actor, model: RegisteredModel) -> None:
    """Raise NotPermitted unless the actor may read the model's files."""
    authorize(actor, Permission.MODELS_READ, model.team_id)
