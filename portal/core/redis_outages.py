"""Stop using Redis for a moment when it is unavailable, in all clients of a process.

A Redis that hangs accepts connections and never answers, so that a time-out counts like a refused
connection. All clients share one circuit breaker: without it, each call of a request would wait for
its own time-out.
"""

from __future__ import annotations

import threading

from portal.core import clock

# Seconds that a request waits for an answer of Redis.
TIMEOUT = 0.4
# Seconds for which this process then does not use Redis; after them, one call tries it.
PAUSE = 2.0


class CircuitBreaker:
    """Count any failure as an outage, and let one call per pause find out whether it is over."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._paused_until: float | None = None  # None while Redis is available

    def may_call(self) -> bool:
        """Return whether to use Redis now. The caller reports with `succeeded` or `failed`."""
        if self._paused_until is None:
            return True
        with self._lock:
            if self._paused_until is None:
                return True
            if clock.monotonic() < self._paused_until:
                return False
            self._paused_until = clock.monotonic() + PAUSE  # the others wait for this call
            return True

    def succeeded(self) -> None:
        self._paused_until = None

    def failed(self) -> None:
        with self._lock:
            self._paused_until = clock.monotonic() + PAUSE


breaker = CircuitBreaker()
