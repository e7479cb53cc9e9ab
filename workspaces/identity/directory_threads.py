"""Threads for directory syncs and tests, so that a hanging directory blocks no request or worker.

Threads are shared fairly: an organization gets one thread, and a second one only while less than
half of all are busy. Four organizations with hanging directories thus occupy six of eight threads,
and one without a running task comes before another's second.
"""

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
THREADS, OF_ONE = 8, 2  # threads per process; how many of them one organization may use
_lock = threading.Lock()
_threads = 0
_busy: Counter[UUID | None] = Counter()


def start_thread() -> None:
    """Start a thread if there are too few; it ends when the queue is empty. Returns at once."""
    global _threads
    with _lock:
        if _threads >= THREADS:
            return
        _threads += 1
    threading.Thread(target=_work_in_thread, name="directory", daemon=True).start()


def work() -> None:
    """Run queued tests, then queued syncs, until no more may start."""
    while _run_one(run_next_test) or _run_one(run_next):
        pass


def _run_one(run: Callable[[Callable[[UUID | None], bool]], bool]) -> bool:
    """Call `run` with a check that admits organizations below their limit of threads."""
    taken: list[UUID | None] = []

    def may_begin(org_id: UUID | None) -> bool:
        with _lock:
            while taken:  # the previous candidate did not start
                _busy[taken.pop()] -= 1
            if _busy[org_id] >= (OF_ONE if _busy.total() < THREADS // 2 else 1):
                return False
            _busy[org_id] += 1
            taken.append(org_id)
            return True

    try:
        return run(may_begin)
    except Exception:
        log.exception("a directory sync or test failed")
        return False  # the next wakeup or timer continues: no busy loop while the database is down
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
