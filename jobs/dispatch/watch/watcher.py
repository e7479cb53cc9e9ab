"""Watch one cluster: poll states, send stop requests, take inventory and move logs.

One watcher per cluster leads, by lease. Logs have their own thread, so slow logs delay no state.
The watcher reports observations; only `lifecycle.transition` changes state. A cluster that does not
answer changes no job.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from uuid import UUID

from django.db import DatabaseError, close_old_connections

from clusters.backends import backend_of
from clusters.models import Cluster
from clusters.services import outages
from clusters.services.credentials import note_use
from clusters.services.inventory import take_inventory
from jobs.dispatch.watch import logs, native_queue, observations
from jobs.dispatch.watch.attempts import AttemptCache
from jobs.dispatch.watch.poll_interval import POLL_EVERY, PollInterval
from jobs.models import Attempt
from portal.core import clock, leases
from portal.core.disk import full_disk
from portal.core.lease_holder import new_holder
from schedulers.contract import Backend, Capability, Poll, Unavailable
from schedulers.states import State
from workspaces.tenancy.scope import platform_scope

log = logging.getLogger(__name__)
BUSY, IDLE = 0.05, 1.0  # seconds between turns while something runs, and while nothing does
SEEN_EVERY = 5.0
INVENTORY_EVERY = 60.0
# Intervals of what is also done while nothing runs.
_REGULAR = {
    "probe": SEEN_EVERY * 4,
    "inventory": INVENTORY_EVERY,
}
NEWS_EVERY = 1.0  # Seconds between queries for submissions and cancels, while polls are rarer.
LAST_LINES = 0.5  # Seconds to read the last lines of ended attempts before their end is recorded.
LEASE = 15.0
SEALED_PER_TURN = 100
FULL_DISK_LOG_EVERY = 60.0  # seconds between log messages about a full disk


class Watcher:
    """Watch one cluster until stopped; `look` is a single turn, for tests."""

    def __init__(self, cluster_id: UUID):
        self.cluster_id = cluster_id
        self.holder = new_holder()
        self.wake = threading.Event()
        self._active: list[observations.WatchedAttempt] = []
        self._is_poll_requested = False
        self._watched: tuple[Cluster, Backend] | None = None
        self._log_wake, self._may_seal = threading.Event(), threading.Event()
        self._attempts, self._reasons = AttemptCache(), native_queue.Reasons()
        self._interval = PollInterval()
        self._next_log = 0
        self._last: dict[str, float] = {}
        self._leads_until = 0.0
        self._was_in_trouble = False
        self._sealed_to = UUID(int=0)

    def run(self, stop: threading.Event) -> None:
        """Take turns until stopped. An error in one turn is logged and the next starts afresh."""
        logs_thread = threading.Thread(
            target=self._run_logs, args=(stop,), name=f"logs-{self.cluster_id}", daemon=True
        )
        logs_thread.start()
        with platform_scope("the watcher sees every organization's attempts"):
            while not stop.is_set():
                is_busy = self._try(self.look_at_states)
                stop.wait(BUSY)
                if not is_busy:
                    self.wake.wait(IDLE - BUSY)
            self._log_wake.set()
            logs_thread.join(LEASE / 3)
            self._release()

    def _run_logs(self, stop: threading.Event) -> None:
        with platform_scope("the watcher moves every organization's logs"):
            while not stop.is_set():
                is_due = self._log_wake.wait(BUSY if self._active else IDLE) or self._active
                if not is_due:
                    continue
                began = clock.monotonic()
                is_more = self._try(self.look_at_logs)
                if is_more is None:
                    stop.wait(IDLE)
                elif not is_more:  # thousands of running jobs take at most half of a core
                    stop.wait(clock.monotonic() - began)

    def _try(self, look: Callable[[], bool]) -> bool | None:
        """Return the result of a turn; None if it failed."""
        try:
            return look()
        except Exception as error:
            self._log_error(error)
            close_old_connections()
            return None

    def look(self) -> bool:
        """Take one turn: states, then logs. For tests."""
        is_busy = self.look_at_states()
        if self._log_wake.is_set():
            self.look_at_logs()
        return is_busy

    def look_at_states(self) -> bool:
        """Take one turn for states; return whether anything is in progress."""
        has_news = self.wake.is_set()
        self.wake.clear()  # clear first, so what arrives meanwhile counts for the next turn
        self._is_poll_requested |= has_news
        if not self._leads():
            return False
        if self._is_quiet():
            return self._interval.is_lively
        cluster = Cluster.objects.get(id=self.cluster_id)
        self._was_in_trouble = bool(cluster.trouble)
        backend = backend_of(cluster)
        self._watched = cluster, backend
        note_use(cluster, "to watch jobs and nodes")
        if self._is_due("inventory", INVENTORY_EVERY):
            self._record_trouble(cluster, lambda: take_inventory(cluster, backend))
        has_news = has_news or self._has_news()
        self._is_poll_requested |= has_news
        if self._is_due(
            "poll",
            self._interval.called_every if self._is_poll_requested else self._interval.poll_every,
        ):
            self._is_poll_requested = False
            self._record_trouble(cluster, lambda: self._poll(cluster, backend))
            self._last["poll"] = clock.monotonic()  # the interval starts at the response
        elif has_news and not cluster.trouble:
            self._record_trouble(
                cluster,
                lambda: observations.send_stops(
                    backend, observations.active_attempts(cluster, State.STOPPING)
                ),
            )
        self._log_wake.set()
        return bool(self._active) or self._is_poll_requested or self._interval.is_lively

    def look_at_logs(self) -> bool:
        """Move logs of active attempts and seal some of ended ones; return whether more wait."""
        self._log_wake.clear()
        if self._watched is None or clock.monotonic() >= self._leads_until:
            return False
        cluster, backend = self._watched
        self._move_logs(backend)
        if not self._may_seal.is_set():
            return False
        self._may_seal.clear()
        if is_more := self._seal(cluster, backend):
            self._may_seal.set()
            self._log_wake.set()
        return is_more

    def _has_news(self) -> bool:
        """Return whether the database has a submission or cancel that the last poll missed.

        Used only while polls are rare: in server mode nothing can wake this process.
        """
        if self._interval.poll_every <= NEWS_EVERY or not self._is_due("news", NEWS_EVERY):
            return False
        return observations.has_news(self.cluster_id, self._active)

    def _is_quiet(self) -> bool:
        """Return whether there is nothing to do: no activity, request, due task or pending work."""
        if self._active or self._was_in_trouble or self._is_poll_requested:
            return False
        at = clock.monotonic()
        is_due = any(at - self._last.get(what, -every) >= every for what, every in _REGULAR.items())
        return not is_due and not observations.has_work(self.cluster_id)

    def _move_logs(self, backend: Backend) -> None:
        """Move logs in turn; the next call continues where the time ran out."""
        begun = [
            attempt
            for attempt in self._active
            if attempt.state >= State.SUBMITTED and not self._reasons.keeps(attempt.id)
        ]
        until = clock.monotonic() + POLL_EVERY
        start = self._next_log % len(begun) if begun else 0
        for count, attempt in enumerate(begun[start:] + begun[:start], 1):
            logs.pump(backend, attempt)
            if clock.monotonic() > until:
                self._next_log = start + count
                return
        self._next_log = 0

    def _poll(self, cluster: Cluster, backend: Backend) -> None:
        self._active = self._attempts.active(cluster)
        is_asked = bool(self._active) or self._is_due(
            "probe", SEEN_EVERY if cluster.trouble else SEEN_EVERY * 4
        )
        if self._active:
            by_key = {attempt.key: attempt for attempt in self._active}
            began = clock.monotonic()
            poll = backend.poll(list(by_key))
            seconds = clock.monotonic() - began
            ended = [
                by_key[seen.key]
                for seen in poll.observations
                if seen.state.is_final and seen.key in by_key
            ]
            # Store the last lines before the end is visible, but in a burst the states come first.
            logs.pump_several(backend, ended, LAST_LINES)
            moved = observations.apply_poll(cluster, self._active, poll)
            self._interval.polled(
                _load(cluster, poll, seconds),
                is_moving=bool(moved),
                is_scheduler=Capability.PLACES not in backend.capabilities,
            )
            native_queue.resubmit(
                cluster, backend, [by_key[key] for key in poll.missing if key in by_key]
            )
            self._active = observations.still_active(self._active, moved)
            self._reasons.note(by_key, poll)
            observations.send_stops(backend, self._active)
        elif is_asked:
            backend.inventory()
        self._may_seal.set()
        if is_asked:
            self._mark_seen(cluster)

    def _seal(self, cluster: Cluster, backend: Backend) -> bool:
        """Seal the next logs, round robin, so those that cannot be sealed yet delay no other.

        Returns whether there are more.
        """
        wanted = Attempt.objects.filter(
            cluster=cluster, state__gte=State.SUCCEEDED, is_forgotten=False, is_log_sealed=False
        )
        turn = list(wanted.filter(id__gt=self._sealed_to).order_by("id")[:SEALED_PER_TURN])
        self._sealed_to = turn[-1].id if len(turn) == SEALED_PER_TURN else UUID(int=0)
        logs.seal(backend, turn)
        return len(turn) == SEALED_PER_TURN

    def _log_error(self, error: Exception) -> None:
        """Log an error; a full disk only once per interval, since the log needs space too."""
        full = full_disk(error)
        if not full:
            log.exception("watcher: turn failed")
        elif self._is_due("full", FULL_DISK_LOG_EVERY):
            log.error("watcher: %s", error)

    def _record_trouble(self, cluster: Cluster, call) -> None:  # type: ignore[no-untyped-def]
        """Call and store an unavailable cluster's error text once; nothing else changes."""
        try:
            call()
        except Unavailable as error:
            text = str(error)[:500] or "it did not answer"
            if cluster.trouble != text:
                outages.mark_unreachable(cluster, text)

    def _mark_seen(self, cluster: Cluster) -> None:
        if cluster.trouble or self._is_due("seen", SEEN_EVERY if self._active else SEEN_EVERY * 4):
            outages.mark_reachable(cluster)

    def _leads(self) -> bool:
        """Take or renew the lease, after a third of LEASE seconds; return whether it is held."""
        at = clock.monotonic()
        if at < self._leads_until - LEASE * 2 / 3:
            return True
        if leases.take(self._lease_name, self.holder, LEASE):
            self._leads_until = at + LEASE
            return True
        return False

    def _release(self) -> None:
        """Release the lease; on failure it expires by itself."""
        try:
            leases.release(self._lease_name, self.holder)
        except DatabaseError as error:
            self._log_error(error)

    @property
    def _lease_name(self) -> str:
        return f"watch:{self.cluster_id}"

    def _is_due(self, what: str, every: float) -> bool:
        at = clock.monotonic()
        if at - self._last.get(what, -every) < every:
            return False
        self._last[what] = at
        return True


def _load(cluster: Cluster, poll: Poll, seconds: float) -> float:
    """Return the time in seconds for which a poll kept the scheduler busy.

    The first poll after an outage is slow, but not because of the load: the next follows at once.
    """
    if cluster.trouble:
        return 0.0
    return seconds if poll.work is None else poll.work
