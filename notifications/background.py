"""The loops of notifications: read events, send mail, send to channels.

Three, so that a mail server or a channel that does not answer stops nothing else. They run as
threads of the embedded process, or of the watcher process in server mode; one process at a time
leads each by lease.
"""

from __future__ import annotations

import threading
from collections.abc import Callable

from django.db import close_old_connections

from notifications.services.conditions import check_conditions
from notifications.services.consuming import Consumer
from notifications.services.sending import forget, send_mail_due, send_to_channels
from portal.background import BackgroundLoop
from portal.core import clock
from portal.core.audit.background import LeaderLease

BUSY, IDLE = 0.5, 4.0  # seconds between two rounds; the pause doubles from one to the other
CHECK, TIDY = 60.0, 3600.0


def consumer(stop: threading.Event) -> None:
    """Turn events into notifications, and look once a minute for what lasts."""
    reading, check_at, tidy_at, rest = Consumer(), 0.0, 0.0, BUSY
    with LeaderLease("notifications:consumer") as lead:
        while not stop.is_set():
            handled = 0
            if lead.is_mine():
                handled = reading.look(lambda: lead.is_mine() and not stop.is_set())
                if clock.monotonic() >= check_at:
                    check_conditions()
                    check_at = clock.monotonic() + CHECK
                if clock.monotonic() >= tidy_at:
                    forget()
                    tidy_at = clock.monotonic() + TIDY
            close_old_connections()
            rest = BUSY if handled else min(rest * 2, IDLE)
            stop.wait(rest)


def mailer(stop: threading.Event) -> None:
    """Send mail that is due."""
    _lead("notifications:mailer", send_mail_due, stop)


def poster(stop: threading.Event) -> None:
    """Send to channels what is due."""
    _lead("notifications:poster", send_to_channels, stop)


def _lead(name: str, send: Callable[[Callable[[], bool]], int], stop: threading.Event) -> None:
    rest = BUSY
    with LeaderLease(name) as lead:
        while not stop.is_set():
            sent = send(lambda: lead.is_mine() and not stop.is_set()) if lead.is_mine() else 0
            close_old_connections()
            rest = BUSY if sent else min(rest * 2, IDLE)
            stop.wait(rest)


LOOPS = tuple(BackgroundLoop(loop, in_server=True) for loop in (consumer, mailer, poster))
