"""Jobs of the subjects of lists: GPUs in use, the last job, and what used a dataset or a secret."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, date, datetime, time
from typing import Any
from uuid import UUID

from django.db.models import Count, Max, OuterRef, QuerySet, Subquery
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import TruncDate

from jobs.models import Job, JobInput
from jobs.selectors.gpu_use import allocated_by
from jobs.selectors.jobs import visible_jobs
from jobs.selectors.representations import job_row, listed
from portal.core.audit.canonical import NO_ORG
from portal.core.audit.reading import events_of
from portal.core.models import Event
from workspaces.access.actors import Actor
from workspaces.access.permissions import Permission
from workspaces.models import Organization, Team, User
from workspaces.subjects import DAYS, SubjectKind, UseSource, first_day

_MODELS: dict[SubjectKind, tuple[Any, str]] = {
    SubjectKind.ORG: (Organization, "org"),
    SubjectKind.TEAM: (Team, "team"),
    SubjectKind.USER: (User, "owner"),
}

_FIGURES = frozenset({"gpus_used", "last_job_at", "jobs", "job_trend", "last_used_at"})


def use_of(kind: SubjectKind, keys: Sequence[Any], actor: Actor) -> Mapping[Any, Any]:
    """Return what jobs that the actor may see use now, and when the last one was submitted."""
    if kind is SubjectKind.DATASET:
        return _use_of_data(keys, actor)
    if kind is SubjectKind.SECRET:
        return _use_of_secrets(keys, actor)
    if kind not in _MODELS:
        return {}
    model, field = _MODELS[kind]
    is_whole = kind is SubjectKind.ORG  # in the platform's scope
    teams = None if is_whole else actor.teams_where(Permission.JOBS_READ)
    if teams is not None and not teams:
        return {}
    jobs = Job.objects.all() if is_whole else visible_jobs(actor)
    # By the index of each subject's jobs; a maximum would read all of them
    last = jobs.filter(**{field: OuterRef("pk")}).order_by("-number").values("created_at")[:1]
    subjects = model.objects.filter(pk__in=keys).annotate(last=Subquery(last))
    where = {f"job__{field}__in": list(keys)}
    if teams is not None:
        where["job__team__in"] = list(teams)
        if kind is SubjectKind.TEAM:
            subjects = subjects.filter(pk__in=teams)
    gpus = allocated_by(f"job__{field}_id", **where)
    return {
        pk: {"gpus_used": gpus[pk], "last_job_at": at}
        for pk, at in subjects.values_list("pk", "last")
    }


def sees(actor: Actor) -> frozenset[str]:
    """Return which of these figures the actor may see of some subject."""
    is_any = actor.org_id is None or actor.teams_where(Permission.JOBS_READ) != frozenset()
    return _FIGURES if is_any else frozenset()


SOURCE = UseSource(use_of, sees)


def _use_of_data(ids: Sequence[UUID], actor: Actor) -> Mapping[UUID, Any]:
    """Return the jobs that read versions of these datasets and checkpoints."""
    rows = JobInput.objects.filter(version__repository__in=list(ids))
    rows = rows.filter(job__in=visible_jobs(actor).values("id")).order_by()
    last = rows.values_list("version__repository").annotate(at=Max("job__created_at"))
    days = rows.filter(job__created_at__gte=_begin()).values_list(
        "version__repository", TruncDate("job__created_at", tzinfo=UTC)
    )
    return _by_day(ids, days.annotate(n=Count("job", distinct=True)), dict(last))


def _use_of_secrets(names: Sequence[str], actor: Actor) -> Mapping[str, Any]:
    """Return the jobs that were given these secrets, by the events of their use."""
    rows = secret_uses(actor).filter(at__gte=_begin()).order_by()
    days = (
        rows.annotate(name=KeyTextTransform("secret", "data"))
        .filter(name__in=list(names))
        .values_list("name", TruncDate("at", tzinfo=UTC))
        .annotate(n=Count("subject_id", distinct=True))
    )
    return _by_day(names, days)


def secret_uses(actor: Actor) -> QuerySet[Event]:
    """Return the events of jobs that were given secrets, of jobs that the actor may see."""
    rows = events_of(actor.org_id or NO_ORG).filter(kind="secret.used", subject_type="job")
    if actor.teams_where(Permission.JOBS_READ) is None:
        return rows
    return rows.filter(subject_id__in=visible_jobs(actor).values("id"))


def jobs_given(actor: Actor, secret: str, limit: int) -> list[dict[str, Any]]:
    """Return the last uses of a secret: the job, its version of the secret, and when."""
    events = list(
        secret_uses(actor)
        .annotate(name=KeyTextTransform("secret", "data"))
        .filter(name=secret)
        .order_by("-at")[:limit]
    )
    jobs = visible_jobs(actor).filter(id__in={event.subject_id for event in events})
    rows = {job.id: job_row(job) for job in listed(jobs)}
    return [
        {"job": rows[event.subject_id], "version": event.data.get("version"), "at": event.at}
        for event in events
        if event.subject_id in rows
    ]


def _begin() -> datetime:
    return datetime.combine(first_day(), time(), UTC)


def _by_day(
    keys: Sequence[Any],
    days: Iterable[tuple[Any, date, int]],
    last: Mapping[Any, Any] | None = None,
) -> Mapping[Any, Any]:
    first, trends = first_day(), {key: [0] * DAYS for key in keys}
    for key, day, n in days:
        if 0 <= (at := (day - first).days) < DAYS:
            trends[key][at] = n
    return {
        key: {"jobs": sum(trend), "job_trend": trend}
        | ({} if last is None else {"last_used_at": last.get(key)})
        for key, trend in trends.items()
    }
