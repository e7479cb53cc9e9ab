"""Create and change experiments."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.db import IntegrityError, transaction
from django.db.models import F

from experiments.models import Experiment
from experiments.models.experiment import DEFAULT
from experiments.services import limits
from portal.core import clock
from portal.core.errors import Conflict, NotFound
from portal.core.events import EventRecord, changes, record
from portal.core.messages import Message
from portal.core.texts import check_unchanged
from workspaces.access.actors import Actor, authorize
from workspaces.access.permissions import Permission
from workspaces.models import Organization, Team

NOTE = "mlflow.note.content"  # the tag in which MLflow's clients keep a description


@transaction.atomic
def create_experiment(
    *,
    actor: Actor,
    team: Team,
    name: str,
    description: str = "",
    tags: Mapping[str, str] | None = None,
) -> Experiment:
    """Create an experiment of a team.

    Raises NotPermitted, InvalidInput, and Conflict if the team has one of that name.
    """
    authorize(actor, Permission.EXPERIMENTS_WRITE, team)
    name, given = limits.clean_name(name), dict(tags or {})
    limits.check_texts("tags", given, limits.EXPERIMENT_TAG_VALUE)
    description = given.pop(NOTE, "") or description
    limits.check_text("description", description, limits.DESCRIPTION)
    assert actor.user_id is not None
    row = Experiment(
        team=team, owner_id=actor.user_id, name=name, description=description, tags=given
    )
    return _insert(row, actor.email)


@transaction.atomic
def ensure_experiment(*, team: Team, owner_id: UUID, name: str, by: str) -> Experiment:
    """Return the team's experiment of this name, also from the trash; create it if it is missing.

    For components, whose name is `by`. Raises InvalidInput.
    """
    rows = Experiment.objects.filter(team=team, name=limits.clean_name(name))
    if found := rows.first():
        return found  # type: ignore[no-any-return]
    try:
        return _insert(Experiment(team=team, owner_id=owner_id, name=name.strip()), by)
    except Conflict:  # another process was faster
        return rows.get()  # type: ignore[no-any-return]


def default_experiment(*, actor: Actor, team: Team) -> Experiment:
    """Return the team's experiment of runs that name none; create it if it is missing.

    Raises NotPermitted.
    """
    for _ in range(2):
        if found := Experiment.objects.filter(team=team, name=DEFAULT).first():
            authorize(actor, Permission.EXPERIMENTS_READ, team)
            return found
        try:
            return create_experiment(actor=actor, team=team, name=DEFAULT)
        except Conflict:  # another request has just created it
            continue
    raise NotFound(Message("There is no experiment {x} that you can see.", x=DEFAULT))


@transaction.atomic
def update_experiment(
    *,
    actor: Actor,
    experiment: Experiment,
    name: str | None = None,
    description: str | None = None,
    was: str | None = None,
) -> Experiment:
    """Change the name or the description; `was` is the mark of the description that was read.

    Raises NotPermitted, InvalidInput, Conflict.
    """
    row = lock(actor, experiment)
    check_unchanged("description", row.description, was)
    before = {"name": row.name, "description": row.description}
    if name is not None:
        row.name = limits.clean_name(name)
        if before["name"] == DEFAULT != row.name:
            raise Conflict(
                Message(
                    "{name} keeps its name: runs that name no experiment go there.", name=DEFAULT
                )
            )
    if description is not None:
        limits.check_text("description", description, limits.DESCRIPTION)
        row.description = description
    changed = changes(before, {"name": row.name, "description": row.description})
    if changed["after"]:
        _save(row)
        _record(actor.email, row, "experiment.updated", changed)
    return row


@transaction.atomic
def set_experiment_tags(
    *, actor: Actor, experiment: Experiment, tags: Mapping[str, str]
) -> Experiment:
    """Add tags, or replace their values. Raises NotPermitted, InvalidInput, Conflict."""
    limits.check_texts("tags", tags, limits.EXPERIMENT_TAG_VALUE)
    row = lock(actor, experiment)
    before = {"description": row.description, "tags": row.tags}
    row.description = tags.get(NOTE, row.description)
    row.tags = row.tags | {key: value for key, value in tags.items() if key != NOTE}
    return _save_tags(actor, row, before)


@transaction.atomic
def delete_experiment_tag(*, actor: Actor, experiment: Experiment, key: str) -> Experiment:
    """Delete a tag. Raises NotPermitted, NotFound, Conflict."""
    row = lock(actor, experiment)
    before = {"description": row.description, "tags": row.tags}
    if key == NOTE:
        row.description = ""
    elif key not in row.tags:
        raise NotFound(Message("{name} has no tag {key}.", name=row.name, key=key[:250]))
    row.tags = {name: value for name, value in row.tags.items() if name != key}
    return _save_tags(actor, row, before)


@transaction.atomic
def delete_experiment(*, actor: Actor, experiment: Experiment) -> Experiment:
    """Move an experiment to the trash, with its runs. Idempotent.

    Raises NotPermitted, and Conflict for the experiment of runs that name none.
    """
    row = lock(actor, experiment, is_in_trash=None)
    if row.name == DEFAULT:
        raise Conflict(
            Message("{name} can’t be deleted: runs that name no experiment go there.", name=DEFAULT)
        )
    if row.deleted_at is None:
        row.deleted_at = clock.now()
        _save(row)
        _record(actor.email, row, "experiment.deleted", {"before": {"state": "active"}})
    return row


@transaction.atomic
def restore_experiment(*, actor: Actor, experiment: Experiment) -> Experiment:
    """Take an experiment and its runs out of the trash. Idempotent. Raises NotPermitted."""
    row = lock(actor, experiment, is_in_trash=None)
    if row.deleted_at is not None:
        row.deleted_at = None
        _save(row)
        _record(actor.email, row, "experiment.restored", {"after": {"state": "active"}})
    return row


def lock(actor: Actor, experiment: Experiment, *, is_in_trash: bool | None = False) -> Experiment:
    """Return the locked row; `is_in_trash` None takes any.

    Raises NotPermitted, NotFound if it was deleted permanently, and Conflict.
    """
    authorize(actor, Permission.EXPERIMENTS_WRITE, experiment.team_id)
    rows = Experiment.objects.select_for_update(of=("self",), no_key=True)
    row = rows.select_related("org", "team", "owner").filter(id=experiment.id).first()
    if row is None:
        raise NotFound(
            Message("There is no experiment {x} that you can see.", x=str(experiment.number))
        )
    if is_in_trash is False and row.deleted_at is not None:
        raise Conflict(
            Message("{name} is in the trash. Restore it first.", name=row.name), code="deleted"
        )
    return row  # type: ignore[no-any-return]


def _insert(row: Experiment, by: str) -> Experiment:
    row.org_id = row.team.org_id
    row.number = _next_number(row.org_id)
    _save(row, is_new=True)
    after = {"name": row.name, "description": row.description, "tags": row.tags}
    _record(by, row, "experiment.created", {"team": row.team.slug, "after": after})
    return row


def _next_number(org_id: UUID) -> int:
    """Return the next number. Locks the organization, so that each is given once."""
    rows = Organization.objects.filter(id=org_id)
    rows.update(last_experiment_number=F("last_experiment_number") + 1)
    return rows.values_list("last_experiment_number", flat=True).get()


def _save_tags(actor: Actor, row: Experiment, before: Mapping[str, Any]) -> Experiment:
    changed = changes(before, {"description": row.description, "tags": row.tags})
    if changed["after"]:
        _save(row)
        _record(actor.email, row, "experiment.updated", changed)
    return row


def _save(row: Experiment, *, is_new: bool = False) -> None:
    """Write the row. Raises Conflict if the name is taken."""
    row.updated_at = clock.now()
    try:
        with transaction.atomic():
            row.save(force_insert=is_new)
    except IntegrityError:
        taken = Experiment.objects.filter(team_id=row.team_id, name=row.name).exclude(id=row.id)
        if (other := taken.first()) is None:
            raise
        if other.deleted_at is not None:
            raise Conflict.at(
                "name",
                Message(
                    "An experiment in the trash has the name {name}. Restore it, or choose another "
                    "name.",
                    name=row.name,
                ),
                code="already_exists",
            ) from None
        raise Conflict.at(
            "name",
            Message("The team already has an experiment with the name {name}.", name=row.name),
            code="already_exists",
        ) from None


def _record(by: str, row: Experiment, kind: str, data: Mapping[str, Any]) -> None:
    about = {"number": row.number, "name": row.name, **data}
    record(EventRecord(kind, row.org_id, "experiment", row.id, by, about))
