"""Find the workspaces that a job names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from datasets.folders import access, usage
from datasets.folders.selectors import find_folder
from datasets.models import SharedFolder
from jobs.models import Job, JobWorkspace
from portal.core.errors import InvalidInput, NotFound
from portal.core.formatting import bytes_text
from portal.core.messages import Message
from schedulers.spec import JobSpec, Workspace
from workspaces.access.actors import Actor


@dataclass(frozen=True)
class ResolvedFolder:
    """A workspace of the spec and the folder that it names."""

    name: str
    entry: Workspace
    folder: SharedFolder


def resolve_folders(actor: Actor, spec: JobSpec) -> list[ResolvedFolder]:
    """Return the workspaces that the spec names, which the actor may use in this way.

    Raises InvalidInput that says what is wrong.
    """
    found, errors = list[ResolvedFolder](), list[dict[str, str]]()
    for name, entry in spec.workspaces.items():
        try:
            folder = _folder(actor, entry)
        except NotFound as error:
            errors.append({"field": f"workspaces.{name}", "message": error.message})
            continue
        if fault := _fault(actor, entry, folder):
            errors.append({"field": f"workspaces.{name}", "message": fault})
        found.append(ResolvedFolder(name, entry, folder))
    if errors:
        first = Message.joined(": ", (errors[0]["field"], errors[0]["message"]))
        raise InvalidInput(first, errors=errors)
    return found


def record_folders(job: Job, found: Sequence[ResolvedFolder]) -> None:
    """Note the folders of a new job, so that another one of the same name is not mounted later."""
    JobWorkspace.objects.bulk_create(
        JobWorkspace(
            org_id=job.org_id,
            job=job,
            name=one.name,
            folder=one.folder,
            workspace=one.folder.name,
            read_only=one.entry.read_only,
        )
        for one in found
    )


def text_of(found: Sequence[ResolvedFolder]) -> str:
    """Say which workspaces a job mounts, in one sentence."""
    return Message(
        "Mounts {names}.", context="text, jobs", names=", ".join(one.folder.name for one in found)
    )


def _folder(actor: Actor, entry: Workspace) -> SharedFolder:
    org, slash, name = entry.workspace.rpartition("/")
    if slash and org != actor.org_slug:
        raise NotFound(
            Message(
                "There is no workspace {name}. Names of your own organization begin with {org}/.",
                name=repr(entry.workspace),
                org=actor.org_slug,
            )
        )
    return find_folder(actor, name)


def _fault(actor: Actor, entry: Workspace, folder: SharedFolder) -> str:
    if entry.read_only:
        return ""
    if not access.may_write(actor, folder):
        return Message(
            "You may read {name}, but not change it. Add `read_only: true`.", name=folder.name
        )
    if usage.is_full(folder):
        return Message(
            "{name} is full: it uses {used} of {quota}. Delete files, or add `read_only: true`.",
            name=folder.name,
            used=bytes_text(folder.used_bytes),
            quota=bytes_text(folder.quota or 0),
        )
    return ""
