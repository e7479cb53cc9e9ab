"""The one source of time, so that tests can hold it still."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta

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
