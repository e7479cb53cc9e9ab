"""A tap on the shoulder: "there may be work". Losing one costs latency only, for every task also runs by the clock.

Server mode sends the Celery task by name; embedded mode wakes the ticker thread of this process.
"""

from __future__ import annotations

import logging
from collections.abc import Callable

from django.db import transaction

log = logging.getLogger(__name__)
_send: Callable[[str], None] | None = None


def hint(task: str) -> None:
    """After this transaction commits, ask for `task` to run soon. Never raises: the sweep will find the work anyway."""
    transaction.on_commit(lambda: _tap(task))


def deliver_by(send: Callable[[str], None] | None) -> None:
    """Set who carries hints in this process (the ticker, in embedded mode); None: Celery."""
    global _send
    _send = send


def _tap(task: str) -> None:
    try:
        (_send or _celery)(task)
    except Exception as error:  # a broker that is down must not undo what was committed
        log.warning("hint %s was lost: %s", task, error)


def _celery(task: str) -> None:
    from django.conf import settings

    if settings.MUSTER_EMBEDDED:
        return
    from celery import current_app

    current_app.send_task(task, ignore_result=True, expires=30)
