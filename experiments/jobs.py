"""Every job is a run: create the runs of jobs, and copy the states of the jobs.

The run has the job's id. `Job.run_state` is the state that was copied last, so that a job with
another one is due; nothing is missed, however long the portal was down. A retried job continues
its run.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.db.models import F, QuerySet

from clusters.models import Gpu
from experiments.models import Experiment, Run, RunStatus
from experiments.models.experiment import DEFAULT
from experiments.services.experiments import ensure_experiment
from jobs.bulk import write_rows
from jobs.images import lookups
from jobs.models import Attempt, Job
from portal.core import clock
from portal.core.errors import InvalidInput
from portal.core.wakeups import wake_worker
from portal.series.models import Series
from schedulers.images.config import Image
from schedulers.states import Reason, State
from workspaces.access.actors import Actor, authorize
from workspaces.access.permissions import Permission
from workspaces.models import Team
from workspaces.tenancy.scope import platform_scope

PIECE = 0.5  # seconds per run of the task, so that others get their turn
BATCH = 200  # jobs per transaction
_KILLED = frozenset({Reason.TIME_LIMIT, Reason.PREEMPTED, Reason.CANCELED})
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


def follow_job(job_id: UUID) -> bool:
    """Follow one job of the current organization at once; return whether it exists."""
    job = _with_all(Job.objects.filter(id=job_id)).first()
    if job is None:
        return False
    if job.run_state != job.state:
        _follow([job])
    return True


@transaction.atomic
def choose_experiment(actor: Actor, experiment: Experiment) -> None:
    """Move the run of the actor's job to the experiment that its program has set.

    Programs set it by name before they log, and MLflow's client refuses a run of another one.
    Nothing happens without the token of a job, and once something is logged.
    """
    attempt_id = actor.token.attempt_id if actor.token else None
    job_id = Attempt.objects.filter(id=attempt_id, job__array_size=None).values_list("job_id")
    if attempt_id is None or (found := job_id.first()) is None or not follow_job(found[0]):
        return
    run = Run.objects.select_for_update(of=("self",), no_key=True).get(id=found[0])
    is_possible = run.team_id == experiment.team_id and experiment.deleted_at is None
    is_empty = not run.params and not Series.objects.filter(owner=run.series_owner).exists()
    if is_possible and is_empty and run.experiment_id != experiment.id:
        authorize(actor, Permission.EXPERIMENTS_WRITE, run.team_id)
        run.experiment = experiment
        run.save(update_fields=["experiment"])


def experiment_of(job: Job) -> str:
    """Return the name of the experiment that a job asks for."""
    asked = job.spec.get("experiment") or (job.spec.get("envs") or {}).get("MLFLOW_EXPERIMENT_NAME")
    return (asked or "").strip()[:500] or DEFAULT


def status_of(job: Job) -> str:
    """Return the status of a job's run."""
    state = State(job.state)
    if state < State.RUNNING:
        return RunStatus.SCHEDULED
    if not state.is_final:
        return RunStatus.RUNNING
    if state == State.SUCCEEDED:
        return RunStatus.FINISHED
    is_killed = state == State.CANCELED or job.reason in _KILLED
    return RunStatus.KILLED if is_killed else RunStatus.FAILED


def _due() -> QuerySet[Job]:
    return _with_all(Job.objects.exclude(run_state=F("state")))


def _with_all(rows: QuerySet[Job]) -> QuerySet[Job]:
    return rows.select_related("org", "team", "owner", "cluster")


@transaction.atomic
def _follow(jobs: Sequence[Job]) -> None:
    """Create or update the runs of these jobs."""
    known = Run.objects.filter(id__in=[job.id for job in jobs]).in_bulk()
    _create([job for job in jobs if job.id not in known])
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
    if not (status == RunStatus.FINISHED and run.status in {RunStatus.FAILED, RunStatus.KILLED}):
        run.status = status
    run.started_ms = _ms(job.started_at or job.created_at)
    run.ended_ms = _ms(job.finished_at or job.state_at) if state.is_final else None
    kept = {name: value for name, value in run.tags.items() if name not in _OURS}
    run.tags = {**kept, **_facts(job, gpu)}
    run.updated_at = clock.now()


_OURS = frozenset({"muster.reason", "muster.node", "muster.exit_code"})  # absent if unknown


def _facts(job: Job, gpu: str) -> dict[str, str]:
    """Return what is known of a job as tags, with MLflow's names where it has one."""
    spec, digest = job.spec, _image_digest(job.spec.get("image") or "")
    facts: dict[str, Any] = {
        "mlflow.user": job.owner.email,
        "mlflow.source.type": "JOB",
        "mlflow.source.name": f"{settings.MUSTER_BASE_URL}/{job.org.slug}/jobs/{job.number}",
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
    return {name: str(value) for name, value in facts.items() if value not in (None, "", 0)}


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
