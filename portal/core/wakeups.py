"""Wake workers early. A lost wake-up only adds latency, because every task also runs periodically.

In server mode this sends the Celery task by name; in embedded mode it wakes the ticker thread.
"""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Callable
from functools import cache
from typing import Any

from django.db import transaction

from portal.core.redis_outages import TIMEOUT, breaker

log = logging.getLogger(__name__)
REST, LONGEST = 0.02, 0.08  # seconds
# Upper limit of concurrent requests.
CONNECTIONS = 8
_send: Callable[[str], None] | None = None
_fallback: Callable[[str], None] | None = None


def wake_worker(task: str) -> None:
    """Ask for `task` to run soon after this transaction commits. Never raises."""
    transaction.on_commit(lambda: _wake(task))


def set_sender(send: Callable[[str], None] | None) -> None:
    """Set the function that wakes tasks in this process; None means Celery."""
    global _send
    _send = send


def set_fallback(run: Callable[[str], None]) -> None:
    """Set the function that runs tasks in this process while the broker is unavailable."""
    global _fallback
    _fallback = run


def _wake(task: str) -> None:
    try:
        (_send or _celery)(task)
    except Exception as error:  # an unavailable broker must not fail committed work
        log.warning("wake-up of %s was lost: %s", task, error)


def _celery(task: str) -> None:
    from django.conf import settings

    if settings.MUSTER_EMBEDDED or not _debouncer.may_wake(task):
        return
    if breaker.may_call():
        try:
            _send_task(task)
            breaker.succeeded()
            return
        except Exception as error:
            log.warning("broker unavailable, wake-up of %s was lost: %s", task, error)
            breaker.failed()
            _producers.cache_clear()  # drop the other connections as well
    if _fallback:
        _fallback(task)


def _send_task(task: str) -> None:
    from celery import current_app

    with _producers().acquire(block=True) as producer:
        current_app.send_task(task, producer=producer, ignore_result=True, expires=30)


@cache
def _producers() -> Any:
    """Return a pool with short timeouts: those of kombu and Celery are too long for a request."""
    from celery import current_app
    from kombu.pools import ProducerPool

    patience = {
        "socket_timeout": TIMEOUT,
        "socket_connect_timeout": TIMEOUT,
        "max_retries": 0,
    }
    connections = current_app.connection_for_write(transport_options=patience).Pool(
        limit=CONNECTIONS
    )
    return ProducerPool(connections, limit=CONNECTIONS)  # type: ignore[no-untyped-call]


class _Debouncer:
    """Limit wake-ups: one at once, and one for all others that arrive during the pause.

    While wake-ups keep arriving, the pause doubles from REST up to LONGEST.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        # Maps each paused task to whether it was requested since.
        self._pending: dict[str, bool] = {}
        self._pause: dict[str, float] = {}

    def may_wake(self, task: str) -> bool:
        with self._lock:
            if task in self._pending:
                self._pending[task] = True
                return False
            self._pending[task] = False
            rest = self._pause.setdefault(task, REST)
        timer = threading.Timer(rest, self._resume, [task])
        timer.daemon = True
        timer.start()
        return True

    def _resume(self, task: str) -> None:
        with self._lock:
            was_asked = self._pending.pop(task)
            self._pause[task] = min(self._pause[task] * 2, LONGEST) if was_asked else REST
        if was_asked:
            _wake(task)


_debouncer = _Debouncer()


def _forget() -> None:
    """Reset the state in a forked child: timers stay with the parent."""
    global _debouncer
    _debouncer = _Debouncer()
    _producers.cache_clear()


os.register_at_fork(after_in_child=_forget)
