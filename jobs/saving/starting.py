"""Begin the outputs of attempts that are about to start: what they resume from, and when to save."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import NamedTuple
from uuid import UUID

from django.db import transaction

from datasets.models import Version
from datasets.selectors import find_repository
from datasets.services.records import keep_versions
from jobs.models import Attempt, JobOutput
from jobs.models.output import OutputState
from jobs.saving.versions import actor_for, name_of, prefix_of, resume_version
from jobs.specs.stored import spec_of
from portal.core import clock
from portal.core.errors import NotFound, PortalError
from schedulers.spec.data import Output, Resume
from workspaces.tenancy.scope import org_scope

log = logging.getLogger(__name__)


class Begun(NamedTuple):
    """An output of an attempt, and the version whose files it starts with.

    `below` is the folder of that version which the task of an array starts with. `every`: seconds.
    """

    name: str
    every: int = 0
    resume: Version | None = None
    below: str = ""


def begin(attempts: Sequence[Attempt]) -> dict[UUID, list[Begun]]:
    """Prepare the outputs of attempts by attempt id. Idempotent: nothing changes the second time."""
    found = {}
    for attempt in attempts:
        outputs = spec_of(attempt.job).outputs if attempt.job.spec.get("outputs") else {}
        if outputs:
            with org_scope(attempt.org_id):
                found[attempt.id] = [
                    _begin(attempt, name, output) for name, output in outputs.items()
                ]
    return found


@transaction.atomic
def _begin(attempt: Attempt, name: str, output: Output) -> Begun:
    row, _ = JobOutput.objects.select_related("version__repository__org").get_or_create(
        job=attempt.job, index=attempt.index, name=name, defaults={"org_id": attempt.org_id}
    )
    row.job = attempt.job
    if row.attempt_id != attempt.id:
        version = _resumed(row, attempt, output)
        row.attempt, row.is_over, row.is_resumed = attempt, False, version is not None
        row.version = version or row.version
        row.seen, row.message, row.tries = b"", "", 0
        row.state = OutputState.SAVED if row.saved_at and row.version else OutputState.WAITING
        row.due_at = clock.after(output.every) if output.every else None
        row.lease = row.lease_until = None
        row.save()
    resume = row.version if row.is_resumed else None
    return Begun(name, output.every, resume, prefix_of(row))


def _resumed(row: JobOutput, attempt: Attempt, output: Output) -> Version | None:
    if output.resume == Resume.NONE:
        return None
    try:
        actor = actor_for(attempt)
        repository = find_repository(actor, output.kind, name_of(output))
        version = resume_version(row, repository, output)
        return version if version and keep_versions([version.id]) else None
    except NotFound:  # nothing was saved yet
        return None
    except PortalError as error:
        log.warning("job %s does not resume: %s", attempt.job_id, error)
        return None
