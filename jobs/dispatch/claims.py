"""Claim queued attempts and hand them over to clusters. The database is the queue.

A claim is one short transaction. The backend is called outside of any transaction, and its result
is applied only while the claim's lease is valid.

A worker that dies leaves a lease that expires. The next worker submits under the same key, and the
backend adopts a job that already has it (contract of `Backend.submit`), so no attempt runs twice.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any
from uuid import UUID

from django.db import connection, transaction
from django.db.models import Q, QuerySet

from clusters.models import Cluster
from jobs.dispatch import job_status
from jobs.dispatch.submission import Claim, InFlight, SubmissionPool
from jobs.models import Attempt, Job
from jobs.scheduling import pending_history
from jobs.scheduling.admission import AdmissionDecision, AdmissionRequest, ClusterSnapshot, plan
from jobs.scheduling.reservations import meters_of, with_jobs
from jobs.scheduling.snapshot import snapshot_of
from portal.core import clock
from portal.core.bulk_updates import write_rows
from portal.core.events import EventRecord, record_all
from portal.core.lease_holder import is_dead, new_lease
from portal.core.wakeups import wake_worker
from schedulers.capacity import ResourceRequest
from schedulers.contract import Placement
from schedulers.states import State, Wait
from workspaces.quotas.reservations import hold
from workspaces.tenancy.scope import platform_scope

log = logging.getLogger(__name__)
WINDOW = 500  # Attempts read per step, once not all of the first batch could start.
HORIZON = 2000  # Attempts read from the front of the queue in one round, and as many deeper ones.
BATCH = 100  # Attempts per hand-over: as many as a cluster can take well within a lease.
FIRST = 25  # Size of the first batch: the cluster starts work while the next batch is claimed.
GROWTH = 2  # Factor between batches: claiming the next takes about as long as submitting the last.
LEASE = 15.0  # Seconds a worker has to hand a batch over.
SHARE = 3  # A batch may take this part of a lease: the batch before it is still under way.
MAX_KINDS = 50  # Upper bound of the NOT conditions in one query.
# Last attempt read in the previous round, by cluster; the next round continues there.
_reached: dict[UUID, Attempt] = {}
# Seconds that an attempt of the last batch took, by cluster: from its claim until it was recorded.
_pace: dict[UUID, float] = {}
_OF_NODES = frozenset({Wait.IMPOSSIBLE, Wait.NODES_DOWN, Wait.CAPACITY, Wait.SCATTERED})
# While a job stays refused, its reason may change among these.
_CROWDED = (
    Wait.ARRAY_LIMIT,
    Wait.QUOTA_USER,
    Wait.QUOTA_TEAM,
    Wait.QUOTA_ORG,
    Wait.CAPACITY,
    Wait.SCATTERED,
)
_CLAIMED = (
    "state",
    "state_at",
    "has_reservation",
    "placement",
    "gpu_types",
    "node",
    "nodes",
    "lease",
    "lease_until",
    "wait",
)
# Loaded once per job instead of once per attempt.
_OF_JOB = tuple(
    f"job__{field.attname}" for field in Job._meta.concrete_fields if not field.primary_key
)


def dispatch_cluster(cluster: Cluster) -> int:
    """Claim and hand over until nothing more can start; return how many were handed over.

    The next batch is claimed while the cluster takes the last one, and no more than it takes within
    the lease at the pace of the last one. If the cluster does not answer, its attempts stay queued
    with that as their reason.
    """
    total, before, size = 0, None, _fitting(cluster.id, FIRST)
    with SubmissionPool() as submissions:
        while True:
            claim = claim_due(cluster.id, size)
            under_way = submissions.begin(claim) if claim else None
            if before:
                total += _finish(submissions, before)
            if under_way is None:
                return total
            # Probably the last batch: do not delay its results for another look at the queue.
            if len(under_way.attempts) < size:
                total, before = total + _finish(submissions, under_way), None
            else:
                before = under_way
                if size == BATCH:
                    under_way.wait_for_half()
            size = _fitting(cluster.id, size * GROWTH)


def _finish(submissions: SubmissionPool, under_way: InFlight) -> int:
    """Apply the results of a batch, and note how long it took."""
    total = submissions.finish(under_way)
    claim = under_way.claim
    took = (clock.now() - claim.until).total_seconds() + LEASE
    _pace[claim.cluster.id] = max(took, 0.0) / max(under_way.begun, 1)
    return total


def _fitting(cluster_id: UUID, size: int) -> int:
    """Return how many attempts of `size` a worker can hand over within its lease."""
    pace = _pace.get(cluster_id, 0.0)
    return max(min(size, BATCH, int(LEASE / SHARE / pace) if pace else BATCH), 1)


def claim_due(cluster_id: UUID, limit: int = BATCH) -> Claim | None:
    """Claim what may start now, by priority and age, and note why the rest waits.

    Returns None if there is nothing to do. Waits for a concurrent planner, which may have read the
    queue or the nodes before they changed. The lock is FOR NO KEY UPDATE, so the foreign keys of
    new submissions do not wait for it.
    """
    with transaction.atomic():
        cluster = Cluster.objects.select_for_update(no_key=True).filter(id=cluster_id).first()
        if cluster is None:
            return None
        orphans = _orphans(cluster)[:limit]
        claim = Claim(
            cluster,
            new_lease(),
            clock.after(LEASE),
            orphans,
            frozenset(attempt.id for attempt in orphans),
            LEASE,
        )
        if not cluster.trouble:
            claim.attempts.extend(_admit(cluster, limit - len(claim.attempts)))
        elif due := _window(cluster, WINDOW):
            pending_history.note(
                [
                    (a, AdmissionDecision(Wait.CLUSTER_DOWN, facts={"said": cluster.trouble}))
                    for a in due
                ]
            )
        _lease(claim)
    return claim if claim.attempts else None


def _orphans(cluster: Cluster) -> list[Attempt]:
    """Lock claims to retry: their worker is gone, or their cluster could not take them."""
    claimed = Attempt.objects.filter(cluster=cluster, state=State.DISPATCHING)
    leases = _leases(claimed)
    return _lock(claimed.filter(_abandoned(leases)).order_by("id")[:BATCH]) if leases else []


def _leases(claimed: QuerySet[Attempt]) -> list[UUID | None]:
    return list(claimed.order_by().values_list("lease", flat=True).distinct())


def _abandoned(leases: Sequence[UUID | None]) -> Q:
    """Match leases that expired or belong to a dead worker of this machine."""
    return Q(lease_until__lt=clock.now()) | Q(
        lease__in=[lease for lease in leases if lease and is_dead(lease)]
    )


def _admit(cluster: Cluster, limit: int) -> list[Attempt]:
    """Walk the queue to the first window in which something may start.

    The next claim goes on from there. Each round reads HORIZON attempts from the front and
    continues where the last round ended, so every attempt is reached however many are refused.
    Meters are locked once per transaction and in one order; locking them in steps could deadlock
    with another planner.
    """
    snapshot: ClusterSnapshot | None = None
    refused: set[EquivalenceClass] = set()
    last: Attempt | None = None
    looked, size = 0, min(limit, WINDOW)  # nothing beyond the batch is read if everything fits
    is_deep = False
    while size:
        due = _window(cluster, size, last, refused)
        snapshot = _snapshot_after(snapshot, cluster, due) if due else None
        if snapshot and (chosen := _select(snapshot, due, limit, refused)):
            return _with_quota(chosen)
        if len(due) < size:
            _reached.pop(cluster.id, None)
            break
        looked, size, last = looked + len(due), WINDOW, due[-1]
        if looked >= HORIZON and is_deep:
            _reached[cluster.id] = last
            break
        if looked >= HORIZON:
            looked, is_deep, last = 0, True, _reached.get(cluster.id, last)
    return []


def _snapshot_after(
    before: ClusterSnapshot | None, cluster: Cluster, due: Sequence[Attempt]
) -> ClusterSnapshot:
    """Refresh the limits for the next window and keep the node usage of the one before."""
    snapshot = snapshot_of(cluster, [request_of(attempt) for attempt in due])
    return (
        snapshot
        if before is None
        else replace(
            snapshot,
            nodes=before.nodes,
            reserved_gpus=before.reserved_gpus,
            running=snapshot.running | before.running,
        )
    )


def _window(
    cluster: Cluster,
    size: int,
    last: Attempt | None = None,
    refused: Collection[EquivalenceClass] = (),
) -> list[Attempt]:
    """Lock the next attempts after `last`, without those of a kind that was already refused."""
    rows = Attempt.objects.filter(due_at__lte=clock.now(), cluster=cluster, state=State.QUEUED)
    if last:
        rows = rows.filter(
            Q(priority__lt=last.priority)
            | Q(priority=last.priority, queued_at__gt=last.queued_at)
            | Q(priority=last.priority, queued_at=last.queued_at, id__gt=last.id)
        )
    for kind in islice(refused, MAX_KINDS):
        rows = rows.exclude(kind.rows())
    return _lock(rows.order_by("-priority", "queued_at", "id")[:size])


_NODES = "job__spec__num_nodes"


@dataclass(frozen=True)
class EquivalenceClass:
    """Attempts that are refused alike as long as nothing is taken or freed.

    The rows that already have such a reason are skipped, so the cost of planning a full cluster
    does not depend on the length of its queue.
    """

    wait: Wait
    resources: str  # JSON
    # whose limits apply, empty if only the nodes matter; on how many nodes
    owner: tuple[tuple[str, UUID | int], ...]

    @classmethod
    def of(
        cls,
        attempt: Attempt,
        wait: Wait,
        *,
        has_reserved_gpus: bool = False,
        has_gangs: bool = False,
    ) -> EquivalenceClass:
        """Return the class; with reservations, the nodes differ by team."""
        job = attempt.job
        owner: dict[str, UUID | int] = {}
        if wait in _OF_NODES:
            if has_reserved_gpus:
                owner["job__team_id"] = job.team_id
            if has_gangs:
                owner[_NODES] = job.spec.get("num_nodes", 1)
        else:
            owner |= {"job__team_id": job.team_id, "job__owner_id": job.owner_id}
            if wait == Wait.ARRAY_LIMIT:
                owner["job_id"] = job.id
        return cls(wait, json.dumps(job.resources), tuple(owner.items()))

    def rows(self) -> Q:
        waits = _CROWDED if self.wait in _CROWDED else (self.wait,)
        found = Q(wait__in=waits, job__resources=json.loads(self.resources))
        for name, value in self.owner:
            # a spec leaves out that it asks for one node
            is_left_out = name == _NODES and value == 1
            found &= (
                Q((name, value)) | Q((f"{name}__isnull", True)) if is_left_out else Q((name, value))
            )
        return found


def _lock(rows: QuerySet[Attempt]) -> list[Attempt]:
    """Lock these attempts with their jobs and skip rows locked by others.

    A cancel locks attempts, then their job. Locking both here means that a claim never waits for
    anyone while it has attempts locked.
    """
    light = (
        rows.select_for_update(of=("self", "job"), skip_locked=_can_skip())
        .select_related("job")
        .defer(*_OF_JOB)
    )
    return list(with_jobs(list(light), "owner", "team", "org", "pool"))


def _can_skip() -> bool:
    return connection.features.has_select_for_update_skip_locked


def _select(
    snapshot: ClusterSnapshot, due: Sequence[Attempt], limit: int, kinds: set[EquivalenceClass]
) -> list[Attempt]:
    """Return the attempts that may start, with their placement, and note why the others wait.

    Adds the kind of each refused attempt to `kinds`.
    """
    requests = [request_of(attempt) for attempt in due]
    by_request = dict(zip(map(id, requests), due, strict=True))
    chosen: list[Attempt] = []
    refused: list[tuple[Attempt, AdmissionDecision]] = []
    for request, decision in plan(snapshot, requests):
        attempt = by_request[id(request)]
        if decision.wait is not None:
            refused.append((attempt, decision))
            if not attempt.avoid:  # others may start where this one does not want to
                kinds.add(
                    EquivalenceClass.of(
                        attempt,
                        decision.wait,
                        has_reserved_gpus=bool(snapshot.reserved_gpus),
                        has_gangs=snapshot.has_gangs,
                    )
                )
        elif len(chosen) < limit:
            _set_placement(attempt, decision)
            chosen.append(attempt)
    pending_history.note(refused)
    return chosen


def request_of(attempt: Attempt) -> AdmissionRequest:
    """Return the request of one attempt."""
    job = attempt.job
    resources = ResourceRequest.of_totals(job.resources, job.spec.get("num_nodes", 1))
    avoid = attempt.avoid and (frozenset(attempt.avoid["nodes"]), frozenset(attempt.avoid["gpus"]))
    return AdmissionRequest(
        job.org_id,
        job.team_id,
        job.owner_id,
        resources,
        job.id,
        job.max_parallel,
        job.pool.gpu_type if job.pool else "",
        avoid or None,
    )


def _set_placement(attempt: Attempt, decision: AdmissionDecision) -> None:
    attempt.gpu_types = dict(decision.gpu_types) or None
    if place := decision.place:
        attempt.node, parts = place.node, [_stored(part) for part in place.parts]
        attempt.placement = parts[0]
        if others := parts[1:]:
            attempt.placement["others"] = others
            attempt.nodes = [part["node"] for part in parts]


def _stored(part: Placement) -> dict[str, Any]:
    return {
        "node": part.node,
        "cpus": round(part.cpus * 1000),
        "memory": part.memory,
        "gpus": list(part.gpus),
        "uuids": list(part.gpu_uuids),
    }


def _with_quota(admitted: list[Attempt]) -> list[Attempt]:
    """Reserve quota for all at once; if another planner took the last of it, reserve one by one."""
    if not admitted or _reserve(admitted):
        return admitted
    return [attempt for attempt in admitted if _reserve([attempt])]


def _reserve(attempts: Sequence[Attempt]) -> bool:
    return hold(meters_of(attempts)) is None


def _lease(claim: Claim) -> None:
    """Write the claim; the rows are already locked."""
    if not claim.attempts:
        return
    at = clock.now()
    fresh = [a for a in claim.attempts if a.state == State.QUEUED]
    for attempt in claim.attempts:
        attempt.has_reservation, attempt.lease, attempt.lease_until, attempt.wait = (
            True,
            claim.lease,
            claim.until,
            "",
        )
    for attempt in fresh:
        attempt.state, attempt.state_at = State.DISPATCHING, at
    write_rows(claim.attempts, _CLAIMED)
    pending_history.close(fresh)
    record_all(
        EventRecord(
            "attempt.dispatching",
            a.org_id,
            "job",
            a.job_id,
            "muster",
            {"attempt": str(a.id), "index": a.index, "ordinal": a.ordinal}
            | ({"node": a.node} if a.node else {}),
        )
        for a in fresh
    )
    job_status.refresh_jobs({a.job_id for a in fresh}, fresh, [a.job for a in fresh], is_live=False)


def due_sweep() -> None:
    """Wake a planner for due attempts and expired leases, in case a hint was lost."""
    with platform_scope("sweep"):
        claimed = Attempt.objects.filter(state=State.DISPATCHING)
        if (
            Attempt.objects.filter(state=State.QUEUED, due_at__lte=clock.now()).exists()
            or claimed.filter(_abandoned(_leases(claimed))).exists()
        ):
            wake_worker("jobs.dispatch")
