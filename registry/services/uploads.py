"""Create a version from an upload: start it, put files one by one, finish it."""

from __future__ import annotations

from collections.abc import Iterable

from django.conf import settings
from django.db import transaction

from portal.blobs.paths import clean_path
from portal.blobs.store import file_store
from portal.core import clock
from portal.core.errors import Conflict, InvalidInput
from portal.core.messages import Message
from registry import storage
from registry.inspection import inspect_files, signature_in
from registry.models import ModelFile, ModelVersion, RegisteredModel
from registry.services.records import locked_version, record_version
from registry.services.versions import MOST_FILES, PENDING, READY, About, checked_files, new_version
from registry.sources import SourceFile
from workspaces.access.actors import Actor, authorize
from workspaces.access.permissions import Permission


@transaction.atomic
def start_upload(*, actor: Actor, model: RegisteredModel, about: About) -> ModelVersion:
    """Create a version without files, which takes files until it is finished.

    Raises InvalidInput, Conflict, NotPermitted.
    """
    authorize(actor, Permission.MODELS_WRITE, model.team_id)
    row = new_version(actor, model, about)
    row.status = PENDING
    row.save()
    record_version("upload_started", actor, row, after={"status": PENDING})
    return row


def put_file(
    *,
    actor: Actor,
    version: ModelVersion,
    path: str,
    chunks: Iterable[bytes],
    size: int | None = None,
) -> ModelFile:
    """Store a file of an upload, replacing the one at this path.

    `size` is the number of bytes announced. Raises InvalidInput, Conflict, QuotaExceeded, TooLarge,
    NotPermitted.
    """
    authorize(actor, Permission.MODELS_WRITE, version.model.team_id)
    path = clean_path(path)
    _check_is_open(version)
    chunks = storage.within_limits(version, path, chunks, size)
    stored = file_store().put(version.org_id, chunks, size=size, limit=settings.MUSTER_FILE_LIMIT)
    with transaction.atomic():
        row = locked_version(version)
        _check_is_open(row)
        known = _check_path(row, path)
        if known is None:
            known = ModelFile(org_id=row.org_id, version=row, path=path)
        else:
            storage.release(row, known.size)
        storage.hold(row, stored.size)
        known.size, known.sha256 = stored.size, stored.sha256
        known.save()
        ModelVersion.objects.filter(id=row.id).update(updated_at=clock.now())
    return known


def finish_upload(*, actor: Actor, version: ModelVersion) -> ModelVersion:
    """Read the headers of the files and make the version ready. Idempotent.

    Raises InvalidInput if no file came, Conflict, NotPermitted.
    """
    authorize(actor, Permission.MODELS_WRITE, version.model.team_id)
    if version.status == READY:
        return version
    files = checked_files(_files(version))
    for file in files:
        file_store().keep(version.org_id, file.sha256)
    found = inspect_files(version.org_id, files)
    with transaction.atomic():
        row = locked_version(version)
        if row.status == READY:
            return row
        if _files(row) != files:
            raise Conflict(
                Message("A file came while the upload was being finished. Finish it again."),
                code="changed",
            )
        row.status, row.inspection, row.updated_at = READY, found, clock.now()
        row.signature = row.signature or signature_in(found)
        row.save(update_fields=["status", "inspection", "signature", "updated_at"])
        after = {"files": len(files), "bytes": sum(file.size for file in files)}
        record_version("version_created", actor, row, after=after)
    return row


@transaction.atomic
def discard_upload(*, actor: Actor, version: ModelVersion) -> None:
    """Delete an upload that is not finished. Raises Conflict, NotPermitted."""
    authorize(actor, Permission.MODELS_WRITE, version.model.team_id)
    row = locked_version(version)
    _check_is_open(row)
    storage.release(row)
    record_version("upload_discarded", actor, row, before={"status": row.status})
    row.delete()


def _files(version: ModelVersion) -> list[SourceFile]:
    rows = ModelFile.objects.filter(version=version)
    return sorted(
        (SourceFile(row.path, row.sha256, row.size) for row in rows), key=lambda file: file.path
    )


def _check_is_open(version: ModelVersion) -> None:
    if version.status != PENDING:
        raise Conflict(
            Message(
                "Version {version} is complete, and its files never change. Upload a new version.",
                version=version.version,
            ),
            code="immutable",
        )


def _check_path(version: ModelVersion, path: str) -> ModelFile | None:
    """Return the file at this path. Raises Conflict, InvalidInput if it cannot be stored."""
    rows = {row.path: row for row in ModelFile.objects.filter(version=version)}
    if path in rows:
        return rows[path]
    if len(rows) >= MOST_FILES:
        raise InvalidInput.at(
            "files", Message("must be at most {n}", context="error of a field", n=MOST_FILES)
        )
    names = path.split("/")
    for number in range(1, len(names)):
        if (above := "/".join(names[:number])) in rows:
            raise Conflict(
                Message("{path} is a file, so nothing can be stored in it.", path=above),
                code="path_conflict",
            )
    if any(other.startswith(f"{path}/") for other in rows):
        raise Conflict(
            Message("{path} is a folder. Give the file another name.", path=path),
            code="path_conflict",
        )
    return None
