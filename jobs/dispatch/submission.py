"""Submit claimed attempts to their backend, outside of any transaction, and apply the results."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from clusters import backends
from clusters.models import Cluster
from clusters.services.credentials import note_use
from jobs.data.folders import folders_of
from jobs.data.inputs import data_of
from jobs.dispatch import live_updates
from jobs.dispatch.launch import build_launches
from jobs.dispatch.lifecycle import StateChange, transition
from jobs.dispatch.staging import Preparing, prepare
from jobs.models import Attempt
from jobs.saving.launching import with_resumed
from jobs.saving.starting import begin
from portal.core import clock
from portal.core.messages import Message
from portal.core.wakeups import wake_worker
from schedulers.contract import Backend, Handle, Launch, Rejected, Unavailable
from schedulers.states import Reason, State

log = logging.getLogger(__name__)
WORKERS = 8  # concurrent submissions
LOOK_AGAIN = 1.0  # seconds until a job is tried again whose files are being prepared
MAX_TRIES = 200  # failed hand-overs before the attempt fails


class LeaseExpired(Exception):
    """The lease ended before a submission began; the next claim takes the attempt at once."""


@dataclass(frozen=True)
class Claim:
    """Attempts that only this worker may hand over until the lease expires."""

    cluster: Cluster
    lease: UUID
    until: datetime
    attempts: list[Attempt]
    orphans: frozenset[UUID]  # may have been handed over before
    seconds: float = 15.0  # that the lease lasts


@dataclass(frozen=True)
class InFlight:
    """Submissions in progress, one for each attempt."""

    claim: Claim
    attempts: list[Attempt]
    results: list[Future[Handle | Exception]]

    @property
    def begun(self) -> int:
        """Return how many submissions began before the lease expired. All must be done."""
        return sum(not isinstance(result.result(), LeaseExpired) for result in self.results)

    def wait_for_half(self) -> None:
        """Wait until half are done, so the lease of the next batch is not spent in the queue."""
        left = set(self.results)
        while len(left) > len(self.results) / 2:
            _, left = wait(left, return_when=FIRST_COMPLETED)


class SubmissionPool:
    """Submit attempts by threads that never touch the database."""

    def __init__(self, workers: int = WORKERS):
        self._pool = ThreadPoolExecutor(workers, thread_name_prefix="hand-over")

    def __enter__(self) -> SubmissionPool:
        return self

    def __exit__(self, *_: object) -> None:
        self._pool.shutdown()

    def begin(self, claim: Claim) -> InFlight:
        """Start to submit what is still claimed: one attempt inline, several by the threads."""
        held = Attempt.objects.filter(
            cluster=claim.cluster, state=State.DISPATCHING, lease=claim.lease
        )
        still = set(held.values_list("id", flat=True))
        attempts = [attempt for attempt in claim.attempts if attempt.id in still]
        backend = backends.backend_of(claim.cluster)
        begun = begin(attempts)
        data, waiting = prepare(backend, with_resumed(data_of(attempts), attempts, begun))
        launches = build_launches(
            attempts, claim.orphans, claim.cluster, data, begun, folders_of(attempts, backend)
        )
        note_use(claim.cluster, "to submit jobs")
        start = self._pool.submit if len(launches) > 1 else _completed
        return InFlight(
            claim,
            attempts,
            [
                start(_submit, backend, claim, launch)
                if (why := waiting.get(attempt.job_id)) is None
                else _completed(lambda why: why, why)
                for attempt, launch in zip(attempts, launches, strict=True)
            ],
        )

    def finish(self, in_flight: InFlight) -> int:
        """Wait for the rest and apply the results; return how many the cluster accepted."""
        claim, results = in_flight.claim, [result.result() for result in in_flight.results]
        moved = transition(
            [
                change
                for attempt, result in zip(in_flight.attempts, results, strict=True)
                for change in _outcome(claim, attempt, result)
            ]
        )
        if len(moved) < len(claim.attempts):
            # An attempt canceled meanwhile either exists by now or never will, so the watcher may
            # trust what it sees and stop it at once.
            Attempt.objects.filter(lease=claim.lease, state=State.STOPPING).update(
                lease=None, lease_until=None, stop_sent_at=None
            )
        wake_worker("jobs.watch")
        return sum(attempt.state == State.SUBMITTED for attempt in moved)


def _completed(call: Callable[..., Handle | Exception], *given: Any) -> Future[Handle | Exception]:
    done: Future[Handle | Exception] = Future()
    done.set_result(call(*given))
    return done


def _submit(backend: Backend, claim: Claim, launch: Launch) -> Handle | Exception:
    if clock.now() >= claim.until:
        return LeaseExpired()
    try:
        handle = submit_launch(backend, launch)
        if clock.now() < claim.until:
            return handle
        # Another worker may have submitted it meanwhile; the backend keeps one of the two.
        return submit_launch(backend, replace(launch, is_new=False))
    except Exception as error:
        return error


def submit_launch(backend: Backend, launch: Launch) -> Handle:
    """Submit a launch. A blocked launch is not started, but a job that already exists stays known.

    Raises Rejected, Unavailable.
    """
    if launch.block is None:
        return backend.submit(launch)
    if launch.is_new or (handle := backend.find(launch.key)) is None:
        raise Rejected(launch.block.reason, launch.block.field)
    return handle


def _outcome(claim: Claim, attempt: Attempt, result: Handle | Exception) -> Iterator[StateChange]:
    backend = claim.cluster.backend
    match result:
        case Handle():
            yield StateChange(
                attempt.id, State.SUBMITTED, backend, native_id=result.native_id, lease=claim.lease
            )
        case Rejected():
            where = f"{result.field}: " if result.field else ""
            yield StateChange(
                attempt.id,
                result.reason.final_state,
                backend,
                result.reason,
                f"{where}{result}",
                lease=claim.lease,
            )
        case LeaseExpired() if len(claim.attempts) > 1:  # says nothing about the cluster
            log.info("attempt %s was not handed over in time", attempt.key)
        case LeaseExpired():
            why = Message(
                "Preparing its submission took longer than {n} s.", n=f"{claim.seconds:g}"
            )
            yield from _postpone(claim, attempt, Unavailable(why))
        case _:
            yield from _postpone(claim, attempt, result)


def _postpone(claim: Claim, attempt: Attempt, error: Exception) -> Iterator[StateChange]:
    """Retry later with backoff: the state of the job is unknown, so the claim stays."""
    if isinstance(error, Preparing):
        Attempt.objects.filter(id=attempt.id, lease=claim.lease).update(
            lease_until=clock.after(LOOK_AGAIN), evidence=str(error)[:500]
        )
        return
    log.warning(
        "cluster %s did not accept %s: %s",
        claim.cluster.name,
        attempt.key,
        error,
        exc_info=not str(error),
    )
    if attempt.tries + 1 >= MAX_TRIES:
        yield StateChange(
            attempt.id,
            State.FAILED,
            "muster",
            Reason.PLATFORM_ERROR,
            f"The cluster refused {MAX_TRIES} times: {error}",
            lease=claim.lease,
        )
        return
    live_updates.jobs_changed([attempt.job])  # the claim itself sent no live update
    wait_for = min(2.0 ** min(attempt.tries, 6), 60)
    Attempt.objects.filter(id=attempt.id, lease=claim.lease).update(
        tries=attempt.tries + 1, lease_until=clock.after(wait_for), evidence=str(error)[:500]
    )
