"""Threads for directories: a directory that hangs holds none of the requests, nor Celery's worker, nor the ticker.

They are shared fairly: an organization has one thread, and a second one only while less than half of all are busy. So four organizations
whose directories hang hold six of eight, and who has none under way comes before another's second."""

from __future__ import annotations

import logging
import threading
from collections import Counter
from collections.abc import Callable
from uuid import UUID

from django.db import connection

from workspaces.identity.directory_sync import run_next
from workspaces.identity.provider_services import run_next_test

log = logging.getLogger(__name__)
THREADS, OF_ONE = 8, 2  # in one process; and of those, how many may work for one organization
_lock = threading.Lock()
_threads = 0
_busy: Counter[UUID | None] = Counter()


def start_thread() -> None:
    """One more, if there are not enough; it ends when nothing is queued. Returns at once."""
    global _threads
    with _lock:
        if _threads >= THREADS:
            return
        _threads += 1
    threading.Thread(target=_work_in_thread, name="directory", daemon=True).start()


def work() -> None:
    """Do what is queued, tests before runs, until there is no more that may begin."""
    while _one(run_next_test) or _one(run_next):
        pass


def _one(run: Callable[[Callable[[UUID | None], bool]], bool]) -> bool:
    """`run` the next of those organizations that may have one more thread."""
    taken: list[UUID | None] = []

    def may_begin(org_id: UUID | None) -> bool:
        with _lock:
            while taken:  # the one before could not be begun
                _busy[taken.pop()] -= 1
            if _busy[org_id] >= (OF_ONE if _busy.total() < THREADS // 2 else 1):
                return False
            _busy[org_id] += 1
            taken.append(org_id)
            return True

    try:
        return run(may_begin)
    except Exception:
        log.exception("a directory's run or test")
        return False  # the next hint, or the clock, goes on: no hot loop where the database is away
    finally:
        with _lock:
            for org_id in taken:
                _busy[org_id] -= 1


def _work_in_thread() -> None:
    global _threads
    try:
        work()
    finally:
        connection.close()
        with _lock:
            _threads -= 1
