"""A submission: what somebody asks for, and what is found out about it, each thing once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

from django.db.models import Exists, OuterRef

from clusters.backends import backend_of
from clusters.models import Cluster, Pool
from jobs.dispatch.launch import rehearsal_launch
from jobs.kinds.origins import Origin
from jobs.kinds.workload_kinds import WorkloadKind, find_kind
from jobs.models import Job
from jobs.scheduling.admission import AdmissionRequest, ClusterSnapshot
from jobs.scheduling.placement import choose
from jobs.scheduling.snapshot import snapshot_of
from jobs.services.fast_path import plain_cluster
from jobs.services.folders import ResolvedFolder, resolve_folders
from jobs.services.inputs import ResolvedInput, resolve_inputs
from jobs.services.team_rules import with_defaults
from jobs.specs.stored import request_of
from portal.core.errors import InvalidInput
from portal.core.messages import Message
from schedulers import capabilities_of
from schedulers.contract import Capability, Launch, Rejected
from schedulers.spec import JobSpec
from workspaces.access.actors import Actor
from workspaces.access.permissions import Permission
from workspaces.models import Team

# options without which the result may differ
_SLURM_ONLY = ("constraint", "licenses", "signal")


@dataclass(frozen=True)
class Place:
    """The cluster and pool of a job. `why`: one sentence if there was a choice."""

    cluster: Cluster
    pool: Pool | None = None
    why: str = ""


@dataclass(frozen=True)
class Prerequisite:
    """A job that must end first, and the condition on how it ends."""

    job: Job
    condition: str


@dataclass(frozen=True)
class Submission:
    """A spec with the defaults of its kind and its team. Cached properties may raise InvalidInput.

    `is_rehearsal`: nothing will be written, and everything is judged by what is free now.
    """

    actor: Actor
    team: Team
    kind: WorkloadKind
    spec: JobSpec
    origin: Origin | None = None
    is_rehearsal: bool = False

    @classmethod
    def of(cls, actor: Actor, team: Team, spec: JobSpec, **more: Any) -> Self:
        """Apply the defaults. Raises InvalidInput for a kind that this portal does not run."""
        kind = find_kind(spec.kind)
        return cls(actor, team, kind, with_defaults(team, kind.with_defaults(spec)), **more)

    @cached_property
    def request(self) -> AdmissionRequest:
        """What one task requests."""
        assert self.actor.user_id is not None
        team, user = self.team, self.actor.user_id
        return AdmissionRequest(team.org_id, team.id, user, request_of(self.spec))

    @cached_property
    def plain_cluster(self) -> Cluster | None:
        """The only cluster, if one statement can tell that it accepts the request."""
        return None if self.is_rehearsal else plain_cluster(self.spec, self.request)

    @cached_property
    def place(self) -> Place:
        """The pool or cluster that `policy.pool` names, else the best one the team may use."""
        if self.plain_cluster:
            return Place(self.plain_cluster)
        return choose_place(self.actor, self.team, self.spec)

    @cached_property
    def snapshot(self) -> ClusterSnapshot:
        return snapshot_of(self.place.cluster, [self.request], is_idle=not self.is_rehearsal)

    @cached_property
    def backend(self) -> Any:
        return backend_of(self.place.cluster)

    @cached_property
    def launch(self) -> Launch:
        """What would be handed over, with placeholders for ids and token."""
        return rehearsal_launch(self.place.pool, self.team, self.actor, self.spec)

    @cached_property
    def ignored_options(self) -> str:
        """The scheduler options that the cluster ignores; empty if it honors all of them."""
        if not self.spec.native and not self.spec.image:
            return ""
        if Capability.NATIVE not in capabilities_of(self.place.cluster.backend):
            return _ignored_elsewhere(self.spec)
        try:
            return Message.joined(" ", self.backend.ignored_options(self.launch))
        except Rejected as error:
            raise InvalidInput.at(error.field or "slurm", str(error)) from error

    @cached_property
    def inputs(self) -> Sequence[ResolvedInput]:
        """The versions that the spec names, which the actor and the job's team may read."""
        return resolve_inputs(self.actor, self.team, self.spec)

    @cached_property
    def folders(self) -> Sequence[ResolvedFolder]:
        """The workspaces that the spec names, which the actor may use in this way."""
        return resolve_folders(self.actor, self.spec)

    @cached_property
    def needs(self) -> Sequence[Prerequisite]:
        """The jobs that the spec depends on, locked.

        They must belong to the organization and be visible to the actor. The lock keeps them from
        ending unnoticed before the commit.
        """
        found = []
        for at, need in enumerate(self.spec.after):
            by = {"number": need.number} if need.id is None else {"id": need.id}
            job = Job.objects.select_for_update(of=("self",)).filter(**by).first()
            if job is None or not self.actor.may(Permission.JOBS_READ, job.team_id):
                raise InvalidInput.at(f"after[{at}]", f"there is no job {need} that you can see")
            found.append(Prerequisite(job, need.condition.value))
        return found


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
