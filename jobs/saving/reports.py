"""Take what a job saves itself, where the portal cannot read its folder."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import timedelta

from django.db import transaction

from datasets.models import Repository, Version
from jobs.dispatch import live_updates
from jobs.models import Attempt, Job, JobOutput
from jobs.models.output import OutputState
from jobs.saving.saver import FileNames, cut_text, record_failure, rows_of
from jobs.saving.versions import prune, repository_of, save_version
from jobs.specs.stored import spec_of
from portal.core import clock
from portal.core.errors import NotFound, NotPermitted
from portal.core.messages import Message
from workspaces.access.actors import Actor, authorize
from workspaces.access.permissions import Permission


def find_output(actor: Actor, job: Job, name: str, index: int = 0) -> JobOutput:
    """Return an output of the attempt that the actor's token belongs to.

    Raises NotFound, and NotPermitted for others: only the job itself saves.
    """
    authorize(actor, Permission.DATASETS_WRITE, job.team_id)
    attempt_id = actor.token.attempt_id if actor.token else None
    attempt = Attempt.objects.filter(id=attempt_id, job=job, index=index).first()
    if attempt_id is None or attempt is None:
        raise NotPermitted(Message("A job can save only its own outputs."))
    rows = JobOutput.objects.select_related("version", "repository__team")
    row = rows.filter(job=job, index=index, name=name, attempt=attempt).first()
    if row is None or name not in spec_of(job).outputs:
        raise NotFound(Message("This job has no output {name}.", name=repr(name[:64])))
    row.job, row.attempt = job, attempt
    attempt.job = job
    return row  # type: ignore[no-any-return]


def open_output(*, actor: Actor, row: JobOutput) -> Repository:
    """Return the repository that the files go to; it is made at the first use.

    Raises NotPermitted, Conflict.
    """
    repository = _repository(row, actor)
    JobOutput.objects.filter(id=row.id).update(
        repository=repository, state=OutputState.SAVING, message=""
    )
    live_updates.outputs_changed(row.job)
    return repository


def _repository(row: JobOutput, actor: Actor) -> Repository:
    assert row.attempt is not None
    return repository_of(row.attempt, spec_of(row.job).outputs[row.name], actor)


@transaction.atomic
def save_reported(
    *,
    actor: Actor,
    row: JobOutput,
    files: Mapping[str, str],
    left_out: Collection[str] = (),
    cut: Mapping[str, str] | None = None,
    note: str = "",
    is_end: bool = False,
) -> Version | None:
    """Make a version of files that the job has sent (SHA-256 by path). Idempotent.

    What a killed job was writing is `cut` and becomes a version of its own. `note` says what is not
    saved and why.

    Raises InvalidInput with the code `not_uploaded`, NotPermitted.
    """
    repository = _repository(row, actor)
    names = FileNames()
    whole, cut = names.clean(files), names.clean(cut or {})
    left_out = [*names.clean(dict.fromkeys(left_out, "")), *cut]
    version = save_version(row, repository, actor, whole, left_out)
    notes = [note.replace("\x00", ""), names.note]
    if cut:
        save_version(row, repository, actor, {**whole, **cut}, left_out, [*cut])
        notes.insert(0, cut_text([*cut]))
    every = spec_of(row.job).outputs[row.name].every
    row.repository, row.version = repository, version or row.version
    rows_of(row).update(
        repository=repository,
        version=row.version,
        state=OutputState.SAVED if row.version or cut else OutputState.WAITING,
        message=Message.joined(" ", notes),
        saved_at=clock.now(),
        is_over=is_end,
        tries=0,
        due_at=None if is_end or not every else clock.now() + timedelta(seconds=every),
    )
    prune(row, repository)
    live_updates.outputs_changed(row.job)
    return version


@transaction.atomic
def report_output(*, row: JobOutput, message: str, is_end: bool = False) -> None:
    """Note why an output was not saved, or with no message that there is nothing more to save."""
    text = message.strip().replace("\x00", "")[:2000]
    if text and row.message != text:
        record_failure(row, text)
    if text:
        row.state = OutputState.FAILED
    else:
        row.state = OutputState.SAVED if row.version else OutputState.WAITING
    rows_of(row).update(state=row.state, message=text, is_over=is_end)
    live_updates.outputs_changed(row.job)
