"""Run background loops, as threads in embedded mode and beside the watcher in server mode.

An app declares LOOPS in `background.py`: functions `loop(stop: threading.Event) -> None`. A loop
that returns is called again after its `interval` (seconds, set by `@every`, default 1). A loop that
raises is logged and called again after a pause that doubles up to 30 s. A loop with its own timing
waits on `stop` and returns when it is set.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from django.db import close_old_connections, connections

from portal.core.declarations import declared

Loop = Callable[[threading.Event], None]
logger = logging.getLogger(__name__)
_LONGEST_PAUSE = 30.0


def every(seconds: float) -> Callable[[Loop], Loop]:
    """Set the interval in seconds after which a loop is called again."""

    def mark(loop: Loop) -> Loop:
        loop.interval = seconds  # type: ignore[attr-defined]
        return loop

    return mark


@dataclass(frozen=True)
class BackgroundLoop:
    """A loop, and where it runs: in the embedded process, or in the watcher of server mode."""

    run: Loop
    in_embedded: bool = True
    in_server: bool = False


def embedded_loops() -> list[Loop]:
    """Return the loops that replace worker, beat, watcher and agent."""
    return [loop.run for loop in declared("background", "LOOPS") if loop.in_embedded]


def server_loops() -> list[Loop]:
    """Return the loops that run beside the watcher."""
    return [loop.run for loop in declared("background", "LOOPS") if loop.in_server]


def run(loop: Loop, stop: threading.Event) -> None:
    """Run a loop until `stop` is set."""
    path = _name(loop)
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


def _name(loop: Loop) -> str:
    return f"{loop.__module__}.{loop.__qualname__}"


class Background:
    """The loops as daemon threads, so that a hanging loop does not block the exit."""

    def __init__(self, loops: Iterable[Loop]) -> None:
        self._stop = threading.Event()
        self._threads = [
            threading.Thread(target=run, args=(loop, self._stop), name=_name(loop), daemon=True)
            for loop in loops
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
