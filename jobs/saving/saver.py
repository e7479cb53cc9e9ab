"""Save the outputs of jobs whose folders the portal can open.

An output is due at its interval while its attempt runs, and once when the attempt has ended. A
process takes it by a lease, so that several may work; after a kill the next one takes over at once.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import timedelta
from functools import cached_property
from pathlib import PurePosixPath
from typing import BinaryIO, NamedTuple
from uuid import UUID

from django.db import transaction
from django.db.models import Q, QuerySet

from datasets import services
from datasets.models import Repository, Version
from datasets.names import checked_path
from jobs.data.outputs import KEPT, output_of
from jobs.dispatch import live_updates
from jobs.dispatch.lifecycle import backoff
from jobs.models import Attempt, Job, JobOutput
from jobs.models.output import OutputState
from jobs.saving import folder as folders
from jobs.saving.folder import LeftOut, Listing, Mark, Seen, Why
from jobs.saving.versions import actor_for, prune, repository_of, save_version
from jobs.specs.stored import spec_of
from portal.core import clock
from portal.core.disk import full_disk
from portal.core.errors import (
    InvalidInput,
    PortalError,
    QuotaExceeded,
    TooLarge,
    Unavailable,
)
from portal.core.events import EventRecord, record
from portal.core.lease_holder import is_dead, new_lease
from portal.core.messages import Message
from portal.core.wakeups import wake_worker
from schedulers.spec.data import Output
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


Held = tuple[BinaryIO, Mark]
_held = folders.HeldFiles()


class _Result(NamedTuple):
    """Whether everything was read, or some files are still being written; `note` is for people."""

    is_complete: bool = True
    note: str = ""
    is_saved: bool = False  # also without a version from which a retry continues


class _Refused(Exception):
    """Some files found no room; the others are saved."""


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
        has_ended = State(attempt.state).is_final
        found = _listed(folder, attempt)
        if has_ended:
            _held.forget(row.id)
            held: dict[str, Held] = {}
        else:
            held = _held.exchange(row.id, folder, found.changing)
        with ExitStack() as stack:
            for file, _ in held.values():
                stack.enter_context(file)
            return _save_folder(_Saving(row, attempt, spec, folder, held), found)


@dataclass(frozen=True)
class _Saving:
    """One save: of which output, and from which open folder."""

    row: JobOutput
    attempt: Attempt
    spec: Output
    folder: int
    held: Mapping[str, Held]

    @property
    def is_tried_again(self) -> bool:
        """Whether the end of the attempt was looked at before, and some files found no room."""
        return bool(self.row.tries) and State(self.attempt.state).is_final

    @cached_property
    def actor(self) -> Actor:
        return actor_for(self.attempt)

    @cached_property
    def repository(self) -> Repository:
        return repository_of(self.attempt, self.spec, self.actor)


def _save_folder(saving: _Saving, found: Listing) -> _Result:
    row = saving.row
    if not found.files and not found.changing:
        return _Result(note=folders.left_out_text(found.left_out))
    if not found.files and not saving.held and not State(saving.attempt.state).is_final:
        return _Result(is_complete=False, note=folders.left_out_text(found.left_out))
    rows_of(row).update(state=OutputState.SAVING)
    seen = folders.unpacked(bytes(row.seen))
    stored = _save_version(saving, found, seen)
    row.repository, row.version = saving.repository, stored.version or row.version
    rows_of(row).update(
        repository=saving.repository, version=row.version, seen=folders.packed(stored.files)
    )
    notes = [stored.note]
    if cut := [*stored.changing] if State(saving.attempt.state).is_final else []:
        stored.refused |= _save_cut(saving, stored, cut, seen)
        if cut := [path for path in cut if path not in stored.refused]:
            notes.insert(0, cut_text(cut))
    prune(row, saving.repository)
    if stored.refused:
        raise _Refused(_refused_text(stored, notes)) from next(iter(stored.refused.values()))
    return _Result(not stored.changing, Message.joined(" ", notes), is_saved=bool(cut))


def _save_cut(
    saving: _Saving, stored: _Stored, cut: Sequence[str], seen: dict[str, Seen]
) -> dict[str, PortalError]:
    """Save also what the job was writing when it was killed; return what was refused, and why.

    It becomes a version of its own; `row.version` stays the one before, from which a retry goes on.
    """
    refused: dict[str, PortalError] = {}
    everything = folders.listing(saving.folder, whole_until=None, has_succeeded=True).files
    files = {path: everything[path] for path in cut if path in everything}
    if all(path in seen and seen[path].mark == mark for path, mark in files.items()):
        both = {**stored.files, **{path: seen[path] for path in files}}  # saved at the last try
    else:
        last = _save_version(saving, Listing(files), seen, stored.files, cut)
        both, refused = last.files, last.refused
    rows_of(saving.row).update(seen=folders.packed(both))
    return refused


def cut_text(cut: Sequence[str]) -> str:
    """Say that files may be incomplete, for people."""
    return Message(
        "The job was killed within {n} s of writing {paths}, which may be incomplete. It is in a "
        "version of its own, and a retry continues from the version before it.",
        n=f"{folders.YOUNG:g}",
        paths=folders.paths_text(cut),
    )


@dataclass
class _Stored:
    """The files that were stored, and why others were not."""

    files: dict[str, Seen] = field(default_factory=dict)
    changing: list[str] = field(default_factory=list)
    refused: dict[str, PortalError] = field(default_factory=dict)
    left_out: LeftOut = field(default_factory=dict)
    version: Version | None = None
    note: str = ""


def _save_version(
    saving: _Saving,
    found: Listing,
    seen: dict[str, Seen],
    others: Mapping[str, Seen] | None = None,
    cut: Sequence[str] = (),
) -> _Stored:
    """Store the files of a listing and make a version of them, and of `others`.

    Raises what refused a file if none could be stored.
    """
    known = dict(seen)
    for is_last in (False, True):
        for _ in range(ROUNDS):
            stored = _stored(saving, found, known)
            if not stored.changing or cut:
                break
            # Files went away, as when an old checkpoint is deleted: take the folder as it is
            # now, or a version would have a part of the old one.
            known |= stored.files
            found = _listed(saving.folder, saving.attempt)
        stored.changing += [path for path in found.changing if path not in saving.held]
        stored.files = {**(others or {}), **stored.files}
        if stored.refused and not stored.files:
            raise next(iter(stored.refused.values()))
        if saving.is_tried_again and not cut and _is_saved(stored, seen):
            break
        names = FileNames()
        left_out = _checked([*stored.changing, *stored.refused])
        try:
            shas = names.clean({path: one.sha256 for path, one in stored.files.items()})
            stored.version = save_version(
                saving.row, saving.repository, saving.actor, shas, left_out, cut
            )
            unnamed = [*stored.left_out.get(Why.NAME, ()), *names.left_out]
            stored.note = folders.left_out_text({**stored.left_out, Why.NAME: unnamed})
            break
        except InvalidInput as error:
            if error.kind != "not_uploaded" or is_last:
                raise
            known = {}  # they were deleted with old versions
    return stored


def _is_saved(stored: _Stored, seen: Mapping[str, Seen]) -> bool:
    """Tell whether the last version has these files: its cut ones are in a version of their own."""
    cut = {path: seen[path] for path in stored.changing if path in seen}
    return {**stored.files, **cut} == seen


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


def _stored(saving: _Saving, found: Listing, seen: Mapping[str, Seen]) -> _Stored:
    """Store the files that are new, the small ones first: one that has no room stops no other."""
    stored = _Stored(left_out={why: [*paths] for why, paths in found.left_out.items()})
    marks = {**found.files, **{path: mark for path, (_, mark) in saving.held.items()}}
    for path, mark in sorted(marks.items(), key=lambda item: (item[1].size, item[0])):
        known = seen.get(path)
        if known and known.mark == mark:
            stored.files[path] = known
            continue
        try:
            _store_file(saving, stored, path, mark)
        except PermissionError:
            stored.left_out.setdefault(Why.UNREADABLE, []).append(path)
        except (QuotaExceeded, TooLarge, Unavailable) as error:
            if isinstance(error, Unavailable) and error.kind != "disk_full":
                raise
            stored.refused[path] = error
    return stored


def _store_file(saving: _Saving, stored: _Stored, path: str, mark: Mark) -> None:
    file = saving.held[path][0] if path in saving.held else None
    with folders.opened_file(saving.folder, path, mark, file) as reading:
        if reading is None:
            stored.changing.append(path)
            return
        chunks = _renewing(saving.row, reading.chunks())
        try:
            content = services.put_file(
                actor=saving.actor,
                repository=saving.repository,
                chunks=chunks,
                size=reading.mark.size,
            )
        except InvalidInput as error:
            if error.kind != "incomplete":
                raise
            stored.changing.append(path)  # it became shorter
            return
        if reading.is_whole:
            stored.files[path] = Seen(reading.mark, content.sha256)
        else:
            stored.changing.append(path)


def _refused_text(stored: _Stored, notes: Sequence[str]) -> str:
    path, error = next(iter(stored.refused.items()))
    more = len(stored.refused) - 1
    text = Message(
        "{path} was not saved: {why}",
        context="text, jobs",
        path=folders.paths_text([path]),
        why=error.message,
    )
    others = Message.plural(
        more, "{n} more file was not saved.", "{n} more files were not saved.", n=more
    )
    return Message.joined(" ", [text, others if more else "", *notes])


def _renewing(row: JobOutput, chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Renew the lease while chunks are read."""
    due = clock.monotonic() + LEASE / 4
    for chunk in chunks:
        if clock.monotonic() > due:
            JobOutput.objects.filter(id=row.id).update(lease_until=clock.after(LEASE))
            due = clock.monotonic() + LEASE / 4
        yield chunk


class FileNames:
    """The paths of files in a version; `note` names those that a version cannot have."""

    def __init__(self) -> None:
        self.left_out: list[str] = []

    def clean(self, values: Mapping[str, str]) -> dict[str, str]:
        """Return values by the path in a version instead of the path of the file."""
        found: dict[str, str] = {}
        for path, value in values.items():
            name = next(iter(_checked([path])), None)
            if name is None or name in found:  # two names that are one in Unicode's form NFC
                self.left_out.append(path)
            else:
                found[name] = value
        return found

    @property
    def note(self) -> str:
        return folders.left_out_text({Why.NAME: self.left_out})


def _checked(paths: Iterable[str]) -> list[str]:
    found = []
    for path in paths:
        try:
            found.append(checked_path(path))
        except InvalidInput:
            continue
    return found


def _whole_until(attempt: Attempt) -> float | None:
    """Return the time by which files of an attempt had to be complete; None if all are."""
    if not State(attempt.state).is_final:
        return folders.now()
    if attempt.reason in _CUT and attempt.finished_at:
        return attempt.finished_at.timestamp()
    return None


def _listed(folder: int, attempt: Attempt) -> Listing:
    return folders.listing(
        folder,
        whole_until=_whole_until(attempt),
        has_succeeded=attempt.state == State.SUCCEEDED,
        has_ended=State(attempt.state).is_final,
    )


@transaction.atomic
def _succeed(row: JobOutput, attempt: Attempt, result: _Result, *, is_end: bool) -> None:
    every = spec_of(row.job).outputs[row.name].every if row.name in spec_of(row.job).outputs else 0
    pause = timedelta(seconds=every) if result.is_complete else min(SOON, timedelta(seconds=every))
    rows_of(row).update(
        state=OutputState.SAVED if row.version_id or result.is_saved else OutputState.WAITING,
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
    if not isinstance(error, PortalError | _Cut | _Refused):
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
        return Message(
            "It has more than {n} files, or more than {entries} files and folders.",
            n=f"{folders.MOST_FILES:,}",
            entries=f"{folders.MOST_ENTRIES:,}",
        )
    if isinstance(error, OSError):
        error = full_disk(error) or error
    if isinstance(error, PortalError):
        return error.message
    if isinstance(error, _Cut | _Refused):
        return error.args[0]  # type: ignore[no-any-return]
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
