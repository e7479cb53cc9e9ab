"""Giving what was claimed to its backend, outside of any transaction, and applying what came of it."""

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
from jobs import live_updates
from jobs.dispatch.launch import build_launches
from jobs.dispatch.lifecycle import Change, transition
from jobs.models import Attempt
from portal.core import clock
from portal.core.wakeups import hint
from schedulers.contract import Backend, Handle, Launch, Rejected, Unavailable
from schedulers.states import Reason, State

log = logging.getLogger(__name__)
WORKERS = 8  # submissions at a time
MAX_TRIES = 200  # hand-overs that the cluster could not take, before the platform gives up


@dataclass(frozen=True)
class Claim:
    """Attempts that this worker alone may hand over, until the lease runs out."""

    cluster: Cluster
    lease: UUID
    until: datetime
    attempts: list[Attempt]
    orphans: frozenset[UUID]  # those that somebody may have handed over before


@dataclass(frozen=True)
class UnderWay:
    """Submissions that have begun, one for each attempt."""

    claim: Claim
    attempts: list[Attempt]
    results: list[Future[Handle | Exception]]

    def wait_for_half(self) -> None:
        """Until the next batch, claimed now, would not wait long for its turn: its lease runs."""
        left = set(self.results)
        while len(left) > len(self.results) / 2:
            _, left = wait(left, return_when=FIRST_COMPLETED)


class Handover:
    """Threads that submit; they touch no database."""

    def __init__(self, workers: int = WORKERS):
        self._pool = ThreadPoolExecutor(workers, thread_name_prefix="hand-over")

    def __enter__(self) -> Handover:
        return self

    def __exit__(self, *_: object) -> None:
        self._pool.shutdown()

    def begin(self, claim: Claim) -> UnderWay:
        """Starts to submit what is still claimed; a single one is submitted here and now, several by the threads."""
        held = Attempt.objects.filter(
            cluster=claim.cluster, state=State.DISPATCHING, lease=claim.lease
        )
        still = set(held.values_list("id", flat=True))
        attempts = [attempt for attempt in claim.attempts if attempt.id in still]
        backend, launches = (
            backends.backend_of(claim.cluster),
            build_launches(attempts, claim.orphans, claim.cluster),
        )
        note_use(claim.cluster, "to submit jobs")
        start = self._pool.submit if len(launches) > 1 else _done
        return UnderWay(
            claim, attempts, [start(_submit, backend, claim, launch) for launch in launches]
        )

    def finish(self, under_way: UnderWay) -> int:
        """Waits for the rest, and applies what came of each; how many the cluster has taken."""
        claim, results = under_way.claim, [result.result() for result in under_way.results]
        moved = transition(
            [
                change
                for attempt, result in zip(under_way.attempts, results, strict=True)
                for change in _outcome(claim, attempt, result)
            ]
        )
        if len(moved) < len(claim.attempts):
            # What was canceled meanwhile is now either there or never will be: the watcher may believe what it sees, and stop it at once.
            Attempt.objects.filter(lease=claim.lease, state=State.STOPPING).update(
                lease=None, lease_until=None, stop_sent_at=None
            )
        hint("jobs.watch")
        return sum(attempt.state == State.SUBMITTED for attempt in moved)


def _done(call: Callable[..., Handle | Exception], *given: Any) -> Future[Handle | Exception]:
    done: Future[Handle | Exception] = Future()
    done.set_result(call(*given))
    return done


def hand_over(claim: Claim, workers: int = WORKERS) -> None:
    """One claim from begin to end."""
    with Handover(workers) as handover:
        handover.finish(handover.begin(claim))


def _submit(backend: Backend, claim: Claim, launch: Launch) -> Handle | Exception:
    if clock.now() >= claim.until:
        return Unavailable("Its turn did not come before the lease ran out.")
    try:
        handle = submitted(backend, launch)
        if clock.now() < claim.until:
            return handle
        return submitted(
            backend, replace(launch, is_new=False)
        )  # somebody else may have handed it over meanwhile: one of the two stays
    except Exception as error:
        return error


def submitted(backend: Backend, launch: Launch) -> Handle:
    """One that is barred is not begun; what is there already stays known. Raises Rejected, Unavailable."""
    if not launch.barred:
        return backend.submit(launch)
    if launch.is_new or (handle := backend.find(launch.key)) is None:
        raise Rejected(launch.barred, launch.barred_by)
    return handle


def _outcome(claim: Claim, attempt: Attempt, result: Handle | Exception) -> Iterator[Change]:
    backend = claim.cluster.backend
    match result:
        case Handle():
            yield Change(
                attempt.id, State.SUBMITTED, backend, native_id=result.native_id, lease=claim.lease
            )
        case Rejected():
            where = f"{result.field}: " if result.field else ""
            yield Change(
                attempt.id,
                result.reason.final_state,
                backend,
                result.reason,
                f"{where}{result}",
                lease=claim.lease,
            )
        case _:
            yield from _put_off(claim, attempt, result)


def _put_off(claim: Claim, attempt: Attempt, error: Exception) -> Iterator[Change]:
    """The cluster could not take it: nothing is known of the job, so the claim stays and is tried again, later and later."""
    log.warning(
        "cluster %s did not take %s: %s",
        claim.cluster.name,
        attempt.key,
        error,
        exc_info=not str(error),
    )
    if attempt.tries + 1 >= MAX_TRIES:
        yield Change(
            attempt.id,
            State.FAILED,
            "muster",
            Reason.PLATFORM_ERROR,
            f"The cluster refused {MAX_TRIES} times: {error}",
            lease=claim.lease,
        )
        return
    live_updates.jobs_changed([attempt.job])  # still on its way: the claim itself told nobody
    wait_for = min(2.0 ** min(attempt.tries, 6), 60)
    Attempt.objects.filter(id=attempt.id, lease=claim.lease).update(
        tries=attempt.tries + 1, lease_until=clock.after(wait_for), evidence=str(error)[:500]
    )
