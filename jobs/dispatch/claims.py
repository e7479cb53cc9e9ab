"""From the queue to a cluster. The database is the queue: a claim is one short transaction, the hand-over to the backend
happens outside of any, and its result is applied only while the claim's lease still holds.

A worker that dies in between leaves a lease that runs out; whoever takes the attempt next submits under the same key, and a
backend that already has that key adopts it (the contract of `Backend.submit`): an attempt never runs twice.
"""

from __future__ import annotations

import json
import logging
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from uuid import UUID

from django.db import connection, transaction
from django.db.models import Q, QuerySet

from clusters.models import Cluster
from jobs.bulk import write_rows
from jobs.dispatch import job_status
from jobs.dispatch.submission import Claim, Handover
from jobs.models import Attempt, Job
from jobs.scheduling import pending_history
from jobs.scheduling.admission import Ask, Room, Verdict, plan
from jobs.scheduling.reservations import meters_of, with_jobs
from jobs.scheduling.snapshot import room_of
from portal.core import clock
from portal.core.events import Fact, record_all
from portal.core.lease_holder import is_dead, new_lease
from portal.core.wakeups import hint
from schedulers.states import State, Wait
from workspaces.quotas.reservations import hold
from workspaces.tenancy.scope import platform_scope

log = logging.getLogger(__name__)
WINDOW = 500  # attempts looked at in one step, once not all of the first batch could start
HORIZON = 2000  # attempts looked at from the front in one round, and as many deeper ones
BATCH = 100  # attempts handed over in one go: as many as a machine can start, or a cluster take, well within a lease
FIRST = 25  # of these in the first batch, so that the cluster has something to do while the next is claimed
GROWTH = 2  # times as many in the next, which is claimed in about the time that the cluster takes for the last
LEASE = 15.0  # seconds a worker has to hand a batch over
MAX_KINDS = 50  # conditions in the statement that passes over what would be refused again
_reached: dict[
    UUID, Attempt
] = {}  # by cluster: how deep the last round came, where the next goes on
_OF_NODES = frozenset({Wait.IMPOSSIBLE, Wait.CAPACITY, Wait.SCATTERED})
# One may follow the other at any end of a job.
_CROWDED = (
    Wait.ARRAY_LIMIT,
    Wait.QUOTA_USER,
    Wait.QUOTA_TEAM,
    Wait.QUOTA_ORG,
    Wait.CAPACITY,
    Wait.SCATTERED,
)
_CLAIMED = ("state", "state_at", "is_held", "placement", "node", "lease", "lease_until", "wait")
_OF_JOB = tuple(
    f"job__{field.attname}" for field in Job._meta.concrete_fields if not field.primary_key
)  # read once for each job


def dispatch_all() -> int:
    """Claim and hand over until nothing more can start; how many were handed over."""
    with platform_scope("dispatch"):
        return sum(dispatch_cluster(cluster) for cluster in Cluster.objects.all())


def dispatch_cluster(cluster: Cluster) -> int:
    """The same for one cluster: the next batch is claimed while the cluster takes the last. A cluster that does not answer leaves
    its attempts queued, with that as their reason."""
    total, before, size = 0, None, FIRST
    with Handover() as handover:
        while True:
            claim = claim_due(cluster.id, size)
            under_way = handover.begin(claim) if claim else None
            if before:
                total += handover.finish(before)
            if under_way is None:
                return total
            if (
                len(under_way.attempts) < size
            ):  # as far as one knows the last: what came of it is not kept back for a look at the queue
                total, before = total + handover.finish(under_way), None
            else:
                before = under_way
                if size == BATCH:
                    under_way.wait_for_half()
            size = min(size * GROWTH, BATCH)


def claim_due(cluster_id: UUID, limit: int = BATCH) -> Claim | None:
    """Admit what may start now, in order of priority and age, and note why the rest waits. None when nothing is to be done.

    It waits for a planner that is at work: that one may have read the queue or the nodes before they changed. The lock is not FOR
    UPDATE, which submissions (their foreign key) would wait for."""
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
        )
        if not cluster.trouble:
            claim.attempts.extend(_admit(cluster, limit - len(claim.attempts)))
        elif due := _window(cluster, WINDOW):
            pending_history.note(
                [(a, Verdict(Wait.CLUSTER_DOWN, facts={"said": cluster.trouble})) for a in due]
            )
        _lease(claim)
    return claim if claim.attempts else None


def _orphans(cluster: Cluster) -> list[Attempt]:
    """Claims whose worker is gone, or whose cluster could not take them: theirs to try again."""
    claimed = Attempt.objects.filter(cluster=cluster, state=State.DISPATCHING)
    leases = _leases(claimed)
    return _locked(claimed.filter(_abandoned(leases)).order_by("id")[:BATCH]) if leases else []


def _leases(claimed: QuerySet[Attempt]) -> list[UUID | None]:
    return list(claimed.order_by().values_list("lease", flat=True).distinct())


def _abandoned(leases: Sequence[UUID | None]) -> Q:
    """Leases that ran out, and those of workers that were killed on this machine: nobody need wait for their end."""
    return Q(lease_until__lt=clock.now()) | Q(
        lease__in=[lease for lease in leases if lease and is_dead(lease)]
    )


def _admit(cluster: Cluster, limit: int) -> list[Attempt]:
    """Walk the queue to the first window in which something may start; the next claim looks for more. Each round looks at HORIZON from
    the front, then goes on where the last round ended, so that it comes to every attempt however many are refused. Meters are locked once
    in a transaction, all in one order: two planners who locked some, and then some more, would wait for each other in a ring."""
    room: Room | None = None
    refused: set[Kind] = set()
    last: Attempt | None = None
    looked, size = 0, min(limit, WINDOW)  # when everything fits, nothing beyond the batch is read
    is_deep = False
    while size:
        due = _window(cluster, size, last, refused)
        room = _room_after(room, cluster, due) if due else None
        if room and (chosen := _chosen(room, due, limit, refused)):
            return _held(chosen)
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


def _room_after(before: Room | None, cluster: Cluster, due: Sequence[Attempt]) -> Room:
    """What is left for these after a window in which nothing started: limits as they are now, places as they were left."""
    room = room_of(cluster, [ask_of(attempt) for attempt in due])
    return (
        room
        if before is None
        else replace(room, nodes=before.nodes, running=room.running | before.running)
    )


def _window(
    cluster: Cluster, size: int, last: Attempt | None = None, refused: Collection[Kind] = ()
) -> list[Attempt]:
    """The next attempts in the queue after `last`, without those that would be refused like one before them."""
    rows = Attempt.objects.filter(due_at__lte=clock.now(), cluster=cluster, state=State.QUEUED)
    if last:
        rows = rows.filter(
            Q(priority__lt=last.priority)
            | Q(priority=last.priority, queued_at__gt=last.queued_at)
            | Q(priority=last.priority, queued_at=last.queued_at, id__gt=last.id)
        )
    for kind in islice(refused, MAX_KINDS):
        rows = rows.exclude(kind.rows())
    return _locked(rows.order_by("-priority", "queued_at", "id")[:size])


@dataclass(frozen=True)
class Kind:
    """Attempts that are refused alike as long as nothing is taken or freed. Those that have such a reason already need not be read
    to learn it again, so that planning a full cluster costs the same however long its queue is."""

    wait: Wait
    resources: str  # as JSON
    owner: tuple[tuple[str, UUID], ...]  # whose limits count; empty where only the nodes do

    @classmethod
    def of(cls, attempt: Attempt, wait: Wait) -> Kind:
        job = attempt.job
        owner = {"job__team_id": job.team_id, "job__owner_id": job.owner_id} | (
            {"job_id": job.id} if wait == Wait.ARRAY_LIMIT else {}
        )
        return cls(
            wait, json.dumps(job.resources), () if wait in _OF_NODES else tuple(owner.items())
        )

    def rows(self) -> Q:
        waits = _CROWDED if self.wait in _CROWDED else (self.wait,)
        return Q(wait__in=waits, job__resources=json.loads(self.resources), **dict(self.owner))


def _locked(rows: QuerySet[Attempt]) -> list[Attempt]:
    """Nobody else changes these until this transaction ends; what somebody changes now (a cancel locks attempts, then their
    job) is passed over. The job is locked along, so that a claim never waits for anybody while it holds attempts."""
    light = (
        rows.select_for_update(of=("self", "job"), skip_locked=_can_skip())
        .select_related("job")
        .defer(*_OF_JOB)
    )
    return list(with_jobs(list(light), "owner", "team", "org", "pool"))


def _can_skip() -> bool:
    return connection.features.has_select_for_update_skip_locked


def _chosen(room: Room, due: Sequence[Attempt], limit: int, kinds: set[Kind]) -> list[Attempt]:
    """Those that may start, each with its place; why the others wait is noted, and `kinds` gets what they are like."""
    asks = [ask_of(attempt) for attempt in due]
    by_ask = dict(zip(map(id, asks), due, strict=True))
    chosen: list[Attempt] = []
    refused: list[tuple[Attempt, Verdict]] = []
    for ask, verdict in plan(room, asks):
        attempt = by_ask[id(ask)]
        if verdict.wait is not None:
            refused.append((attempt, verdict))
            kinds.add(Kind.of(attempt, verdict.wait))
        elif len(chosen) < limit:
            _place(attempt, verdict)
            chosen.append(attempt)
    pending_history.note(refused)
    return chosen


def ask_of(attempt: Attempt) -> Ask:
    """What this attempt would hold."""
    job = attempt.job
    return Ask(job.org_id, job.team_id, job.owner_id, job.resources, job.id, job.max_parallel)


def _place(attempt: Attempt, verdict: Verdict) -> None:
    if place := verdict.place:
        attempt.node = place.node
        attempt.placement = {
            "node": place.node,
            "cpus": round(place.cpus * 1000),
            "memory": place.memory,
            "gpus": list(place.gpus),
            "uuids": list(place.gpu_uuids),
        }


def _held(admitted: list[Attempt]) -> list[Attempt]:
    """Hold quota for all at once; when another planner was faster with the last of it, one by one."""
    if not admitted or _hold(admitted):
        return admitted
    return [attempt for attempt in admitted if _hold([attempt])]


def _hold(attempts: Sequence[Attempt]) -> bool:
    jobs = {attempt.job_id: attempt.job for attempt in attempts}
    total = meters_of(
        (jobs[job_id], count)
        for job_id, count in Counter(attempt.job_id for attempt in attempts).items()
    )
    return hold(total) is None


def _lease(claim: Claim) -> None:
    """Write the claim. The rows are locked since they were read."""
    if not claim.attempts:
        return
    at = clock.now()
    fresh = [a for a in claim.attempts if a.state == State.QUEUED]
    for attempt in claim.attempts:
        attempt.is_held, attempt.lease, attempt.lease_until, attempt.wait = (
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
        Fact(
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
    job_status.refresh_jobs({a.job_id for a in fresh}, fresh, [a.job for a in fresh], is_told=False)


def due_sweep() -> None:
    """By the clock: attempts whose back-off or lease has run out get a planner even if every hint was lost."""
    with platform_scope("sweep"):
        claimed = Attempt.objects.filter(state=State.DISPATCHING)
        if (
            Attempt.objects.filter(state=State.QUEUED, due_at__lte=clock.now()).exists()
            or claimed.filter(_abandoned(_leases(claimed))).exists()
        ):
            hint("jobs.dispatch")
