"""Background loops of the embedded process; each stops when its event is set.

The ticker replaces Celery's worker and beat. The watcher is the same as in server mode.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterable, Mapping

from celery import current_app
from django.db import close_old_connections

from clusters.models import Cluster
from jobs.dispatch import threads as turns
from jobs.dispatch.claims import due_sweep
from jobs.dispatch.watch import Watcher
from jobs.saving.background import saver
from portal.background import BackgroundLoop, every
from portal.celery import schedule
from portal.core import wakeups

log = logging.getLogger(__name__)
_watchers: list[Watcher] = []


_STARTING = frozenset({"jobs.dispatch", "jobs.sweep"})  # Tasks that only use the database.


class Ticker:
    """Run Celery tasks by name in this thread: at once on a hint, else by the beat schedule."""

    def __init__(self, schedule: Mapping[str, float], asked: Iterable[str] = ()) -> None:
        self._asked = set(asked)
        self._wake = threading.Condition()
        self._every = dict(schedule)
        self._next = {task: time.monotonic() + every for task, every in self._every.items()}

    def tap(self, task: str) -> None:
        """Request a run of the task, from any thread. Requests before it runs are merged."""
        with self._wake:
            self._asked.add(task)
            self._wake.notify()

    def run(self, stop: threading.Event) -> None:
        """Run due tasks until stopped."""
        while not stop.is_set():
            for task in self._due():
                _run(task)

    def _due(self) -> list[str]:
        with self._wake:
            if not self._asked:
                rest = min(self._next.values(), default=time.monotonic() + 1) - time.monotonic()
                self._wake.wait(min(max(rest, 0.0), 1.0))
            at = time.monotonic()
            due = self._asked | {task for task, when in self._next.items() if when <= at}
            self._asked = set()
            for task in due & self._next.keys():
                self._next[task] = at + self._every[task]
            return sorted(due)


def ticker(stop: threading.Event) -> None:
    """Replace worker and beat by two threads: one starts jobs, the other does everything else."""
    tasks = schedule()
    # Claims of the last process, and lost hints.
    starter = Ticker(
        {task: every for task, every in tasks.items() if task in _STARTING},
        asked={"jobs.dispatch"},
    )
    keeper = Ticker({task: every for task, every in tasks.items() if task not in _STARTING})

    def tap(task: str) -> None:
        if task == "jobs.watch":
            wake_watchers()
        else:
            (starter if task in _STARTING else keeper).tap(task)

    housekeeping = threading.Thread(
        target=keeper.run, args=(stop,), name="housekeeping", daemon=True
    )
    housekeeping.start()
    wakeups.set_sender(tap)
    starter.run(stop)
    wakeups.set_sender(None)
    housekeeping.join(5.0)


@every(3.0)
def standby(stop: threading.Event) -> None:
    """Start jobs from the database while Celery's broker is down, in server mode."""
    wakeups.set_fallback(_run_here)
    due_sweep()


def _run_here(task: str) -> None:
    if task == "jobs.dispatch":
        turns.request_dispatch()


def watcher(stop: threading.Event) -> None:
    """Run a watcher per cluster; new clusters are noticed within seconds."""
    threads: dict[object, threading.Thread] = {}
    while True:
        for cluster_id in Cluster.objects.filter(is_enabled=True).values_list("id", flat=True):
            if cluster_id not in threads:
                made = Watcher(cluster_id)
                _watchers.append(made)
                threads[cluster_id] = threading.Thread(
                    target=made.run, args=(stop,), name=f"watch-{cluster_id}", daemon=True
                )
                threads[cluster_id].start()
        if stop.wait(10.0):
            break
    wake_watchers()
    for thread in threads.values():
        thread.join(5.0)


def wake_watchers() -> None:
    """Make all watchers poll now instead of at their next turn."""
    for made in _watchers:
        made.wake.set()


def _run(task: str) -> None:
    try:
        current_app.tasks[task].run()
    except Exception:
        log.exception("task %s failed", task)
        close_old_connections()


LOOPS = (
    BackgroundLoop(ticker),
    BackgroundLoop(watcher),
    BackgroundLoop(saver, in_server=True),
    BackgroundLoop(standby, in_embedded=False, in_server=True),
)
