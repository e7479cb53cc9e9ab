"""Files of runs and of logged models: their rows. `portal.blobs.files` has the bytes.

Each row counts with its size in the storage of the run's owner, team and organization, also where
several rows share the bytes.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TypeAlias
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.db.models import QuerySet

from experiments.models import Artifact, LoggedModel, Run
from portal.blobs.files import StoredFile, file_store
from portal.blobs.paths import LONGEST, clean_path
from portal.core import clock
from portal.core.errors import Conflict, NotFound
from portal.core.events import EventRecord, record
from portal.core.messages import Message
from workspaces.access.actors import Actor, authorize
from workspaces.access.permissions import Permission
from workspaces.quotas import reservations, storage
from workspaces.quotas.limits import STORAGE, Meter, meters

Owner: TypeAlias = Run | LoggedModel


@dataclass(frozen=True)
class Entry:
    """A file or a folder of a listing; `files` and `size` of a folder are those of all below it."""

    path: str
    is_folder: bool
    size: int  # bytes
    files: int
    artifact: Artifact | None = None


def put(
    actor: Actor, owner: Owner, path: str, chunks: Iterable[bytes], *, size: int | None = None
) -> Artifact:
    """Store a file at a path, replacing the one there.

    `size` is the number of bytes that were announced. Raises NotPermitted, InvalidInput, Conflict
    if a folder is a file or the reverse, QuotaExceeded, and TooLarge; then nothing is stored.
    """
    path = clean_path(path)
    check_may_write(actor, owner)
    _check_conflicts(owner, path)
    replaced = _rows(owner).filter(path=path).values_list("size", flat=True).first() or 0
    chunks = storage.within_room(_amounts(owner, 1), chunks, size=size, replaced=replaced)
    stored = file_store().put(owner.org_id, chunks, size=size, limit=settings.MUSTER_FILE_LIMIT)
    return add(owner, path, stored)


@transaction.atomic
def add(owner: Owner, path: str, stored: StoredFile) -> Artifact:
    """Write the row of a file that `FileStore.put` has just stored. Raises as `put` does."""
    type(owner).objects.select_for_update(of=("self",), no_key=True).get(id=owner.id)
    _check_conflicts(owner, path)
    known = _rows(owner).filter(path=path).first()
    if known:
        reservations.settle(_amounts(owner, known.size))
    storage.hold(_amounts(owner, stored.size), stored.size)
    if known is None:
        known = Artifact(org_id=owner.org_id, path=path, **_owner_fields(owner))
    known.size, known.sha256, known.created_at = stored.size, stored.sha256, clock.now()
    known.save()
    return known


def find(owner: Owner, path: str, *, with_models: bool = False) -> Artifact:
    """Return the file at a path. Raises NotFound."""
    found = files_of(owner).get(path) if with_models else _rows(owner).filter(path=path).first()
    if found is None:
        raise NotFound(Message("There is no file {path} here.", path=path[:LONGEST]))
    return found


def files_of(owner: Owner) -> dict[str, Artifact]:
    """Return the files by path; those of a run's logged models are below the name of the model.

    MLflow 3 keeps them apart from the run, but people look for them there.
    """
    found = {}
    if isinstance(owner, Run):
        rows = Artifact.objects.filter(
            logged_model__run=owner,
            logged_model__experiment__team_id=owner.team_id,
            logged_model__deleted_at=None,
        )
        for row in rows.select_related("logged_model").order_by("logged_model__created_at"):
            assert row.logged_model is not None
            found[f"{row.logged_model.name}/{row.path}"] = row
    return found | {row.path: row for row in _rows(owner)}


def listing(owner: Owner, folder: str = "", *, with_models: bool = False) -> list[Entry]:
    """Return the files and folders directly in a folder, ordered by path; "" is the top.

    The listing of a file is the file itself, and that of an unknown path is empty.
    `with_models` includes the files of logged models, as `files_of` does.
    """
    start = f"{clean_path(folder)}/" if folder else ""
    found: dict[str, Entry] = {}
    files = files_of(owner) if with_models else {row.path: row for row in _rows(owner)}
    for file, row in sorted(files.items()):
        if file == folder:
            return [Entry(file, False, row.size, 1, row)]
        if not file.startswith(start):
            continue
        name, slash, _rest = file[len(start) :].partition("/")
        path = start + name
        before = found.get(path, Entry(path, bool(slash), 0, 0))
        found[path] = replace(
            before,
            size=before.size + row.size,
            files=before.files + 1,
            artifact=None if slash else row,
        )
    return [found[path] for path in sorted(found)]


def opened(artifact: Artifact, start: int = 0, end: int | None = None) -> Iterator[bytes]:
    """Return the bytes of a range in pieces. Raises NotFound if the disk has lost them."""
    return file_store().read(artifact.org_id, artifact.sha256, start, end)


def delete(actor: Actor, artifact: Artifact) -> None:
    """Delete one file. The bytes go with the next sweep, if nothing else refers to them."""
    owner = artifact.run or artifact.logged_model
    assert owner is not None
    delete_path(actor, owner, artifact.path)


@transaction.atomic
def delete_path(actor: Actor, owner: Owner, path: str) -> int:
    """Delete a file, or a folder with everything in it; return the number of files.

    Raises NotPermitted, NotFound.
    """
    path = clean_path(path)
    check_may_write(actor, owner)
    type(owner).objects.select_for_update(of=("self",), no_key=True).get(id=owner.id)
    inside = f"{path}/"
    rows = [r for r in _rows(owner) if r.path == path or r.path.startswith(inside)]
    if not rows:
        raise NotFound(Message("There is no file {path} here.", path=path))
    _delete_rows(owner, rows)
    record(
        EventRecord(
            "run.artifacts_deleted" if isinstance(owner, Run) else "model.artifacts_deleted",
            owner.org_id,
            "run" if isinstance(owner, Run) else "logged-model",
            owner.id,
            actor.email,
            {
                "name": owner.name,
                "before": {
                    "path": path,
                    "files": len(rows),
                    "bytes": sum(row.size for row in rows),
                },
            },
        )
    )
    return len(rows)


@transaction.atomic
def delete_all(owners: Iterable[Owner]) -> None:
    """Delete the files of runs and logged models that are about to be deleted permanently."""
    for owner in owners:
        _delete_rows(owner, list(_rows(owner).select_for_update(of=("self",))))


def referenced(org_id: UUID, names: Collection[str]) -> set[str]:
    """Return those SHA-256 to which artifacts refer. For the sweep of files."""
    rows = Artifact.objects.filter(org_id=org_id, sha256__in=names)
    return set(rows.values_list("sha256", flat=True))


def check_may_write(actor: Actor, owner: Owner) -> None:
    """Raise NotPermitted, or Conflict if the run or model is in the trash."""
    authorize(actor, Permission.EXPERIMENTS_WRITE, _team_and_person(owner)[0])
    if owner.deleted_at is not None:
        raise Conflict(
            Message("{name} is in the trash. Restore it first.", name=owner.name), code="deleted"
        )


def _check_conflicts(owner: Owner, path: str) -> None:
    """Raise Conflict if the path is a folder, or goes through a file."""
    names = path.split("/")
    above = ["/".join(names[:n]) for n in range(1, len(names))]
    if above and (file := _rows(owner).filter(path__in=above).first()):
        raise Conflict(
            Message("{path} is a file, so nothing can be stored in it.", path=file.path),
            code="path_conflict",
        )
    inside = f"{path}/"
    below = _rows(owner).filter(path__startswith=inside).values_list("path", flat=True)
    if any(found.startswith(inside) for found in below):
        raise Conflict(
            Message("{path} is a folder. Give the file another name.", path=path),
            code="path_conflict",
        )


def _delete_rows(owner: Owner, rows: list[Artifact]) -> None:
    if rows:
        reservations.settle(_amounts(owner, sum(row.size for row in rows)))
        Artifact.objects.filter(id__in=[row.id for row in rows]).delete()


def _rows(owner: Owner) -> QuerySet[Artifact]:
    return Artifact.objects.filter(**_owner_fields(owner))


def _owner_fields(owner: Owner) -> dict[str, UUID]:
    return {"run_id" if isinstance(owner, Run) else "logged_model_id": owner.id}


def _team_and_person(owner: Owner) -> tuple[UUID, UUID]:
    team = owner.team_id if isinstance(owner, Run) else owner.experiment.team_id
    return team, owner.owner_id


def _amounts(owner: Owner, size: int) -> dict[Meter, int]:
    return meters(owner.org_id, *_team_and_person(owner), {STORAGE: size})
