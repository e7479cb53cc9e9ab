"""Every job is a run: create the runs of jobs, and copy the states of the jobs.

A session is one only once something is logged in it (`WorkloadKind.has_run`).

The run has the job's id. `Job.run_state` is the state that was copied last, so that a job with
another one is due; nothing is missed, however long the portal was down. A retried job continues
its run.

A task of an array that has started is a run below that of the job, with its index as a parameter
(`schedulers.spec.environment.task_run_id`). Tasks are followed while they run, and all of them when
the state of the job changes, so that their last states are right.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
from itertools import islice
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.db.models import F, Q, QuerySet

from clusters.models import Gpu
from experiments.models import Experiment, Run, RunStatus
from experiments.models.experiment import DEFAULT
from experiments.services import limits
from experiments.services.experiments import ensure_experiment
from experiments.services.runs import PARENT_TAG
from jobs.images import lookups
from jobs.kinds.workload_kinds import kind_of, page_at
from jobs.models import Attempt, Job
from portal.core import clock
from portal.core.bulk_updates import write_rows
from portal.core.errors import InvalidInput
from portal.core.wakeups import wake_worker
from portal.series.models import Series
from schedulers.images.config import Image
from schedulers.spec.environment import task_run_id
from schedulers.states import Reason, State
from workspaces.access.actors import Actor, authorize
from workspaces.access.permissions import Permission
from workspaces.models import Team
from workspaces.tenancy.scope import platform_scope

PIECE = 0.5  # seconds per run of the task, so that others get their turn
BATCH = 200  # jobs or tasks per transaction
RECENT = timedelta(minutes=2)  # changes of tasks that are followed while their job goes on
ARRAY_INDEX = "array_index"  # the parameter of the run of a task
_KILLED = frozenset({Reason.TIME_LIMIT, Reason.PREEMPTED, Reason.INTERRUPTED, Reason.CANCELED})
_FIELDS = ("name", "status", "started_ms", "ended_ms", "tags", "updated_at")


def follow_jobs() -> None:
    """Follow due jobs for PIECE seconds, and request another run if more remain."""
    until, after = clock.monotonic() + PIECE, UUID(int=0)
    with platform_scope("house-keeping"):
        while batch := list(_due().filter(id__gt=after).order_by("id")[:BATCH]):
            _follow(batch)
            after = batch[-1].id
            if clock.monotonic() > until:
                wake_worker("experiments.follow_jobs")
                return
        recent = clock.now() - RECENT
        is_active = Q(state__gt=State.QUEUED, state__lt=State.SUCCEEDED, state_at__gt=recent)
        _follow_tasks(_tasks().filter(is_active | Q(finished_at__gt=recent)))


def follow_job(job_id: UUID, *, is_asked: bool = True) -> bool:
    """Follow one job of the current organization at once; return whether it may have a run.

    `is_asked`: something is logged, so it gets a run even if jobs of its kind have none.
    """
    job = _with_all(Job.objects.filter(id=job_id)).first()
    if job is None:
        return False
    is_without = (
        is_asked and not kind_of(job).has_run and not Run.objects.filter(id=job.id).exists()
    )
    if job.run_state != job.state or is_without:
        _follow([job], is_asked=is_asked)
    return True


def follow_task(actor: Actor, run_id: UUID) -> bool:
    """Create the run of the task that the actor's token belongs to; return whether it is that run.

    A program may log before the task is followed.
    """
    attempt_id = actor.token.attempt_id if actor.token else None
    rows = Attempt.objects.filter(id=attempt_id, is_current=True, job__array_size__isnull=False)
    found = rows.first() if attempt_id else None
    if found is None or task_run_id(found.job_id, found.index) != run_id:
        return False
    follow_job(found.job_id)
    _follow_tasks(rows)
    return True


@transaction.atomic
def choose_experiment(actor: Actor, experiment: Experiment) -> None:
    """Move the run of the actor's job to the experiment that its program has set.

    Programs set it by name before they log, and MLflow's client refuses a run of another one.
    Nothing happens without the token of a job, and once something is logged.
    """
    attempt_id = actor.token.attempt_id if actor.token else None
    found = Attempt.objects.filter(id=attempt_id).select_related("job").first()
    if attempt_id is None or found is None or not follow_job(found.job_id):
        return
    ids = [found.job_id]
    if found.job.array_size is not None:
        ids.append(task_run_id(found.job_id, found.index))
        follow_task(actor, ids[-1])
    rows = Run.objects.select_for_update(of=("self",), no_key=True)
    for run in rows.filter(id__in=ids).order_by("id"):
        is_possible = run.team_id == experiment.team_id and experiment.deleted_at is None
        is_empty = run.params.keys() <= {ARRAY_INDEX} and not _has_series(run)
        if is_possible and is_empty and run.experiment_id != experiment.id:
            authorize(actor, Permission.EXPERIMENTS_WRITE, run.team_id)
            run.experiment = experiment
            run.save(update_fields=["experiment"])


def _has_series(run: Run) -> bool:
    return Series.objects.filter(owner=run.series_owner).exists()  # type: ignore[no-any-return]


def experiment_of(job: Job) -> str:
    """Return the name of the experiment that a job asks for."""
    asked = job.spec.get("experiment") or (job.spec.get("envs") or {}).get("MLFLOW_EXPERIMENT_NAME")
    return (asked or "").strip()[:500] or DEFAULT


def status_of(job: Job) -> str:
    """Return the status of a job's run."""
    return _status(State(job.state), job.reason)


def _status(state: State, reason: str) -> str:
    if state < State.RUNNING:
        return RunStatus.SCHEDULED
    if not state.is_final:
        return RunStatus.RUNNING
    if state == State.SUCCEEDED:
        return RunStatus.FINISHED
    is_killed = state == State.CANCELED or reason in _KILLED
    return RunStatus.KILLED if is_killed else RunStatus.FAILED


def _due() -> QuerySet[Job]:
    return _with_all(Job.objects.exclude(run_state=F("state")))


def _with_all(rows: QuerySet[Job]) -> QuerySet[Job]:
    return rows.select_related("org", "team", "owner", "cluster")


@transaction.atomic
def _follow(jobs: Sequence[Job], *, is_asked: bool = False) -> None:
    """Create or update the runs of these jobs."""
    known = Run.objects.filter(id__in=[job.id for job in jobs]).in_bulk()
    made = [job for job in jobs if is_asked or kind_of(job).has_run]
    _create([job for job in made if job.id not in known])
    # Locked in the order of ids, as others do, and with what clients have logged meanwhile
    rows = Run.objects.select_for_update(of=("self",), no_key=True).order_by("id")
    runs = {row.id: row for row in rows.filter(id__in=[job.id for job in jobs])}
    gpus = _gpu_types(jobs)
    for job in jobs:
        if run := runs.get(job.id):
            _update(run, job, gpus.get((job.cluster_id, job.node), ""))
    write_rows(list(runs.values()), _FIELDS)
    shown: dict[int, list[UUID]] = defaultdict(list)
    for job in jobs:
        shown[job.state].append(job.id)
    for state, ids in shown.items():
        Job.objects.filter(id__in=ids).update(run_state=state)
    arrays = [job.id for job in jobs if job.array_size is not None and job.state > State.QUEUED]
    if arrays:
        _follow_tasks(_tasks().filter(job__in=arrays))


def _tasks() -> QuerySet[Attempt]:
    """Return the started current attempts of arrays."""
    rows = Attempt.objects.filter(is_current=True, job__array_size__isnull=False)
    return rows.filter(Q(state__gte=State.RUNNING, state__lt=State.SUCCEEDED) | _ENDED)


_ENDED = Q(state__gte=State.SUCCEEDED, started_at__isnull=False)


def _follow_tasks(rows: QuerySet[Attempt]) -> None:
    """Create or update the runs of these tasks."""
    found = rows.select_related("job__org", "job__team", "job__owner", "job__cluster")
    rest = found.order_by("id").iterator(BATCH)
    while batch := list(islice(rest, BATCH)):
        _follow_batch(batch)


@transaction.atomic
def _follow_batch(attempts: Sequence[Attempt]) -> None:
    parents = Run.objects.in_bulk({attempt.job_id for attempt in attempts})
    ids = {task_run_id(one.job_id, one.index): one for one in attempts if one.job_id in parents}
    known = set(Run.objects.filter(id__in=ids).values_list("id", flat=True))
    made = [
        _run_of_task(pk, one, parents[one.job_id]) for pk, one in ids.items() if pk not in known
    ]
    Run.objects.bulk_create(made, ignore_conflicts=True)  # another process may be as fast
    locked = Run.objects.select_for_update(of=("self",), no_key=True).order_by("id")
    runs = list(locked.filter(id__in=ids))
    changed = [run for run in runs if _update_task(run, ids[run.id])]
    write_rows(changed, _FIELDS)


def _run_of_task(pk: UUID, attempt: Attempt, parent: Run) -> Run:
    name = f"{attempt.job.name}[{attempt.index}]"
    return Run(
        id=pk,
        org_id=parent.org_id,
        experiment_id=parent.experiment_id,
        team_id=parent.team_id,
        owner_id=parent.owner_id,
        parent=parent,
        name=name[-limits.RUN_NAME :],
        started_ms=_ms(attempt.started_at or attempt.state_at),
        series_owner=f"run:{pk.hex}",
        params={ARRAY_INDEX: str(attempt.index)},
        tags={PARENT_TAG: parent.id.hex},
    )


def _update_task(run: Run, attempt: Attempt) -> bool:
    """Copy what is known of a task; return whether anything has changed."""
    state, job = State(attempt.state), attempt.job
    before = (run.status, run.started_ms, run.ended_ms, run.tags)
    _set_status(run, _status(state, attempt.reason))
    run.started_ms = _ms(attempt.started_at or attempt.state_at)
    run.ended_ms = _ms(attempt.finished_at or attempt.state_at) if state.is_final else None
    facts = {
        "mlflow.user": job.owner.email,
        "muster.job": job.number,
        "muster.task": str(attempt.index),
        "muster.cluster": job.cluster.name,
        "muster.node": ",".join(attempt.nodes or []) or attempt.node,
        "muster.reason": attempt.reason if state.is_final else "",
        "muster.exit_code": attempt.exit_code,
    }
    run.tags = _with_facts(run, facts)
    run.updated_at = clock.now()
    return before != (run.status, run.started_ms, run.ended_ms, run.tags)


def _create(jobs: Sequence[Job]) -> None:
    found: dict[tuple[UUID, str], Experiment] = {}
    rows = []
    for job in jobs:
        name = experiment_of(job)
        if (job.team_id, name) not in found:
            found[job.team_id, name] = _experiment(job.team, job.owner_id, name)
        rows.append(
            Run(
                id=job.id,
                org_id=job.org_id,
                experiment=found[job.team_id, name],
                team_id=job.team_id,
                owner_id=job.owner_id,
                job=job,
                name=job.name,
                started_ms=_ms(job.created_at),
                series_owner=f"job:{job.id.hex}",
                created_at=job.created_at,
            )
        )
    Run.objects.bulk_create(rows, ignore_conflicts=True)  # another process may be as fast


def _update(run: Run, job: Job, gpu: str) -> None:
    """Copy what the job knows; what a program has said about its own end is kept if it is worse."""
    state, status = State(job.state), status_of(job)
    _set_status(run, status)
    run.started_ms = _ms(job.started_at or job.created_at)
    run.ended_ms = _ms(job.finished_at or job.state_at) if state.is_final else None
    run.tags = _with_facts(run, _facts(job, gpu))
    run.updated_at = clock.now()


def _set_status(run: Run, status: str) -> None:
    if not (status == RunStatus.FINISHED and run.status in {RunStatus.FAILED, RunStatus.KILLED}):
        run.status = status


def _with_facts(run: Run, facts: Mapping[str, Any]) -> dict[str, str]:
    """Return the tags of a run with those facts that are known."""
    kept = {name: value for name, value in run.tags.items() if name not in _OURS}
    known = {name: str(value) for name, value in facts.items() if value not in (None, "", 0)}
    return {**kept, **known}


_OURS = frozenset({"muster.reason", "muster.node", "muster.exit_code"})  # absent if unknown


def _facts(job: Job, gpu: str) -> dict[str, Any]:
    """Return what is known of a job as tags, with MLflow's names where it has one."""
    spec, digest = job.spec, _image_digest(job.spec.get("image") or "")
    return {
        "mlflow.user": job.owner.email,
        "mlflow.source.type": "JOB",
        "mlflow.source.name": settings.MUSTER_BASE_URL
        + page_at(job.org.slug, job.kind, job.number),
        "mlflow.source.git.commit": job.labels.get("git.commit"),
        "mlflow.source.git.branch": job.labels.get("git.branch"),
        "mlflow.source.git.repoURL": job.labels.get("git.repository"),
        "muster.job": job.number,
        "muster.attempts": job.attempt_count if job.attempt_count > 1 else None,
        "muster.cluster": job.cluster.name,
        "muster.node": ",".join(job.nodes or []) or job.node,
        "muster.gpus": job.resources.get("gpu"),
        "muster.gpu_type": gpu if job.resources.get("gpu") else None,
        "muster.image": spec.get("image"),
        "muster.image_digest": digest,
        "muster.reason": job.reason,
        "muster.exit_code": job.exit_code,
    }


def _image_digest(image: str) -> str:
    """Return the digest of an image: of its name, else of the registry's last answer."""
    if not image or "@" in image:
        return image.partition("@")[2]
    found = lookups.cached_image(image)
    return found.digests[0] if isinstance(found, Image) and found.digests else ""


def _gpu_types(jobs: Iterable[Job]) -> dict[tuple[UUID, str], str]:
    """Return the GPU models by cluster and node: one query for all jobs."""
    nodes = {job.node for job in jobs if job.node and job.resources.get("gpu")}
    if not nodes:
        return {}
    found: dict[tuple[UUID, str], str] = {}
    rows = Gpu.objects.filter(node__name__in=nodes).order_by("index")
    for cluster, node, model, kind in rows.values_list(
        "node__cluster_id", "node__name", "model", "type"
    ):
        found.setdefault((cluster, node), model or kind)
    return found


def _experiment(team: Team, owner_id: UUID, name: str) -> Experiment:
    """Return the team's experiment of this name, and make it if needed.

    Runs of jobs never go to the trash unseen: an experiment that is there is replaced by Default.
    """
    try:
        found = ensure_experiment(team=team, owner_id=owner_id, name=name, by="muster")
    except InvalidInput:  # what `envs` has may be no name
        return _experiment(team, owner_id, DEFAULT)
    if found.deleted_at is not None and name != DEFAULT:
        return _experiment(team, owner_id, DEFAULT)
    return found


def _ms(at: Any) -> int:
    return round(at.timestamp() * 1000)
