"""Validate a submission before anything is written; the dry run makes the same checks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.db.models import Exists, OuterRef

from clusters.backends import backend_of
from clusters.models import Cluster, Pool
from clusters.sharing import refusal_text
from jobs.dispatch.launch import rehearsal_launch
from jobs.job_specs import request_of
from jobs.models.job import PRIORITIES, Job
from jobs.saving.versions import check_output
from jobs.scheduling import quota_limits
from jobs.scheduling.admission import AdmissionRequest, ClusterSnapshot, meters_of_request
from jobs.scheduling.placement import FEATURES, HERE, choose
from portal.core.errors import InvalidInput, PortalError, QuotaExceeded
from portal.core.formatting import amount_text
from portal.core.messages import Message
from schedulers import capabilities_of
from schedulers.contract import Capability, Rejected
from schedulers.spec import JobSpec
from schedulers.states import Wait
from workspaces.access.actors import Actor, authorize
from workspaces.access.permissions import Permission
from workspaces.credentials.secrets import check_references
from workspaces.models import Team
from workspaces.quotas.limits import GPU_HOURS, STORAGE

MAX_ARRAY = 100_000
_SLURM_ONLY = ("constraint", "licenses", "signal")  # without them the result may differ


@dataclass(frozen=True)
class Prerequisite:
    """A job that must end first, and the condition on how it ends."""

    job: Job
    condition: str


def check_access(actor: Actor, team: Team, spec: JobSpec) -> None:
    """Require permission to submit to this team at this priority. Raises NotPermitted."""
    authorize(actor, Permission.JOBS_SUBMIT, team)
    if PRIORITIES[spec.policy.priority] > PRIORITIES["normal"]:
        authorize(actor, Permission.JOBS_ADMIN, team)


def check_secrets(team: Team, spec: JobSpec) -> None:
    """Require every referenced secret to exist and be usable by the team. Raises InvalidInput."""
    for field in ("secrets", "secret_files"):
        if references := getattr(spec, field):
            check_references(team, references, field)


def check_outputs(actor: Actor, team: Team, spec: JobSpec) -> None:
    """Require that the job may save its outputs where the spec says. Raises InvalidInput."""
    for name, output in spec.outputs.items():
        try:
            check_output(actor, team, output)
        except PortalError as error:
            raise InvalidInput.at(f"outputs.{name}", error.message) from error


@dataclass(frozen=True)
class Place:
    """The cluster and pool of a job. `why`: one sentence if there was a choice."""

    cluster: Cluster
    pool: Pool | None = None
    why: str = ""


def choose_place(actor: Actor, team: Team, spec: JobSpec) -> Place:
    """Return the pool or cluster that `policy.pool` names, else the best one the team may use.

    Raises InvalidInput.
    """
    pools = Exists(Pool.objects.filter(cluster=OuterRef("pk")))
    rows = list(Cluster.objects.filter(is_enabled=True).annotate(has_pools=pools)[:2])
    if not rows:
        raise InvalidInput(
            Message(
                "No cluster is connected yet, so nothing can run. Ask an operator to connect one."
            ),
            code="no_cluster",
        )
    if len(rows) > 1 or rows[0].has_pools:
        choice = choose(actor, team, spec)
        return Place(choice.cluster, choice.pool, choice.why)
    if spec.policy.pool not in ("", rows[0].name):
        raise InvalidInput.at(
            "policy.pool", f"{spec.policy.pool!r} does not exist; use {rows[0].name}"
        )
    return Place(rows[0])


def check_features(spec: JobSpec, cluster: Cluster) -> None:
    """Require the cluster and installation to support the spec's features. Raises InvalidInput."""
    if refusal := refusal_text(cluster):
        raise InvalidInput(Message.joined(": ", (cluster.name, refusal)), code="no_isolation")
    # Only these features depend on the options of the backend.
    options = (lambda: cluster.config) if spec.image or spec.workspaces else None
    has = {
        *HERE,
        *(f for c, f in FEATURES.items() if c in capabilities_of(cluster.backend, options)),
    }
    if faults := spec.unavailable(has):
        raise InvalidInput(
            Message.joined(": ", (faults[0].field, faults[0].message)),
            errors=[{"field": f.field, "message": f.message} for f in faults],
        )
    if spec.tasks > MAX_ARRAY:
        raise InvalidInput.at(
            "array", f"has {spec.tasks:,} tasks; at most {MAX_ARRAY:,} are allowed"
        )


def ignored_options(actor: Actor, team: Team, spec: JobSpec, place: Place) -> str:
    """Describe the scheduler options that the cluster ignores; empty if it honors all of them.

    Raises InvalidInput.
    """
    if not spec.native and not spec.image:
        return ""
    if Capability.NATIVE not in capabilities_of(place.cluster.backend):
        return _ignored_elsewhere(spec)
    backend: Any = backend_of(place.cluster)
    try:
        return Message.joined(
            " ", backend.ignored_options(rehearsal_launch(place.pool, team, actor, spec))
        )
    except Rejected as error:
        raise InvalidInput.at(error.field or "slurm", str(error)) from error


def _ignored_elsewhere(spec: JobSpec) -> str:
    """Return that options of Slurm are ignored. Raises InvalidInput if the result would change."""
    if name := next((name for name in _SLURM_ONLY if name in spec.native), ""):
        raise InvalidInput.at(
            f"slurm.{name}",
            Message(
                "means nothing on this cluster, which does not run Slurm: remove it, or choose a pool of "
                "a Slurm cluster"
            ),
        )
    return Message("`slurm` is ignored: this is not a Slurm cluster.") if spec.native else ""


def check_possible(request: AdmissionRequest, snapshot: ClusterSnapshot) -> None:
    """Require that an empty node could run the task and that no limit is below the request.

    Raises InvalidInput, QuotaExceeded.
    """
    decision = snapshot.judge(request)
    if decision.wait == Wait.IMPOSSIBLE:
        facts = decision.facts
        field = {
            "cpu": "resources.cpus",
            "memory": "resources.memory",
            "gpu": "resources.accelerators",
        }[str(facts["resource"])]
        kind = f" of type {facts['type']}" if facts.get("type") else ""
        raise InvalidInput.at(
            field,
            f"needs {amount_text(facts['resource'], facts['ask'])}{kind}; the largest node, "
            f"{facts['node']}, "
            f"has {amount_text(facts['resource'], facts['largest'])}",
        )
    for meter, amount in meters_of_request(request).items():
        limit = now.limit if (now := snapshot.limits.get(meter)) else None
        if limit is not None and amount > limit:
            if meter.resource == GPU_HOURS:
                raise QuotaExceeded(
                    quota_limits.no_hours(meter.scope),
                    data={"scope": meter.scope, "resource": meter.resource, "limit": limit},
                )
            if meter.resource == STORAGE:
                raise QuotaExceeded(
                    quota_limits.no_storage(meter.scope),
                    data={"scope": meter.scope, "resource": meter.resource, "limit": limit},
                )
            whose = {
                "org": Message("the organization's"),
                "team": Message("the team's"),
                "user": Message("your"),
            }[meter.scope]
            raise QuotaExceeded(
                Message(
                    "This job needs {resource}, but {whose} limit is {resource2}. Request "
                    "{resource3} less, or ask an administrator for more.",
                    resource=amount_text(meter.resource, amount),
                    whose=whose,
                    resource2=amount_text(meter.resource, limit),
                    resource3=amount_text(meter.resource, amount - limit),
                ),
                data={
                    "scope": meter.scope,
                    "resource": meter.resource,
                    "ask": amount,
                    "limit": limit,
                    "over": amount - limit,
                },
            )


def request_for(actor: Actor, team: Team, spec: JobSpec) -> AdmissionRequest:
    """Return the request of one task of the spec."""
    assert actor.user_id is not None
    return AdmissionRequest(team.org_id, team.id, actor.user_id, request_of(spec))


def find_needs(actor: Actor, spec: JobSpec) -> list[Prerequisite]:
    """Find and lock the jobs that the spec depends on.

    They must belong to the organization and be visible to the actor. The lock keeps them from
    ending unnoticed before the commit. Raises InvalidInput.
    """
    found = []
    for at, need in enumerate(spec.after):
        by = {"number": need.number} if need.id is None else {"id": need.id}
        job = Job.objects.select_for_update(of=("self",)).filter(**by).first()
        if job is None or not actor.may(Permission.JOBS_READ, job.team_id):
            raise InvalidInput.at(f"after[{at}]", f"there is no job {need} that you can see")
        found.append(Prerequisite(job, need.condition.value))
    return found
