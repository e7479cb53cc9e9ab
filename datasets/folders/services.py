"""Create, change, share, trash and restore shared folders. Nothing else writes these rows."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.db import transaction

from datasets.folders import usage
from datasets.folders.access import check_may_manage
from datasets.folders.selectors import tree_of
from datasets.models import FolderInvitation, SharedFolder, Visibility
from datasets.names import checked_name
from portal.core import clock
from portal.core.errors import Conflict, InvalidInput
from portal.core.events import EventRecord, changes, record
from portal.core.messages import Message
from portal.core.trash import Trash
from workspaces.access.actors import Actor, authorize
from workspaces.access.permissions import Permission as P
from workspaces.models import Membership, Team, User

LONGEST_DESCRIPTION = 500
MOST_BYTES = 1 << 60  # of a quota
_FIELDS = ("name", "description", "visibility", "quota")


@transaction.atomic
def create_folder(
    *,
    actor: Actor,
    team: Team,
    name: str,
    description: str = "",
    visibility: str = Visibility.TEAM,
    quota: int | None = None,
) -> SharedFolder:
    """Create an empty shared folder. Raises Conflict, InvalidInput, NotPermitted."""
    authorize(actor, P.DATASETS_WRITE, team)
    assert actor.user_id is not None
    row = SharedFolder(
        org_id=team.org_id,
        team=team,
        owner_id=actor.user_id,
        name=_checked("name", name),
        description=_checked("description", description),
        visibility=_checked("visibility", visibility),
        quota=_checked("quota", quota),
        counted_at=clock.now(),
    )
    TRASH.save(row)
    tree_of(row).create()
    record_change("created", actor.email, row, after=_facts(row))
    return row


@transaction.atomic
def update_folder(
    *, actor: Actor, folder: SharedFolder, seen_at: datetime | None = None, **wanted: Any
) -> SharedFolder:
    """Change what is given of name, description, visibility and quota (None: no limit).

    `seen_at` is `updated_at` as the client has read it. Raises Conflict if somebody else was
    faster or the name is taken, InvalidInput, NotPermitted.
    """
    check_may_manage(actor, folder)
    row = locked(folder)
    if seen_at is not None and row.updated_at != seen_at:
        raise Conflict(
            Message("Somebody has changed this in the meantime. Reload, and change it again."),
            code="changed",
        )
    before = _facts(row)
    for field, value in wanted.items():
        if field not in _FIELDS:
            raise InvalidInput.at(field, Message("is not a field of a workspace"))
        setattr(row, field, _checked(field, value))
    after = _facts(row)
    if after != before:
        row.updated_at = clock.now()
        TRASH.save(row)
        record_change("updated", actor.email, row, **changes(before, after))
    return row


@transaction.atomic
def invite(
    *,
    actor: Actor,
    folder: SharedFolder,
    team: Team | None = None,
    user: User | None = None,
    can_write: bool = False,
) -> FolderInvitation:
    """Let a team or a person read, or also write. Raises InvalidInput, Conflict, NotPermitted."""
    check_may_manage(actor, folder)
    row = locked(folder)
    if (team is None) == (user is None):
        raise InvalidInput.at("team", Message("must be a team or a person"))
    if team is not None and team.id == row.team_id:
        raise InvalidInput.at("team", Message("must be another team than its own"))
    if user is not None and not Membership.objects.filter(user=user).exists():
        raise InvalidInput.at("person", Message("must be a member of the organization"))
    invited, _created = FolderInvitation.objects.update_or_create(
        folder=row, team=team, user=user, defaults={"org_id": row.org_id, "can_write": can_write}
    )
    whom = team.slug if team else user.email if user else ""
    record_change("shared", actor.email, row, after={"with": whom, "can_write": can_write})
    return invited  # type: ignore[no-any-return]


@transaction.atomic
def withdraw(*, actor: Actor, folder: SharedFolder, invitation: FolderInvitation | None) -> None:
    """Withdraw an invitation, if there is one; access ends at once. Raises NotPermitted."""
    check_may_manage(actor, folder)
    row = locked(folder)
    if invitation is None:
        return
    whom = invitation.user.email if invitation.user else str(invitation.team)
    invitation.delete()
    record_change("unshared", actor.email, row, before={"with": whom})


@transaction.atomic
def delete_folder(*, actor: Actor, folder: SharedFolder) -> SharedFolder:
    """Move a shared folder to the trash; its name becomes free. Raises NotPermitted."""
    check_may_manage(actor, folder)
    row = locked(folder)
    return TRASH.put(row, actor.email, {"bytes": row.used_bytes})


@transaction.atomic
def restore_folder(*, actor: Actor, folder: SharedFolder) -> SharedFolder:
    """Take it out of the trash. Idempotent. Raises Conflict if its name was taken."""
    check_may_manage(actor, folder)
    return TRASH.restore(folder, actor.email)


@transaction.atomic
def purge_folder(*, actor: Actor, folder: SharedFolder) -> None:
    """Delete one in the trash permanently with its files. Raises Conflict, NotPermitted."""
    check_may_manage(actor, folder)
    row = TRASH.locked(folder, with_trash=True, is_to_be_purged=True)
    TRASH.purge(row, actor.email)


def purge_trash(before: datetime) -> int:
    """Delete the shared folders moved to the trash before a time; return their number."""
    return TRASH.purge_old(before)


def record_change(kind: str, by: str, folder: SharedFolder, **data: Any) -> None:
    """Record an event of a shared folder, such as `workspace.created`."""
    named = {"name": folder.name, "team": folder.team.slug}
    kind = f"workspace.{kind}"
    record(EventRecord(kind, folder.org_id, "workspace", folder.id, by, {**named, **data}))


def _checked(field: str, value: Any) -> Any:
    if field == "name":
        return checked_name(value)
    if field == "visibility":
        if value not in Visibility.values:
            raise InvalidInput.at("visibility", Message("must be private, team or organization"))
        return value
    if field == "quota":
        if value is not None and (type(value) is not int or not 0 < value <= MOST_BYTES):
            raise InvalidInput.at("quota", Message("must be a number of bytes, or empty"))
        return value
    text = value.strip()
    if len(text) > LONGEST_DESCRIPTION or "\x00" in text:
        raise InvalidInput.at(
            field, Message("must be at most {n} characters long", n=LONGEST_DESCRIPTION)
        )
    return text


def _taken(row: SharedFolder) -> Conflict:
    return Conflict.at(
        "name",
        Message("The name {name} is already used in this organization.", name=row.name),
        code="already_exists",
    )


def _free(row: SharedFolder) -> dict[str, Any]:
    usage.release(row, row.used_bytes)
    transaction.on_commit(tree_of(row).remove)
    return {"bytes": row.used_bytes}


def _facts(row: SharedFolder) -> dict[str, Any]:
    return {field: getattr(row, field) for field in _FIELDS}


TRASH = Trash(SharedFolder, "no_workspace", _taken, record_change, _free)
locked = TRASH.locked  # every writer locks the folder first
