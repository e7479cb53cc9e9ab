"""Run background loops, as threads in embedded mode and as a process of their own in server mode.

`settings.MUSTER_BACKGROUND` lists dotted paths of functions `loop(stop: threading.Event) -> None`.
A loop that returns is called again after its `interval` (seconds, set by `@every`, default 1). A
loop that raises is logged and called again after a pause that doubles up to 30 s. A loop with its
own timing waits on `stop` and returns when it is set.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterable
from typing import Any

from django.conf import settings
from django.db import close_old_connections, connections
from django.utils.module_loading import import_string

Loop = Callable[[threading.Event], None]
logger = logging.getLogger(__name__)
_LONGEST_PAUSE = 30.0


def every(seconds: float) -> Callable[[Loop], Loop]:
    """Set the interval in seconds after which a loop is called again."""

    def mark(loop: Loop) -> Loop:
        loop.interval = seconds  # type: ignore[attr-defined]
        return loop

    return mark


def run(path: str, stop: threading.Event) -> None:
    """Run the loop at a dotted path until `stop` is set. Raises ImportError if there is none."""
    _run(import_string(path), path, stop)


def _run(loop: Any, path: str, stop: threading.Event) -> None:
    interval, pause = float(getattr(loop, "interval", 1.0)), 1.0
    while not stop.is_set():
        try:
            loop(stop)
            pause, rest = 1.0, interval
        except Exception:
            logger.exception("background loop %s failed; retrying in %g s", path, pause)
            pause, rest = min(pause * 2, _LONGEST_PAUSE), pause
        close_old_connections()
        stop.wait(rest)
    connections.close_all()


class Background:
    """The loops as daemon threads, so that a hanging loop does not block the exit."""

    def __init__(self, paths: Iterable[str] | None = None) -> None:
        self._stop = threading.Event()
        self._threads = [
            threading.Thread(
                target=_run, args=(import_string(path), path, self._stop), name=path, daemon=True
            )
            for path in (settings.MUSTER_BACKGROUND if paths is None else paths)
        ]

    def start(self) -> None:
        for thread in self._threads:
            thread.start()

    def stop(self, seconds: float = 10) -> list[str]:
        """Stop all loops and wait; return the names of those that did not stop in time."""
        self._stop.set()
        for thread in self._threads:
            thread.join(seconds)
        return [thread.name for thread in self._threads if thread.is_alive()]
