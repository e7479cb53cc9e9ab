"""Give a job more time than its time limit says."""

from __future__ import annotations

import math
from typing import Any

from django.db import transaction

from clusters.backends import backend_of
from jobs.models import Attempt, Job
from jobs.quotas.pricing import check_budget
from jobs.services.change import authorize_change
from jobs.services.team_rules import check_rules
from jobs.specs.stored import spec_of
from portal.core.errors import Conflict, InvalidInput, Unavailable
from portal.core.events import EventRecord, record
from portal.core.messages import Message
from schedulers.contract import Capability, Rejected
from schedulers.contract import Unavailable as ClusterUnavailable
from schedulers.spec.data import YEAR
from schedulers.spec.grammar import format_duration
from schedulers.states import State
from workspaces.access.actors import Actor
from workspaces.access.permissions import Permission

MINUTE = 60


def extend_job(*, actor: Actor, job: Job, seconds: int) -> int:
    """Raise the time limit of a job by so many seconds, in whole minutes; return the new one.

    What waits gets it at its start. Of a running job the cluster is asked first, so that the portal
    never promises more than the cluster does. Raises InvalidInput, NotPermitted, QuotaExceeded,
    Conflict, Unavailable.
    """
    authorize_change(actor, job, Permission.JOBS_SUBMIT)
    if not 0 < seconds <= YEAR:
        raise InvalidInput.at("by", Message("must be from 1m to 366d"))
    spec = spec_of(job)
    before = spec.policy.max_runtime
    if before is None:
        raise Conflict(Message("#{number} has no time limit.", number=job.number))
    after = before + math.ceil(seconds / MINUTE) * MINUTE
    if after > YEAR:
        raise InvalidInput.at("by", Message("The time limit must be at most 366 days in all."))
    _check_may_last(job, after)
    attempts = list(Attempt.objects.filter(job=job, is_current=True, state__lt=State.SUCCEEDED))
    if running := [one for one in attempts if one.state > State.QUEUED]:
        _tell_cluster(job, running, after, float(spec.policy.grace))
    try:
        _store(actor, job, before, after)
    except Conflict:  # somebody else was faster: what the portal says holds
        now = spec_of(Job.objects.get(id=job.id)).policy.max_runtime
        if running and now:
            _tell_cluster(job, running, now, float(spec.policy.grace))
        raise
    return after


def can_extend(job: Job) -> bool:
    """Return whether the time limit of a job can be raised now."""
    if State(job.state).is_final or job.cancel_asked_at:
        return False
    is_waiting = State(job.state) is State.QUEUED
    return is_waiting or Capability.TIME_LIMIT in backend_of(job.cluster).capabilities


def _check_may_last(job: Job, seconds: int) -> None:
    """Require that the rules and the budget of the team allow it. Raises InvalidInput, QuotaExceeded."""
    spec = spec_of(job)
    policy = spec.policy.model_copy(update={"max_runtime": seconds})
    try:
        check_rules(job.team, spec.model_copy(update={"policy": policy}))
    except InvalidInput as error:
        wrong = [one for one in error.data["errors"] if one["field"] == "policy.max_runtime"]
        if wrong:
            raise InvalidInput.at("by", wrong[0]["message"]) from error
    check_budget(job.team)


def _tell_cluster(job: Job, attempts: list[Attempt], seconds: int, grace: float) -> None:
    backend: Any = backend_of(job.cluster)
    if any(one.state != State.RUNNING for one in attempts):
        raise Conflict(
            Message("#{number} is starting or stopping. Try again in a moment.", number=job.number)
        )
    if Capability.TIME_LIMIT not in backend.capabilities:
        raise Conflict(
            Message(
                "{cluster} can't raise the time limit of what already runs: {backend} does not allow it. "
                "Start another one before it ends.",
                cluster=job.cluster.name,
                backend=backend.title,
            )
        )
    try:
        for one in attempts:
            backend.set_time_limit(one.key, seconds, grace)
    except Rejected as error:
        raise Conflict(error.args[0]) from error
    except ClusterUnavailable as error:
        raise Unavailable(str(error)) from error


@transaction.atomic
def _store(actor: Actor, job: Job, before: int, after: int) -> None:
    """Keep the new limit, from which expected ends follow. Raises Conflict if it changed meanwhile."""
    row = Job.objects.select_for_update().get(id=job.id)
    if spec_of(row).policy.max_runtime != before or State(row.state).is_final:
        raise Conflict(Message("#{number} has changed meanwhile. Look again.", number=row.number))
    policy = {**row.spec.get("policy", {}), "max_runtime": format_duration(after)}
    row.spec = {**row.spec, "policy": policy}
    row.save(update_fields=["spec"])
    limits = {
        "before": {"time_limit": format_duration(before)},
        "after": {"time_limit": format_duration(after)},
    }
    data = {"number": row.number, "time_limit": format_duration(after), **limits}
    record(EventRecord("job.extended", row.org_id, "job", row.id, actor.email, data))
