"""Save the outputs of jobs whose folders the portal can open.

An output is due at its interval while its attempt runs, and once when the attempt has ended. A
process takes it by a lease, so that several may work; after a kill the next one takes over at once.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator
from datetime import timedelta
from pathlib import PurePosixPath
from typing import NamedTuple
from uuid import UUID

from django.db import transaction
from django.db.models import Q, QuerySet

from datasets import services
from datasets.models import Repository
from datasets.names import checked_path
from jobs import live_updates
from jobs.dispatch.lifecycle import backoff
from jobs.job_specs import spec_of
from jobs.models import Attempt, Job, JobOutput
from jobs.models.output import OutputState
from jobs.outputs import KEPT, output_of
from jobs.saving import folder as folders
from jobs.saving.folder import Listing, Seen
from jobs.saving.versions import actor_for, prune, repository_of, save_version
from portal.core import clock
from portal.core.disk import full_disk
from portal.core.errors import InvalidInput, PortalError
from portal.core.events import EventRecord, record
from portal.core.lease_holder import is_dead, new_lease
from portal.core.messages import Message
from portal.core.wakeups import wake_worker
from schedulers.states import Reason, State, Wait
from workspaces.access.actors import Actor
from workspaces.tenancy.scope import org_scope, platform_scope

log = logging.getLogger(__name__)
LEASE = 60.0  # seconds; renewed while files are read
SOON = timedelta(seconds=5)  # until files are looked at again that were being written
FIRST_PAUSE, LONGEST_PAUSE = 5.0, 300.0  # seconds after a failure
ROUNDS = 3  # in which a folder is read until nothing changes meanwhile
PATIENCE = timedelta(minutes=5)  # for which a retry waits for what its predecessor wrote
# The job could not finish the file that it was writing.
_CUT = frozenset(
    {Reason.KILLED_BY_SIGNAL, Reason.OUT_OF_MEMORY, Reason.NODE_FAILED, Reason.LOST_BY_SCHEDULER}
)


class _Result(NamedTuple):
    """Whether everything was read, or some files are still being written; `note` is for people."""

    is_complete: bool = True
    note: str = ""


class _Cut(Exception):
    """The job has ended, and nobody can save what is left."""


def save_due(limit: int = 100) -> int:
    """Save the outputs that are due, one after the other; return their number."""
    found = take_due(limit)
    for pk in found:
        save(pk)
    return len(found)


def take_due(limit: int) -> list[UUID]:
    """Take a lease on outputs that are due, and return their ids."""
    with platform_scope("house-keeping"):
        rows = list(_due().order_by("due_at").values_list("id", "lease", "lease_until")[:limit])
        return [pk for pk, lease, until in rows if _take(pk, lease, until)]


def _due() -> QuerySet[JobOutput]:
    at = clock.now()
    has_ended = Q(attempt__state__gte=State.SUCCEEDED)
    runs = Q(attempt__state__gte=State.RUNNING, due_at__isnull=False)
    rows = JobOutput.objects.filter(has_ended | runs, is_over=False)
    has_news = has_ended & Q(tries=0)  # nothing was tried since the end, or it is tried at once
    return rows.filter(Q(due_at__lte=at) | Q(due_at=None) | has_news)


def _take(pk: UUID, lease: UUID | None, until: object) -> bool:
    if lease is not None and until is not None and until > clock.now() and not is_dead(lease):  # type: ignore[operator]
        return False
    rows = JobOutput.objects.filter(id=pk, lease=lease)
    return bool(rows.update(lease=new_lease(), lease_until=clock.after(LEASE)))


def save(pk: UUID) -> None:
    """Save one output that was taken. Failures are recorded and tried again."""
    with platform_scope("house-keeping"):
        row = (
            JobOutput.objects.select_related(
                "job__org", "job__team", "job__owner", "repository__team", "version"
            )
            .select_related("attempt__cluster")
            .filter(id=pk, is_over=False)
            .first()
        )
    if row is None or row.attempt is None:
        return
    with org_scope(row.org_id):
        row.attempt.job = row.job
        state_before = State(row.attempt.state)
        try:
            result = _save(row, row.attempt)
        except Exception as error:
            _fail(row, row.attempt, error)
        else:
            _succeed(row, row.attempt, result, is_end=state_before.is_final)


def _save(row: JobOutput, attempt: Attempt) -> _Result:
    spec = spec_of(row.job).outputs.get(row.name)
    place = output_of(attempt.cluster, attempt.key)
    if spec is None or place is None:
        return _Result()
    if not place.local_path:
        return _reported(row, attempt)
    path = PurePosixPath(place.local_path)
    with folders.opened_folder(str(path.parents[1]), [*path.parts[-2:], row.name]) as folder:
        if folder is None:
            return _Result()
        found = _listed(folder, attempt)
        if not found.files:
            return _Result(not found.changing, _cut_note(found, attempt) or _note(found))
        rows_of(row).update(state=OutputState.SAVING)
        actor = actor_for(attempt)
        repository = repository_of(attempt, spec, actor)
        seen = folders.unpacked(bytes(row.seen))
        for is_last in (False, True):
            for _ in range(ROUNDS):
                files, changing = _stored(row, folder, found, seen, repository, actor)
                if not changing:
                    break
                # Files went away, as when an old checkpoint is deleted: take the folder as it is
                # now, or a version would have a part of the old one.
                seen |= files
                found = _listed(folder, attempt)
            left_out = [*changing, *found.changing]
            try:
                version = save_version(row, repository, actor, _shas(files), _checked(left_out))
                break
            except InvalidInput as error:
                if error.kind != "not_uploaded" or is_last:
                    raise
                seen = {}  # they were deleted with old versions
        row.repository, row.version = repository, version or row.version
        rows_of(row).update(repository=repository, version=row.version, seen=folders.packed(files))
        prune(row, repository)
    return _Result(not left_out, _note(found))


def rows_of(row: JobOutput) -> QuerySet[JobOutput]:
    """Return the row while it is still of this attempt: a late retry takes it over."""
    return JobOutput.objects.filter(id=row.id, attempt=row.attempt_id)


def _reported(row: JobOutput, attempt: Attempt) -> _Result:
    """Return what is known of an output that the job saves itself (`jobs.saving.reports`)."""
    if State(attempt.state).is_final and attempt.started_at:
        raise _Cut(
            row.message
            or Message("The job ended before its last files were saved. See the end of its log.")
        )
    return _Result()


def _stored(
    row: JobOutput,
    folder: int,
    found: Listing,
    seen: dict[str, Seen],
    repository: Repository,
    actor: Actor,
) -> tuple[dict[str, Seen], list[str]]:
    """Store the files that are new; return all, and the paths of those that changed meanwhile."""
    files: dict[str, Seen] = {}
    changing = []
    for path, mark in found.files.items():
        known = seen.get(path)
        if known and known.mark == mark:
            files[path] = known
            continue
        with folders.opened_file(folder, path, mark) as reading:
            if reading is None:
                changing.append(path)
                continue
            chunks = _renewing(row, reading.chunks())
            stored = services.put_file(actor=actor, repository=repository, chunks=chunks)
            if reading.is_whole:
                files[path] = Seen(mark, stored.sha256)
            else:
                changing.append(path)
    return files, changing


def _renewing(row: JobOutput, chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Renew the lease while chunks are read."""
    due = clock.monotonic() + LEASE / 4
    for chunk in chunks:
        if clock.monotonic() > due:
            JobOutput.objects.filter(id=row.id).update(lease_until=clock.after(LEASE))
            due = clock.monotonic() + LEASE / 4
        yield chunk


def _shas(files: dict[str, Seen]) -> dict[str, str]:
    """Return the SHA-256 by the path in a version, without paths that versions cannot have."""
    found = {}
    for path, one in files.items():
        for name in _checked([path]):
            found[name] = one.sha256
    return found


def _checked(paths: Iterable[str]) -> list[str]:
    found = []
    for path in paths:
        try:
            found.append(checked_path(path))
        except InvalidInput:
            continue
    return found


def _cut_note(found: Listing, attempt: Attempt) -> str:
    """Say why nothing was saved of a job that was killed while it wrote its files."""
    if not found.changing or not State(attempt.state).is_final:
        return ""
    return Message(
        "Nothing was saved: {path} was written in the last {n} s before the job was killed, so it "
        "may be cut.",
        path=found.changing[0][:200],
        n=f"{folders.YOUNG:g}",
    )


def _note(found: Listing) -> str:
    if not found.unnamed:
        return ""
    return Message("{n} files were left out, because their names are not text.", n=found.unnamed)


def _whole_until(attempt: Attempt) -> float | None:
    """Return the time by which files of an attempt had to be complete; None if all are."""
    if not State(attempt.state).is_final:
        return folders.now()
    if attempt.reason in _CUT and attempt.finished_at:
        return attempt.finished_at.timestamp()
    return None


def _listed(folder: int, attempt: Attempt) -> Listing:
    has_succeeded = attempt.state == State.SUCCEEDED
    return folders.listing(folder, whole_until=_whole_until(attempt), has_succeeded=has_succeeded)


@transaction.atomic
def _succeed(row: JobOutput, attempt: Attempt, result: _Result, *, is_end: bool) -> None:
    every = spec_of(row.job).outputs[row.name].every if row.name in spec_of(row.job).outputs else 0
    pause = timedelta(seconds=every) if result.is_complete else min(SOON, timedelta(seconds=every))
    rows_of(row).update(
        state=OutputState.SAVED if row.version_id else OutputState.WAITING,
        message=result.note,
        saved_at=clock.now(),
        due_at=clock.now() + pause if every and not is_end else None,
        is_over=is_end,
        tries=0,
        lease=None,
        lease_until=None,
    )
    _tell(row, attempt)


@transaction.atomic
def _fail(row: JobOutput, attempt: Attempt, error: Exception) -> None:
    """Record a failure; it is tried again, until the files are deleted with the job's folder."""
    if not isinstance(error, PortalError | _Cut):
        log.warning("output %s of job %s: %r", row.name, row.job_id, error, exc_info=error)
    text = text_of(error)
    has_expired = bool(attempt.finished_at and attempt.finished_at < clock.now() - KEPT)
    is_over = has_expired or attempt.is_forgotten or isinstance(error, _Cut)
    rows_of(row).update(
        state=OutputState.FAILED,
        message=text,
        tries=row.tries + 1,
        due_at=clock.after(min(FIRST_PAUSE * 2.0 ** min(row.tries, 10), LONGEST_PAUSE)),
        is_over=is_over,
        lease=None,
        lease_until=None,
    )
    if row.message != text:
        record_failure(row, text)
    _tell(row, attempt)


def record_failure(row: JobOutput, text: str) -> None:
    """Record the event of an output that could not be saved."""
    data = {"output": row.name, "index": row.index, "why": str(text)}
    record(EventRecord("job.output_failed", row.org_id, "job", row.job_id, "muster", data))


def text_of(error: Exception) -> str:
    """Return why something could not be saved, for people."""
    if isinstance(error, folders.TooManyFiles):
        return Message("It has more than {n} files.", n=f"{folders.MOST_FILES:,}")
    if isinstance(error, OSError):
        error = full_disk(error) or error
    if isinstance(error, PortalError):
        return error.message
    if isinstance(error, _Cut):
        return str(error)
    return Message("{error}. It is tried again.", error=str(error) or type(error).__name__)


def _tell(row: JobOutput, attempt: Attempt) -> None:
    live_updates.outputs_changed(row.job)
    if State(attempt.state).is_final:
        release_retry(row.job, row.index, attempt)


def release_retry(job: Job, index: int, attempt: Attempt) -> None:
    """Let the retry of an ended attempt start once its outputs are saved, or after PATIENCE."""
    open_rows = JobOutput.objects.filter(job=job, index=index, attempt=attempt, is_over=False)
    is_late = attempt.finished_at and attempt.finished_at < clock.now() - PATIENCE
    if open_rows.exists() and not is_late:
        return
    waiting = Attempt.objects.filter(
        job=job, index=index, is_current=True, state=State.QUEUED, wait=Wait.BACKOFF, due_at=None
    )
    for retry in waiting:
        at = max(clock.now(), retry.queued_at + timedelta(seconds=backoff(attempt)))
        if Attempt.objects.filter(id=retry.id, wait=Wait.BACKOFF, due_at=None).update(
            due_at=at, wait="", wait_since=None
        ):
            wake_worker("jobs.dispatch")
