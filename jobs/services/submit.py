"""Submit a job: the only entry point, shared by the form, the API, the CLI and reruns."""

from __future__ import annotations

from contextlib import nullcontext

from django.db import transaction

from jobs.dispatch import live_updates
from jobs.kinds.origins import Origin
from jobs.kinds.reruns import rerun_of
from jobs.models import Dependency, Job
from jobs.models.job import PRIORITIES
from jobs.services import accept, folders, inputs
from jobs.services.checks import check_submission
from jobs.services.submission import Submission
from jobs.specs.stored import spec_of
from portal.core import clock
from portal.core.messages import Message
from portal.core.wakeups import wake_worker
from schedulers.spec import JobSpec
from schedulers.states import State, Wait
from workspaces.access.actors import Actor
from workspaces.models import Team, User


def submit_job(*, actor: Actor, team: Team, spec: JobSpec, origin: Origin | None = None) -> Job:
    """Accept a job; it is durable once the transaction commits, and starts when its turn comes.

    `origin` names what submits it for the actor, if not the actor itself. Raises InvalidInput
    (naming the field), NotPermitted, QuotaExceeded (the request alone exceeds a limit).
    """
    is_single = accept.is_one_statement() and not (spec.after or spec.inputs or spec.workspaces)
    with nullcontext() if is_single else transaction.atomic():
        submission = Submission.of(actor, team, spec, origin=origin)
        check_submission(submission)
        return _write(submission)


def _write(submission: Submission) -> Job:
    team, spec, needs = submission.team, submission.spec, submission.needs
    job = _new_job(submission)
    waits = any(not State(need.job.state).is_final for need in needs)
    job.wait = str(Wait.DEPENDENCY) if waits else ""
    data: dict[str, object] = {"name": job.name, "team": team.slug}
    if submission.origin:
        data["origin"] = submission.origin.as_dict()
    accept.write(job, spec.tasks, is_due=not waits, actor=submission.actor.email, data=data)
    if needs:
        Dependency.objects.bulk_create(
            Dependency(org_id=team.org_id, job=job, needs=need.job, condition=need.condition)
            for need in needs
        )
    if submission.inputs:
        inputs.record_inputs(job, submission.inputs)
    if submission.folders:
        folders.record_folders(job, submission.folders)
    live_updates.job_added(job)
    wake_worker("jobs.dispatch")
    return job


def _new_job(submission: Submission) -> Job:
    actor, spec, place = submission.actor, submission.spec, submission.place
    assert actor.user_id is not None
    at = clock.now()
    # Enough for display, without a query.
    owner = User(id=actor.user_id, email=actor.email, name=actor.name)
    job = Job(
        org=submission.team.org,
        number=0,
        team=submission.team,
        owner=owner,
        cluster=place.cluster,
        pool=place.pool,
        place_why=Message.joined(" ", (place.why, submission.ignored_options)),
        kind=submission.kind.name,
        name=spec.name,
        spec=spec.to_mapping(),
        labels=dict(spec.labels),
        priority=PRIORITIES[spec.policy.priority],
        resources=dict(submission.request.resources.totals),
        array_size=spec.array.size if spec.array else None,
        max_parallel=(spec.array.max_parallel or None) if spec.array else None,
        created_at=at,
        state_at=at,
    )
    job.origin = submission.origin
    return job


def rerun_job(
    *, actor: Actor, job: Job, spec: JobSpec | None = None, team: Team | None = None
) -> Job:
    """Submit the job again, optionally with a changed spec or for another team.

    The original is the origin of the new job. A rerun with the original spec drops its dependencies, and
    reads the same versions of data.
    """
    again = spec or inputs.with_pinned_inputs(job, _without_dependencies(spec_of(job)))
    return submit_job(actor=actor, team=team or job.team, spec=again, origin=rerun_of(job))


def _without_dependencies(spec: JobSpec) -> JobSpec:
    return spec.model_copy(update={"after": ()})
