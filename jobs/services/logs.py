"""Delete the logs of a job."""

from __future__ import annotations

from django.db import transaction

from jobs.data import log_storage
from jobs.models import Job
from jobs.services.change import authorize_change
from portal.core import clock
from portal.core.errors import Conflict
from portal.core.events import EventRecord, record
from portal.core.messages import Message
from portal.core.wakeups import wake_worker
from schedulers.states import State
from workspaces.access.actors import Actor
from workspaces.access.permissions import Permission


@transaction.atomic
def delete_logs(*, actor: Actor, job: Job) -> Job:
    """Request the permanent deletion of all logs of a job that has ended.

    Covers all tasks and retries; whoever may cancel the job may do this. A background task deletes
    the files. Idempotent. Raises NotPermitted, Conflict.
    """
    authorize_change(actor, job, Permission.JOBS_CANCEL)
    job = Job.objects.select_for_update().get(id=job.id)
    if not State(job.state).is_final:
        raise Conflict(
            Message(
                "#{number} has not ended. Its logs can be deleted after it ends.", number=job.number
            )
        )
    if not job.log_delete_asked_at:
        size = log_storage.bytes_of(job)
        job.log_delete_asked_at, job.log_delete_asked_by = clock.now(), actor.email
        job.save(update_fields=["log_delete_asked_at", "log_delete_asked_by"])
        record(
            EventRecord(
                "job.log_deleted",
                job.org_id,
                "job",
                job.id,
                actor.email,
                {
                    "number": job.number,
                    "before": {"log": "kept", "bytes": size},
                    "after": {"log": "deleted", "bytes": 0},
                },
            )
        )
    wake_worker("jobs.delete_logs")
    return job
