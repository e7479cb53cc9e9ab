"""Decide which workspaces a job may mount, when it is submitted and again when it starts."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from datasets.folders import access
from datasets.folders.selectors import tree_of, visible_folders
from datasets.models import SharedFolder
from jobs.models import Attempt, Job, JobWorkspace
from portal.blobs.folders import root_folder
from portal.core.errors import PortalError
from portal.core.messages import Message
from schedulers.contract import FolderMount
from workspaces.access.actors import actor_of
from workspaces.tenancy.scope import org_scope


@dataclass(frozen=True)
class JobFolders:
    """The workspaces of a job; `refusal` is why it must not start."""

    mounts: Sequence[FolderMount] = ()
    refusal: str = ""


def mount_of(name: str, folder: SharedFolder, path: str, read_only: bool) -> FolderMount:
    """Return what a backend needs to know about a workspace."""
    place = tree_of(folder).path
    return FolderMount(
        name,
        str(place),
        path,
        read_only,
        tree=str(place.relative_to(root_folder())),
        text=folder.name,
    )


def folders_of(attempts: Sequence[Attempt], backend: Any = None) -> dict[UUID, JobFolders]:
    """Return the workspaces of these attempts by job. One query, or none if no job has any."""
    is_private = getattr(backend, "has_private_mounts", False)
    jobs = {a.job_id: a.job for a in attempts if a.job.spec.get("workspaces")}
    if not jobs:
        return {}
    rows = defaultdict[UUID, list[JobWorkspace]](list)
    for row in JobWorkspace.objects.filter(job__in=list(jobs)).order_by("name"):
        rows[row.job_id].append(row)
    return {pk: _folders_of(job, rows[pk], is_private=is_private) for pk, job in jobs.items()}


def _folders_of(job: Job, rows: Sequence[JobWorkspace], *, is_private: bool) -> JobFolders:
    with org_scope(job.org_id):
        try:
            owner = actor_of(job.owner).enter(job.org)
        except PortalError as error:  # the owner has left the organization
            return JobFolders(refusal=error.message)
        mounts = []
        for row in rows:
            folder = visible_folders(owner).filter(id__in=[row.folder_id]).first()
            may_read_only = row.read_only and is_private
            if folder is None or not (may_read_only or access.may_write(owner, folder)):
                return JobFolders(refusal=_refusal(row))
            entry = job.spec["workspaces"].get(row.name, "")
            path = str(entry.get("path", "")) if isinstance(entry, dict) else ""
            mounts.append(mount_of(row.name, folder, path, row.read_only))
    return JobFolders(mounts)


def _refusal(row: JobWorkspace) -> str:
    return Message(
        "The workspace {name} was deleted, or is no longer shared with the job's owner.",
        name=row.workspace,
    )
