"""Submit a job: the only entry point, shared by the form, the API, the CLI and reruns."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext

from django.db import transaction

from jobs import live_updates
from jobs.dispatch.job_status import is_met
from jobs.images.check import check_image
from jobs.job_specs import spec_of
from jobs.models import Dependency, Job
from jobs.models.job import PRIORITIES
from jobs.pricing import check_budget
from jobs.scheduling.admission import AdmissionRequest
from jobs.scheduling.snapshot import snapshot_of
from jobs.services import accept, inputs, workspaces
from jobs.services.checks import (
    Place,
    Prerequisite,
    check_access,
    check_features,
    check_outputs,
    check_possible,
    check_secrets,
    choose_place,
    find_needs,
    ignored_options,
    request_for,
)
from jobs.services.fast_path import plain_cluster
from jobs.services.team_rules import check_place_rule, check_rules, with_defaults
from portal.core import clock
from portal.core.errors import InvalidInput
from portal.core.messages import Message
from portal.core.wakeups import wake_worker
from schedulers.spec import JobSpec
from schedulers.states import State, Wait
from workspaces.access.actors import Actor
from workspaces.models import Team, User


def submit_job(*, actor: Actor, team: Team, spec: JobSpec, parent: Job | None = None) -> Job:
    """Accept a job; it is durable once the transaction commits, and starts when its turn comes.

    Raises InvalidInput (naming the field), NotPermitted, QuotaExceeded (the request alone exceeds a
    limit).
    """
    is_single = accept.is_one_statement() and not (spec.after or spec.inputs or spec.workspaces)
    with nullcontext() if is_single else transaction.atomic():
        return _submit(actor, team, spec, parent)


def _submit(actor: Actor, team: Team, spec: JobSpec, parent: Job | None) -> Job:
    spec = with_defaults(team, spec)
    check_access(actor, team, spec)
    check_rules(team, spec)
    check_budget(team)
    check_secrets(team, spec)
    check_outputs(actor, team, spec)
    request = request_for(actor, team, spec)
    place = _choose_place(actor, team, spec, request)
    check_place_rule(team, place)
    check_image(spec, place.cluster, place.pool)
    data = inputs.resolve_inputs(actor, team, spec)
    inputs.check_mounts(actor, team, spec, place)
    folders = workspaces.resolve_workspaces(actor, spec)
    workspaces.check_workspaces(actor, team, spec, place, folders)
    inputs.keep_inputs(data)
    needs = find_needs(actor, spec)
    _check_needs(needs)
    job = _new_job(actor, team, spec, place, request)
    job.parent, job.place_why = (
        parent,
        Message.joined(" ", (place.why, ignored_options(actor, team, spec, place))),
    )
    waits = any(not State(need.job.state).is_final for need in needs)
    job.wait = str(Wait.DEPENDENCY) if waits else ""
    accept.write(
        job,
        spec.tasks,
        is_due=not waits,
        actor=actor.email,
        data={"name": job.name, "team": team.slug}
        | ({"rerun_of": parent.number} if parent else {}),
    )
    if needs:
        Dependency.objects.bulk_create(
            Dependency(org_id=team.org_id, job=job, needs=need.job, condition=need.condition)
            for need in needs
        )
    if data:
        inputs.record_inputs(job, data)
    if folders:
        workspaces.record_workspaces(job, folders)
    live_updates.job_added(job)
    wake_worker("jobs.dispatch")
    return job


def _choose_place(actor: Actor, team: Team, spec: JobSpec, request: AdmissionRequest) -> Place:
    if cluster := plain_cluster(spec, request):
        check_features(spec, cluster)
        return Place(cluster)
    place = choose_place(actor, team, spec)
    check_features(spec, place.cluster)
    check_possible(request, snapshot_of(place.cluster, [request], is_idle=True))
    return place


def _new_job(
    actor: Actor, team: Team, spec: JobSpec, place: Place, request: AdmissionRequest
) -> Job:
    assert actor.user_id is not None
    at = clock.now()
    # Enough for display, without a query.
    owner = User(id=actor.user_id, email=actor.email, name=actor.name)
    return Job(
        org=team.org,
        number=0,
        team=team,
        owner=owner,
        cluster=place.cluster,
        pool=place.pool,
        name=spec.name,
        spec=spec.to_mapping(),
        labels=dict(spec.labels),
        priority=PRIORITIES[spec.policy.priority],
        resources=dict(request.resources.totals),
        array_size=spec.array.size if spec.array else None,
        max_parallel=(spec.array.max_parallel or None) if spec.array else None,
        created_at=at,
        state_at=at,
    )


def rerun_job(
    *, actor: Actor, job: Job, spec: JobSpec | None = None, team: Team | None = None
) -> Job:
    """Submit the job again, optionally with a changed spec or for another team.

    The new job remembers its parent. A rerun with the original spec drops its dependencies, and
    reads the same versions of data.
    """
    again = spec or inputs.with_pinned_inputs(job, _without_dependencies(spec_of(job)))
    return submit_job(actor=actor, team=team or job.team, spec=again, parent=job)


def _without_dependencies(spec: JobSpec) -> JobSpec:
    return spec.model_copy(update={"after": ()})


def _check_needs(needs: Sequence[Prerequisite]) -> None:
    """Reject a dependency that has already ended and can never be met."""
    for at, need in enumerate(needs):
        state = State(need.job.state)
        if state.is_final and not is_met(need.condition, state):
            raise InvalidInput.at(
                f"after[{at}]",
                f"#{need.job.number} has already ended {state.label}, so this job would never "
                "start; "
                f'write "#{need.job.number}:any" to start it anyway',
            )
