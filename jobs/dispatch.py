"""From the queue to a cluster. The database is the queue: a claim is one short transaction, the hand-over to the backend
happens outside of any, and its result is applied only while the claim's lease still holds.

A worker that dies in between leaves a lease that runs out; whoever takes the attempt next submits under the same key, and a
backend that already has that key adopts it (the contract of `Backend.submit`): an attempt never runs twice.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID, uuid4

from django.db import connection, transaction
from django.db.models import Q, QuerySet

from clusters.models import Cluster
from jobs import clusters, derive, waiting
from jobs.admission import Ask, Room, Verdict, plan
from jobs.backends.base import Backend, Handle, Launch, Rejected, Unavailable
from jobs.holdings import meters_of, with_jobs
from jobs.launch import build_launch
from jobs.lifecycle import Change, transition
from jobs.models import Attempt, Job
from jobs.rooms import room_of
from jobs.rows import write_rows
from jobs.states import Reason, State, Wait
from portal.core import clock
from portal.core.events import Fact, record_all
from portal.core.hints import hint
from workspaces.services.quota import hold
from workspaces.tenancy.scope import platform_scope

log = logging.getLogger(__name__)
WINDOW = 500          # attempts looked at in one step, once not all of the first batch could start
HORIZON = 2000        # attempts looked at in one round: what waits deeper than that is not judged yet
BATCH = 100           # attempts handed over in one go: as many as a machine can start, or a cluster take, well within a lease
LEASE = 15.0          # seconds a worker has to hand a batch over
MAX_TRIES = 200       # hand-overs that the cluster could not take, before the platform gives up
_CLAIMED = ("state", "state_at", "is_held", "placement", "node", "lease", "lease_until", "wait")
_OF_JOB = tuple(f"job__{field.attname}" for field in Job._meta.concrete_fields if not field.primary_key)    # read once for each job


@dataclass(frozen=True)
class Claim:
    """Attempts that this worker alone may hand over, until the lease runs out."""

    cluster: Cluster
    lease: UUID
    until: datetime
    attempts: list[Attempt]
    orphans: frozenset[UUID]             # those that somebody may have handed over before


def dispatch_all() -> int:
    """Claim and hand over until nothing more can start; how many were handed over."""
    with platform_scope("dispatch"):
        return sum(dispatch_cluster(cluster) for cluster in Cluster.objects.all())


def dispatch_cluster(cluster: Cluster) -> int:
    """The same for one cluster. A cluster that does not answer leaves its attempts queued, with that as their reason."""
    total = 0
    while claim := claim_due(cluster.id):
        hand_over(claim)
        total += len(claim.attempts)
    return total


def claim_due(cluster_id: UUID, limit: int = BATCH) -> Claim | None:
    """Admit what may start now, in order of priority and age, and note why the rest waits. None when nothing is to be done,
    or when another worker plans this cluster at the moment."""
    with transaction.atomic():
        cluster = Cluster.objects.select_for_update(skip_locked=_can_skip()).filter(id=cluster_id).first()
        if cluster is None:
            return None
        orphans = _orphans(cluster)[:limit]
        claim = Claim(cluster, uuid4(), clock.after(LEASE), orphans, frozenset(attempt.id for attempt in orphans))
        if not cluster.trouble:
            claim.attempts.extend(_admit(cluster, limit - len(claim.attempts)))
        elif due := _window(cluster, 0, WINDOW):
            waiting.note([(a, Verdict(Wait.CLUSTER_DOWN, facts={"said": cluster.trouble})) for a in due])
        _lease(claim)
    return claim if claim.attempts else None


def hand_over(claim: Claim, workers: int = 8) -> None:
    """Submit each to the backend, outside of any transaction, and apply what came of it."""
    still = set(Attempt.objects.filter(id__in=[a.id for a in claim.attempts], lease=claim.lease, state=State.DISPATCHING)
                .values_list("id", flat=True))
    backend = clusters.backend_of(claim.cluster)
    ready = [(a, build_launch(a, is_new=a.id not in claim.orphans)) for a in claim.attempts if a.id in still]
    if len(ready) == 1:
        results = [_submit(backend, claim, ready[0][1])]
    else:
        with ThreadPoolExecutor(workers, thread_name_prefix="hand-over") as pool:
            results = list(pool.map(lambda pair: _submit(backend, claim, pair[1]), ready))
    _apply(claim, [a for a, _ in ready], results)
    # What was canceled meanwhile is now either there or never will be: the watcher may believe what it sees, and stop it at once.
    Attempt.objects.filter(lease=claim.lease, state=State.STOPPING).update(
        lease=None, lease_until=None, stop_sent_at=None)
    hint("jobs.watch")


def _submit(backend: Backend, claim: Claim, launch: Launch) -> Handle | Exception:
    if clock.now() >= claim.until:
        return Unavailable("Its turn did not come before the lease ran out.")
    try:
        handle = backend.submit(launch)
        if clock.now() < claim.until:
            return handle
        return backend.submit(replace(launch, is_new=False))     # somebody else may have handed it over meanwhile: one of the two stays
    except Exception as error:
        return error


def _apply(claim: Claim, attempts: Sequence[Attempt], results: Sequence[Handle | Exception]) -> None:
    changes: list[Change] = []
    for attempt, result in zip(attempts, results, strict=True):
        match result:
            case Handle():
                changes.append(Change(attempt.id, State.SUBMITTED, claim.cluster.backend, native_id=result.native_id,
                                      lease=claim.lease))
            case Rejected():
                where = f"{result.field}: " if result.field else ""
                changes.append(Change(attempt.id, result.reason.final_state, claim.cluster.backend, result.reason,
                                      f"{where}{result}", lease=claim.lease))
            case _:
                changes += _put_off(claim, attempt, result)
    transition(changes)


def _put_off(claim: Claim, attempt: Attempt, error: Exception) -> Iterator[Change]:
    """The cluster could not take it: nothing is known of the job, so the claim stays and is tried again, later and later."""
    log.warning("cluster %s did not take %s: %s", claim.cluster.name, attempt.key, error, exc_info=not str(error))
    if attempt.tries + 1 >= MAX_TRIES:
        yield Change(attempt.id, State.FAILED, "muster", Reason.PLATFORM_ERROR, f"The cluster refused {MAX_TRIES} times: {error}",
                     lease=claim.lease)
        return
    wait = min(2.0 ** min(attempt.tries, 6), 60)
    Attempt.objects.filter(id=attempt.id, lease=claim.lease).update(
        tries=attempt.tries + 1, lease_until=clock.after(wait), evidence=str(error)[:500])


def _orphans(cluster: Cluster) -> list[Attempt]:
    """Claims whose worker is gone, or whose cluster could not take them: theirs to try again."""
    rows = Attempt.objects.filter(cluster=cluster, state=State.DISPATCHING, lease_until__lt=clock.now())
    return _locked(rows.order_by("id")[:BATCH])


def _admit(cluster: Cluster, limit: int) -> list[Attempt]:
    """Walk the queue in windows until enough are admitted or the horizon is reached."""
    admitted: list[Attempt] = []
    room: Room | None = None
    start, size = 0, min(limit, WINDOW)            # when everything fits, nothing beyond the batch is read
    while start < HORIZON and len(admitted) < limit:
        due = _window(cluster, start, size)
        if not due:
            break
        room = _room_after(room, cluster, due)
        admitted += _admit_window(room, due, limit - len(admitted))
        if len(due) < size:
            break
        start, size = start + size, WINDOW
    return admitted


def _room_after(before: Room | None, cluster: Cluster, due: Sequence[Attempt]) -> Room:
    """What is left for these: quotas are held window by window, but places and running tasks are not written yet."""
    room = room_of(cluster, [ask_of(attempt) for attempt in due])
    return room if before is None else replace(room, nodes=before.nodes, running=room.running | before.running)


def _window(cluster: Cluster, start: int, size: int) -> list[Attempt]:
    rows = Attempt.objects.filter(due_at__lte=clock.now(), cluster=cluster, state=State.QUEUED)
    return _locked(rows.order_by("-priority", "queued_at", "id")[start:start + size])


def _locked(rows: QuerySet[Attempt]) -> list[Attempt]:
    """Nobody else changes these until this transaction ends; what somebody changes now (a cancel locks attempts, then their
    job) is passed over. The job is locked along, so that a claim never waits for anybody while it holds attempts."""
    light = rows.select_for_update(of=("self", "job"), skip_locked=_can_skip()).select_related("job").defer(*_OF_JOB)
    return list(with_jobs(list(light), "owner", "team", "org", "pool"))


def _can_skip() -> bool:
    return connection.features.has_select_for_update_skip_locked


def _admit_window(room: Room, due: Sequence[Attempt], limit: int) -> list[Attempt]:
    asks = [ask_of(attempt) for attempt in due]
    by_ask = dict(zip(map(id, asks), due, strict=True))
    admitted: list[Attempt] = []
    refused: list[tuple[Attempt, Verdict]] = []
    for ask, verdict in plan(room, asks):
        attempt = by_ask[id(ask)]
        if verdict.wait is not None:
            refused.append((attempt, verdict))
        elif len(admitted) < limit:
            _place(attempt, verdict)
            admitted.append(attempt)
    waiting.note(refused)
    return _held(admitted)


def ask_of(attempt: Attempt) -> Ask:
    """What this attempt would hold."""
    job = attempt.job
    return Ask(job.org_id, job.team_id, job.owner_id, job.resources, job.id, job.max_parallel)


def _place(attempt: Attempt, verdict: Verdict) -> None:
    if place := verdict.place:
        attempt.node = place.node
        attempt.placement = {"node": place.node, "cpus": round(place.cpus * 1000), "memory": place.memory,
                             "gpus": list(place.gpus), "uuids": list(place.gpu_uuids)}


def _held(admitted: list[Attempt]) -> list[Attempt]:
    """Hold quota for all at once; when another planner was faster with the last of it, one by one."""
    if not admitted or _hold(admitted):
        return admitted
    return [attempt for attempt in admitted if _hold([attempt])]


def _hold(attempts: Sequence[Attempt]) -> bool:
    jobs = {attempt.job_id: attempt.job for attempt in attempts}
    total = meters_of((jobs[job_id], count) for job_id, count in Counter(attempt.job_id for attempt in attempts).items())
    savepoint = transaction.savepoint()
    if hold(total) is not None:
        transaction.savepoint_rollback(savepoint)
        return False
    transaction.savepoint_commit(savepoint)
    return True


def _lease(claim: Claim) -> None:
    """Write the claim. The rows are locked since they were read."""
    if not claim.attempts:
        return
    at = clock.now()
    fresh = [a for a in claim.attempts if a.state == State.QUEUED]
    for attempt in claim.attempts:
        attempt.is_held, attempt.lease, attempt.lease_until, attempt.wait = True, claim.lease, claim.until, ""
    for attempt in fresh:
        attempt.state, attempt.state_at = State.DISPATCHING, at
    write_rows(claim.attempts, _CLAIMED)
    waiting.close(fresh)
    record_all(Fact("attempt.dispatching", a.org_id, "job", a.job_id, "muster",
                    {"attempt": str(a.id), "index": a.index, "ordinal": a.ordinal} | ({"node": a.node} if a.node else {}))
               for a in fresh)
    derive.refresh_jobs({a.job_id for a in fresh}, fresh)


def due_sweep() -> None:
    """By the clock: attempts whose back-off or lease has run out get a planner even if every hint was lost."""
    with platform_scope("sweep"):
        if Attempt.objects.filter(Q(state=State.QUEUED, due_at__lte=clock.now())
                                  | Q(state=State.DISPATCHING, lease_until__lt=clock.now())).exists():
            hint("jobs.dispatch")


