"""Submitting a job: the one way in for the form, the API, the CLI and a rerun."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from django.db import connection, transaction

from jobs import announce
from jobs.derive import is_met
from jobs.models import Attempt, Dependency, Job
from jobs.models.job import PRIORITIES
from jobs.services.checks import (
    Need,
    ask_for,
    check_access,
    check_features,
    check_possible,
    choose_place,
    empty_room,
    find_needs,
    left_out,
)
from jobs.spec import JobSpec
from jobs.specs import spec_of
from jobs.states import State, Wait
from portal.core import clock
from portal.core.bulk import repeat_row
from portal.core.errors import InvalidInput
from portal.core.events import Fact, record
from portal.core.hints import hint
from workspaces.actors import Actor
from workspaces.models import Organization, Team, User


@transaction.atomic
def submit_job(*, actor: Actor, team: Team, spec: JobSpec, parent: Job | None = None) -> Job:
    """Accept a job: once this returns and the transaction commits, it is not lost. It starts when its turn comes.

    Raises InvalidInput (naming the field), NotPermitted, QuotaExceeded (asks more than a limit allows at all).
    """
    check_access(actor, team, spec)
    place = choose_place(actor, team, spec)
    cluster = place.cluster
    check_features(spec, cluster)
    notes = left_out(actor, team, spec, place)
    ask = ask_for(actor, team, spec)
    check_possible(ask, empty_room(cluster, ask))
    needs = find_needs(actor, spec)
    _check_needs(needs)
    assert actor.user_id is not None
    job = Job(
        org=team.org, number=0, team=team, owner_id=actor.user_id, cluster=cluster, pool=place.pool, place_why=f"{place.why} {notes}".strip()[:500],
        parent=parent, name=spec.name,
        spec=spec.to_mapping(), labels=dict(spec.labels), priority=PRIORITIES[spec.policy.priority],
        resources=dict(ask.resources), array_size=spec.array.size if spec.array else None,
        max_parallel=(spec.array.max_parallel or None) if spec.array else None)
    waits = any(not State(need.job.state).is_final for need in needs)
    job.wait = str(Wait.DEPENDENCY) if waits else ""
    job.owner = User(id=actor.user_id, email=actor.email, name=actor.name)   # as it is shown, without asking for it again
    job.number = _next_number(team)
    job.save(force_insert=True)
    Dependency.objects.bulk_create(
        Dependency(org_id=team.org_id, job=job, needs=need.job, condition=need.condition) for need in needs)
    _queue(job, spec.tasks, is_due=not waits)
    record(Fact("job.submitted", job.org_id, "job", job.id, actor.email,
                {"number": job.number, "name": job.name, "team": team.slug} | ({"rerun_of": parent.number} if parent else {})))
    announce.jobs_changed([job])
    hint("jobs.dispatch")
    return job


def rerun_job(*, actor: Actor, job: Job, spec: JobSpec | None = None) -> Job:
    """Submit the same again, or with a changed spec; the new job remembers its parent. It waits for nobody."""
    again = spec or spec_of(job)
    return submit_job(actor=actor, team=job.team, spec=again if spec else _alone(again), parent=job)


def _alone(spec: JobSpec) -> JobSpec:
    return replace(spec, after=())


def _check_needs(needs: Sequence[Need]) -> None:
    """A need that has already ended otherwise can never be met."""
    for at, need in enumerate(needs):
        state = State(need.job.state)
        if state.is_final and not is_met(need.condition, state):
            raise InvalidInput.at(f"after[{at}]", f"#{need.job.number} has already ended {state.word}, so this would never start; "
                                                  f'write "#{need.job.number}:any" to start it all the same')


def _next_number(team: Team) -> int:
    """Count the organization's jobs on. The row stays locked until the commit, so this comes late."""
    table = connection.ops.quote_name(Organization._meta.db_table)
    sql = f"UPDATE {table} SET last_job_number = last_job_number + 1 WHERE id = %s RETURNING last_job_number"  # noqa: S608  no input
    with connection.cursor() as cursor:
        cursor.execute(sql, [Organization._meta.pk.get_db_prep_value(team.org_id, connection)])
        return int(cursor.fetchone()[0])


def _queue(job: Job, tasks: int, *, is_due: bool) -> None:
    at = clock.now()
    first = Attempt.objects.create(
        org_id=job.org_id, job=job, cluster_id=job.cluster_id, index=0, priority=job.priority, state_at=at, queued_at=at,
        due_at=at if is_due else None, wait=job.wait, wait_since=at if job.wait else None)
    if tasks > 1:
        repeat_row(first, "index", tasks - 1)
