"""Start, cancel and resume imports, and record their progress and end."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import timedelta
from typing import NamedTuple

from django.db import transaction

from datasets.access import check_may_write
from datasets.imports import sources
from datasets.models import Import, ImportedFile, Ref, Repository, Version
from datasets.names import checked_message, checked_path
from datasets.services.contents import add_contents
from datasets.services.records import locked, record_change
from portal.blobs.files import StoredFile
from portal.core import clock
from portal.core.errors import Conflict, NotFound, PortalError
from portal.core.messages import Message
from portal.core.wakeups import wake_worker
from workspaces.access.actors import Actor, authorize
from workspaces.access.permissions import Permission as P
from workspaces.credentials.secrets import check_references

TASK = "datasets.run_imports"
MOST_ACTIVE = 20  # imports of a repository
MOST_ATTEMPTS = 8  # without progress
_FIRST_PAUSE, _LONGEST_PAUSE = 5, 600  # seconds


class Stored(NamedTuple):
    """A file that was fetched: its path, how the source marked it, and its bytes."""

    path: str
    mark: str
    file: StoredFile


@transaction.atomic
def start_import(
    *,
    actor: Actor,
    repository: Repository,
    source: str,
    options: Mapping[str, str] | None = None,
    secrets: Mapping[str, str] | None = None,
    branch: str = "",
    folder: str = "",
    message: str = "",
) -> Import:
    """Queue an import. Secrets are references, which only those may use who may submit jobs.

    Raises InvalidInput, Conflict, NotFound, NotPermitted.
    """
    check_may_write(actor, repository)
    assert actor.user_id is not None
    row = locked(repository)
    addresses = sources.checked_addresses(source)
    kind = sources.kind_of(addresses)
    named = sources.checked_secrets(kind, secrets or {})
    if named:
        authorize(actor, P.JOBS_SUBMIT, row.team_id)
        check_references(row.team, named)
    branch = branch or row.default_branch
    if not Ref.objects.filter(repository=row, kind=Ref.Kind.BRANCH, name=branch).exists():
        raise NotFound(
            Message("{name} has no branch {branch}.", name=row.name, branch=repr(branch[:100])),
            code="no_version",
        )
    _check_active(row)
    folder = folder.strip().strip("/")
    made = Import(
        org_id=row.org_id,
        repository=row,
        owner_id=actor.user_id,
        source=addresses,
        options=sources.checked_options(kind, options or {}),
        secrets=named,
        branch=branch,
        folder=checked_path(folder) if folder else "",
        message=checked_message(message),
    )
    # Mistakes in the address are told at once; nothing is connected yet but S3's name is resolved
    if kind in {"hub", "directory"}:
        sources.open_source(row.team, addresses, made.options, {}).close()
    made.save()
    _record("import_started", actor.email, made, after={"state": made.state})
    wake_worker(TASK)
    return made


@transaction.atomic
def cancel_import(*, actor: Actor, imported: Import) -> Import:
    """Cancel an import that has not ended; what it stored is kept a day. Idempotent."""
    check_may_write(actor, imported.repository)
    row = _locked(imported)
    if row.state in Import.ACTIVE:
        _end(row, Import.State.CANCELED)
        _record(
            "import_canceled",
            actor.email,
            row,
            before={"state": imported.state},
            after={"state": row.state},
        )
    return row


@transaction.atomic
def resume_import(*, actor: Actor, imported: Import) -> Import:
    """Queue a failed or canceled import again, as the actor. Raises Conflict, NotPermitted."""
    check_may_write(actor, imported.repository)
    assert actor.user_id is not None
    locked(imported.repository)
    row = _locked(imported)
    if row.state not in {Import.State.FAILED, Import.State.CANCELED}:
        raise Conflict(
            Message("This import is {state}; it cannot be resumed.", state=row.state),
            code="not_ended",
        )
    _check_active(row.repository)
    if row.secrets:
        authorize(actor, P.JOBS_SUBMIT, row.repository.team_id)
        check_references(row.repository.team, row.secrets)
    before = row.state
    row.state, row.error, row.attempts = Import.State.QUEUED, "", 0
    row.owner_id, row.due_at, row.updated_at, row.ended_at = (
        actor.user_id,
        clock.now(),
        clock.now(),
        None,
    )
    row.save()
    _record(
        "import_resumed", actor.email, row, before={"state": before}, after={"state": row.state}
    )
    wake_worker(TASK)
    return row


def find_import(repository: Repository, import_id: object) -> Import:
    """Return an import of a repository that the actor may see. Raises NotFound."""
    row = (
        Import.objects.filter(repository=repository, id=import_id)
        .select_related("owner", "version")
        .first()
    )
    if row is None:
        raise NotFound(Message("There is no such import."), code="no_import")
    row.repository = repository
    return row


def begin(row: Import) -> bool:
    """Mark an import as running; False if it was canceled. For the holder of its lease."""
    return bool(
        Import.objects.filter(id=row.id, state__in=Import.ACTIVE).update(
            state=Import.State.RUNNING, updated_at=clock.now()
        )
    )


def report_listing(row: Import, files: int, size: int | None) -> None:
    """Record how much there is to fetch."""
    Import.objects.filter(id=row.id).update(files=files, bytes=size)


@transaction.atomic
def report_progress(
    row: Import, files: int, size: int, stored: Collection[Stored], *, was_ahead: bool
) -> bool:
    """Record progress, and that the repository has these files. False if it was canceled.

    Raises QuotaExceeded, Conflict for a repository in the trash.
    """
    fields = {"error": "", "attempts": 0} if was_ahead else {}
    is_running = Import.objects.filter(id=row.id, state=Import.State.RUNNING).update(
        files_done=files, bytes_done=size, updated_at=clock.now(), **fields
    )
    if stored:
        add_contents(row.repository, [one.file for one in stored])
        ImportedFile.objects.bulk_create(
            [
                ImportedFile(
                    org_id=row.org_id,
                    imported=row,
                    path=one.path,
                    mark=one.mark,
                    sha256=one.file.sha256,
                    size=one.file.size,
                )
                for one in stored
            ],
            update_conflicts=True,
            unique_fields=["imported", "path"],
            update_fields=["mark", "sha256", "size"],
            batch_size=1000,
        )
    return bool(is_running)


@transaction.atomic
def finish(row: Import, by: str, version: Version | None) -> None:
    """Record that an import has succeeded. `version` is what it made, or what has its files."""
    now = _locked(row)
    if now.state != Import.State.RUNNING:
        return
    now.version, now.error = version, ""
    _end(now, Import.State.SUCCEEDED)
    ImportedFile.objects.filter(imported=now).delete()
    _record(
        "import_succeeded",
        by,
        now,
        before={"state": row.state},
        after={
            "state": now.state,
            "version": version.number if version else None,
            "files": now.files_done,
            "bytes": now.bytes_done,
        },
    )


@transaction.atomic
def fail(row: Import, by: str, error: PortalError) -> None:
    """Record why an import failed; what may pass is tried again later, a few times."""
    now = _locked(row)
    if now.state != Import.State.RUNNING:
        return
    now.error, now.attempts = error.message, now.attempts + 1
    if error.retryable and now.attempts < MOST_ATTEMPTS:
        pause = min(_FIRST_PAUSE * 2 ** (now.attempts - 1), _LONGEST_PAUSE)
        now.state, now.due_at = Import.State.QUEUED, clock.now() + timedelta(seconds=pause)
        now.updated_at = clock.now()
        now.save()
        return
    _end(now, Import.State.FAILED)
    _record(
        "import_failed",
        by,
        now,
        before={"state": row.state},
        after={"state": now.state, "error": str(error.message)},
    )


def _check_active(repository: Repository) -> None:
    active = Import.objects.filter(repository=repository, state__in=Import.ACTIVE)
    if active.count() >= MOST_ACTIVE:
        raise Conflict(
            Message("{n} imports are active here. Wait, or cancel one.", n=MOST_ACTIVE),
            code="too_many",
        )


def _locked(imported: Import) -> Import:
    row: Import | None = (
        Import.objects.select_for_update(of=("self",), no_key=True)
        .select_related("repository__team", "owner")
        .filter(id=imported.id)
        .first()
    )
    if row is None:
        raise NotFound(Message("There is no such import."), code="no_import")
    return row


def _end(row: Import, state: str) -> None:
    row.state, row.ended_at, row.updated_at = state, clock.now(), clock.now()
    row.save()


def _record(kind: str, by: str, row: Import, **data: object) -> None:
    shown = sources.shown_address(row.source)[:500]
    record_change(kind, by, row.repository, source=shown, branch=row.branch, **data)
