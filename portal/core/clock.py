"""Provide the current time from one place, so that tests can freeze it."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta


class UtcFormatter(logging.Formatter):
    """Format log timestamps in UTC, with a trailing `Z`."""

    converter = staticmethod(time.gmtime)
    default_time_format, default_msec_format = "%Y-%m-%dT%H:%M:%S", "%s.%03dZ"


_frozen: datetime | None = None


def now() -> datetime:
    """Return the current time, timezone-aware, in UTC."""
    return _frozen or datetime.now(UTC)


def now_ms() -> int:
    """Return the Unix time in milliseconds, as logs and series store it."""
    return int(now().timestamp() * 1000)


def monotonic() -> float:
    """Return seconds from a clock that never steps; only differences are meaningful."""
    return time.monotonic()


@contextmanager
def frozen(at: datetime) -> Iterator[None]:
    """Freeze `now()` at one instant. For tests."""
    global _frozen
    before, _frozen = _frozen, at
    try:
        yield
    finally:
        _frozen = before


def after(seconds: float) -> datetime:
    """Return the time that many seconds from now."""
    return now() + timedelta(seconds=seconds)
