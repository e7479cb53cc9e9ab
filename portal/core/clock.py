"""The one source of time, so that tests can hold it still."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta


class InUtc(logging.Formatter):
    """The time of a line of the log, which says by its `Z` what it is."""

    converter = staticmethod(time.gmtime)
    default_time_format, default_msec_format = "%Y-%m-%dT%H:%M:%S", "%s.%03dZ"


_frozen: datetime | None = None


def now() -> datetime:
    """The present instant, aware, UTC."""
    return _frozen or datetime.now(UTC)


def now_ms() -> int:
    """Unix time in milliseconds, as logs and series store it."""
    return int(now().timestamp() * 1000)


def monotonic() -> float:
    """Seconds on a clock that never steps; only differences mean something."""
    return time.monotonic()


@contextmanager
def frozen(at: datetime) -> Iterator[None]:
    """Hold `now()` at one instant. For tests."""
    global _frozen
    before, _frozen = _frozen, at
    try:
        yield
    finally:
        _frozen = before


def after(seconds: float) -> datetime:
    """The instant so many seconds from now."""
    return now() + timedelta(seconds=seconds)
