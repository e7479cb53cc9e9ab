"""What granting a request for GPUs would mean, for the operator who decides."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, field
from datetime import datetime

from clusters.capacity import inside_of
from clusters.free_capacity import free_by_model
from clusters.models import Cluster, Device, Pool, PoolRequest
from clusters.node_capacity import NodeUsage, node_usage_in
from clusters.services.pool_requests import Promise, promise_in
from clusters.services.pool_reservations import ReservationPreview, preview
from clusters.workload import EffectShape, MigChangeShape
from jobs.models import Attempt
from jobs.scheduling.admission import QUOTA_WAITS
from jobs.scheduling.queue import WAITS
from monitoring.capacity import expected_ends, next_free
from schedulers import mig
from schedulers.states import Wait
from workspaces.access.actors import Actor, authorize
from workspaces.access.permissions import Permission
from workspaces.tenancy.scope import platform_scope

MOST_NAMES = 50  # nodes of a pool that are named in the address of a form
_NOT_FOR_GPUS = (  # a pending job would wait for these even if all GPUs were free
    *(Wait.HELD, Wait.DEPENDENCY, Wait.BACKOFF, Wait.ARRAY_LIMIT),
    *QUOTA_WAITS.values(),
)


@dataclass
class WhatIf:
    """The effect of a grant in one pool.

    `waiting` are the pending jobs of other teams that wait for the same GPUs, `waiting_gpus` what they
    ask for. `busy` is how many of the GPUs must become free first, `ends` when running jobs reach
    their limits. `plan` is the MIG change that it needs. `reservation` says how the cluster would keep
    the GPUs; None if too few are left.
    """

    pool: Pool
    promise: Promise
    free: int
    busy: int
    gpu_hours: int
    short: int  # GPUs that are missing even if all were free
    plan: mig.Plan | None = None
    wish: str = ""  # what the form of MIG plans needs for it, and on which nodes
    wish_nodes: str = ""
    reservation: ReservationPreview | None = None
    waiting: int = 0
    waiting_gpus: int = 0
    ends: list[tuple[datetime, int]] = field(default_factory=list)

    def as_dict(self) -> EffectShape:
        plan = self.plan
        return {
            "pool": self.pool.name,
            "cluster": self.pool.cluster.name,
            "total": self.promise.total,
            "promised": self.promise.promised,
            "free": self.free,
            "missing": self.short,
            "must_become_free": self.busy,
            "next_free": [{"at": at, "gpus": n} for at, n in self.ends],
            "pending_jobs_of_others": self.waiting,
            "pending_gpus_of_others": self.waiting_gpus,
            "gpu_hours_held": self.gpu_hours,
            "reservation": self.reservation.as_dict() if self.reservation else None,
            "mig": {
                "drains": plan.cost.drains,
                "nodes": list(plan.nodes),
                "missing": dict(plan.missing),
                "gpus": [_change(change) for change in plan.changes],
            }
            if plan
            else None,
        }


def _change(change: mig.GpuChange) -> MigChangeShape:
    return {
        "node": change.gpu.node,
        "uuid": change.gpu.uuid,
        "removed": [one.profile for one in change.removed],
        "created": [one.profile for one in change.created],
    }


def what_if(
    actor: Actor, row: PoolRequest, *, gpus: int | None = None, ends_at: datetime | None = None
) -> list[WhatIf]:
    """Return the effect of a request in each pool that could serve it; the best first.

    `gpus` and `ends_at` instead of what was requested. Operators only. Raises NotPermitted.
    """
    authorize(actor, Permission.CLUSTERS_READ)
    row = copy(row)
    row.gpus, row.ends_at = gpus or row.gpus, ends_at or row.ends_at
    pools = list(Pool.objects.select_related("cluster").filter(cluster__is_enabled=True))
    clusters = {pool.cluster_id: pool.cluster for pool in pools}
    machines, ends = node_usage_in(clusters.values()), expected_ends(clusters.values())
    waiting = {pk: _waiting(row, cluster) for pk, cluster in clusters.items()}
    found = []
    for pool in pools:
        if pool.gpu_type not in ("", row.gpu_type):
            continue
        effect = _effect(row, pool, machines[pool.cluster_id])
        if effect is not None:
            if not effect.short and not (effect.plan and effect.plan.changes):
                effect.reservation = preview(row, pool, machines[pool.cluster_id])
            nodes = {machine.node.name for machine in inside_of(pool, machines[pool.cluster_id])}
            effect.ends = next_free(ends[pool.cluster_id], row.gpu_type, nodes)
            effect.waiting, effect.waiting_gpus = waiting[pool.cluster_id]
            found.append(effect)
    return sorted(found, key=lambda e: (e.short, e.busy, e.waiting_gpus, e.pool.name))


def _effect(row: PoolRequest, pool: Pool, machines: Sequence[NodeUsage]) -> WhatIf | None:
    """Return what a pool has for a request; None if it could never serve it."""
    promise, inside = promise_in(pool.cluster, pool, row, machines), inside_of(pool, machines)
    plan = None
    if row.gpu_type.startswith("mig-") and promise.total < promise.promised + row.gpus:
        plan = _mig_plan(row, inside, promise.promised)
        if plan is None:
            return None
    if not promise.total and plan is None:
        return None
    free = free_by_model(inside).get(row.gpu_type)
    is_free = free.free if free else 0
    missing = sum(plan.missing.values()) if plan else max(row.gpus - promise.left, 0)
    names = [machine.node.name for machine in inside]
    hours = (row.ends_at - row.starts_at).total_seconds() / 3600
    return WhatIf(
        pool,
        promise,
        free=is_free,
        busy=max(min(row.gpus, promise.left) - is_free, 0),
        gpu_hours=round(hours * row.gpus),
        short=missing,
        plan=plan,
        wish=f"{row.gpus + promise.promised} x {row.gpu_type.removeprefix('mig-')}",
        wish_nodes=", ".join(names) if len(names) <= MOST_NAMES else "",
    )


def _waiting(row: PoolRequest, cluster: Cluster) -> tuple[int, int]:
    """Count the pending jobs of other teams that wait for the same GPUs, and those GPUs."""
    with platform_scope("others wait longer, of whatever organization"):
        amounts = (
            Attempt.objects.filter(WAITS, is_current=True, cluster=cluster)
            .exclude(job__team=row.team)
            .exclude(wait__in=_NOT_FOR_GPUS)
            .filter(job__resources__has_key="gpu")
            .values_list("job_id", "job__resources")
        )
        asked = {
            job: resources["gpu"]
            for job, resources in amounts[:20_000]
            if f"gpu.{row.gpu_type}" in resources
            or not any(name.startswith("gpu.") for name in resources)
        }
    return len(asked), sum(asked.values())


def _mig_plan(row: PoolRequest, inside: Sequence[NodeUsage], promised: int) -> mig.Plan | None:
    """Return how to cut the pool's GPUs so that they offer what is promised and asked."""
    profile, states = row.gpu_type.removeprefix("mig-"), list[mig.GpuState]()
    used = {machine.node.id: machine.used("gpu") > 0 for machine in inside}
    for device in Device.objects.select_related("node").filter(node__in=list(used), is_lost=False):
        model = mig.model_of(device.model, device.memory)
        if model is None or model.profile(profile) is None:
            continue
        layout = None
        if device.mig is not None:
            layout = frozenset(
                mig.Instance(part["start"] or 0, part["profile"])
                for part in device.mig
                if model.profile(part["profile"])
            )
        # Which GPU of a node jobs use is not known here: all of a used node count as busy
        is_used = used[device.node_id]
        busy = layout if is_used and layout else frozenset()
        states.append(
            mig.GpuState(
                device.node.name, device.uuid, model.name, layout, busy, is_used and layout is None
            )
        )
    return mig.plan(states, {profile: row.gpus + promised}) if states else None
