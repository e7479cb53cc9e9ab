"""Represent shared folders and what they have as JSON: one shape for API, pages and CLI."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Annotated, TypedDict

from datasets.folders.access import may_manage, may_write
from datasets.folders.selectors import invitations_of
from datasets.models import FolderInvitation, SharedFolder
from portal.blobs.folders import FolderEntry
from portal.core.shapes import Id, PersonShape, Time
from workspaces.access.actors import Actor


class WorkspaceShape(TypedDict):
    id: Id
    name: str
    team: str
    owner: PersonShape
    description: str
    visibility: Annotated[str, "private, team or organization"]
    quota: Annotated[int | None, "Bytes; null: no limit of its own."]
    used_bytes: int
    files: Annotated[int, "When they were last counted."]
    counted_at: Time | None
    created_at: Time
    updated_at: Time
    deleted_at: Time | None


class WorkspaceInvitationShape(TypedDict):
    team: str | None
    person: PersonShape | None
    can_write: bool


class WorkspaceDetailShape(WorkspaceShape):
    invitations: list[WorkspaceInvitationShape]
    may_write: bool
    may_manage: bool


class WorkspaceEntryShape(TypedDict):
    type: Annotated[str, "file, folder, link or other; links are not followed"]
    name: str
    path: Annotated[str | None, "null: no client can send this name"]
    bytes: int | None
    modified_at: Time


class WorkspaceTreeShape(TypedDict):
    path: str
    items: list[WorkspaceEntryShape]
    next: Annotated[str | None, "`after` of the next page."]


def folder_rows(folders: Sequence[SharedFolder]) -> list[WorkspaceShape]:
    """Return list items."""
    return [
        {
            "id": str(row.id),
            "name": row.name,
            "team": row.team.slug,
            "owner": {"email": row.owner.email, "name": row.owner.display_name},
            "description": row.description,
            "visibility": row.visibility,
            "quota": row.quota,
            "used_bytes": row.used_bytes,
            "files": row.files,
            "counted_at": row.counted_at,
            "created_at": row.created_at,
            "updated_at": row.updated_at,
            "deleted_at": row.deleted_at,
        }
        for row in folders
    ]


def folder_detail(row: SharedFolder, actor: Actor) -> WorkspaceDetailShape:
    """Return a shared folder with its invitations and what the actor may do."""
    return {
        **folder_rows([row])[0],
        "invitations": [invitation_row(one) for one in invitations_of(row)],
        "may_write": may_write(actor, row),
        "may_manage": may_manage(actor, row),
    }


def invitation_row(row: FolderInvitation) -> WorkspaceInvitationShape:
    """Return who is invited: either `team` or `person` is set."""
    return {
        "team": row.team.slug if row.team else None,
        "person": {"email": row.user.email, "name": row.user.display_name} if row.user else None,
        "can_write": row.can_write,
    }


def entry_rows(entries: Iterable[FolderEntry]) -> list[WorkspaceEntryShape]:
    """Return what a folder has. Names of bytes that are no text have no path."""
    return [
        {
            "type": entry.kind,
            "name": entry.shown_name,
            "path": entry.path if entry.is_nameable else None,
            "bytes": entry.size if entry.kind == "file" else None,
            "modified_at": entry.modified_at,
        }
        for entry in entries
    ]
