"""A tap on the shoulder: "there may be work". Losing one costs latency only, for every task also runs by the clock.

Server mode sends the Celery task by name; embedded mode wakes the ticker thread of this process.
"""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Callable
from functools import cache
from typing import Any

from django.db import transaction

from portal.core import clock

log = logging.getLogger(__name__)
REST, LONGEST = 0.02, 0.08  # seconds
BROKER_TIMEOUT = 0.4  # seconds that a request waits for a broker that does not answer, …
BROKER_PAUSE = 2.0  # … and for how long this process then does without it
CONNECTIONS = 8  # as many as requests may be under way
_send: Callable[[str], None] | None = None
_stand_in: Callable[[str], None] | None = None
_away_until = 0.0


def hint(task: str) -> None:
    """After this transaction commits, ask for `task` to run soon. Never raises: the sweep will find the work anyway."""
    transaction.on_commit(lambda: _tap(task))


def deliver_by(send: Callable[[str], None] | None) -> None:
    """Set who carries hints in this process (the ticker, in embedded mode); None: Celery."""
    global _send
    _send = send


def stand_in(run: Callable[[str], None]) -> None:
    """Set who runs a task in this process while the broker is away."""
    global _stand_in
    _stand_in = run


def _tap(task: str) -> None:
    try:
        (_send or _celery)(task)
    except Exception as error:  # a broker that is down must not undo what was committed
        log.warning("hint %s was lost: %s", task, error)


def _celery(task: str) -> None:
    global _away_until
    from django.conf import settings

    if settings.MUSTER_EMBEDDED or not _bell.may_ring(task):
        return
    if clock.monotonic() >= _away_until:
        try:
            _ring(task)
            return
        except Exception as error:
            log.warning("the broker is away, hint %s was lost: %s", task, error)
            _away_until = clock.monotonic() + BROKER_PAUSE
            _producers.cache_clear()  # its other connections are as dead as this one
    if _stand_in:
        _stand_in(task)


def _ring(task: str) -> None:
    from celery import current_app

    with _producers().acquire(block=True) as producer:
        current_app.send_task(task, producer=producer, ignore_result=True, expires=30)


@cache
def _producers() -> Any:
    """Of hints alone: kombu by itself pauses for seconds between tries, and Celery's sockets wait as long as a worker may."""
    from celery import current_app
    from kombu.pools import ProducerPool

    patience = {
        "socket_timeout": BROKER_TIMEOUT,
        "socket_connect_timeout": BROKER_TIMEOUT,
        "max_retries": 0,
    }
    connections = current_app.connection_for_write(transport_options=patience).Pool(
        limit=CONNECTIONS
    )
    return ProducerPool(connections, limit=CONNECTIONS)  # type: ignore[no-untyped-call]


class _Bell:
    """Many hints for one task within REST seconds are two: the first at once, and one for all the others when it is over. While
    they keep coming the rest doubles up to LONGEST: who is busy anyway is told less often."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._resting: dict[str, bool] = {}  # task: whether it was asked for since
        self._rest: dict[str, float] = {}

    def may_ring(self, task: str) -> bool:
        with self._lock:
            if task in self._resting:
                self._resting[task] = True
                return False
            self._resting[task] = False
            rest = self._rest.setdefault(task, REST)
        timer = threading.Timer(rest, self._over, [task])
        timer.daemon = True
        timer.start()
        return True

    def _over(self, task: str) -> None:
        with self._lock:
            was_asked = self._resting.pop(task)
            self._rest[task] = min(self._rest[task] * 2, LONGEST) if was_asked else REST
        if was_asked:
            _tap(task)


_bell = _Bell()


def _forget() -> None:
    """In a child after a fork: its parent's timers stay with the parent."""
    global _bell
    _bell = _Bell()
    _producers.cache_clear()


os.register_at_fork(after_in_child=_forget)
