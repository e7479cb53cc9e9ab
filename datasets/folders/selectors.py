"""Read shared folders and what they have."""

from __future__ import annotations

from uuid import UUID

from django.db.models import QuerySet

from datasets.folders.access import visible
from datasets.models import FolderInvitation, SharedFolder
from portal.blobs.folders import SharedTree, shared_tree
from portal.core.errors import NotFound
from portal.core.messages import Message
from workspaces.access.actors import Actor


def visible_folders(actor: Actor, *, is_deleted: bool = False) -> QuerySet[SharedFolder]:
    """Return the shared folders that the actor may read, or those in the trash."""
    rows = SharedFolder.objects.filter(deleted_at__isnull=not is_deleted)
    return visible(actor, rows).select_related("team", "owner")


def find_folder(actor: Actor, name: str) -> SharedFolder:
    """Return a shared folder by name. Raises NotFound, also for those the actor may not see."""
    rows = visible_folders(actor).filter(name__iexact=name)
    row = rows.first() if name.isprintable() else None
    if row is None:
        raise NotFound(
            Message("There is no workspace {name}.", name=repr(name[:100])), code="no_workspace"
        )
    return row


def find_deleted(actor: Actor, pk: UUID) -> SharedFolder:
    """Return a shared folder in the trash. Raises NotFound."""
    row = visible_folders(actor, is_deleted=True).filter(id=pk).first()
    if row is None:
        raise NotFound(Message("This is not in the trash."), code="no_workspace")
    return row


def invitations_of(folder: SharedFolder) -> list[FolderInvitation]:
    """Return the invitations, teams first."""
    rows = FolderInvitation.objects.filter(folder=folder).select_related("team", "user")
    return sorted(rows, key=lambda row: (row.user is not None, str(row.user or row.team)))


def tree_of(folder: SharedFolder) -> SharedTree:
    """Return the files of a shared folder."""
    return shared_tree(folder.org_id, folder.directory or folder.id.hex)
