"""Represent shared folders and what they have as JSON: one shape for API, pages and CLI."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from datasets.folders.access import may_manage, may_write
from datasets.folders.selectors import invitations_of
from datasets.models import FolderInvitation, SharedFolder
from portal.blobs.folders import FolderEntry
from workspaces.access.actors import Actor

Item = dict[str, Any]


def folder_rows(folders: Sequence[SharedFolder]) -> list[Item]:
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


def folder_detail(row: SharedFolder, actor: Actor) -> Item:
    """Return a shared folder with its invitations and what the actor may do."""
    return {
        **folder_rows([row])[0],
        "invitations": [invitation_row(one) for one in invitations_of(row)],
        "may_write": may_write(actor, row),
        "may_manage": may_manage(actor, row),
    }


def invitation_row(row: FolderInvitation) -> Item:
    """Return who is invited: either `team` or `person` is set."""
    return {
        "team": row.team.slug if row.team else None,
        "person": {"email": row.user.email, "name": row.user.display_name} if row.user else None,
        "can_write": row.can_write,
    }


def entry_rows(entries: Iterable[FolderEntry]) -> list[Item]:
    """Return what a folder has. `type` is file, folder, link or other.

    `path` is null for names that no client can send, such as bytes that are no text.
    """
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
