"""Limits on calls to providers inside web requests: one that hangs must not hold the threads that answer everybody."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from uuid import UUID

from portal.core import clock
from portal.core.errors import Unavailable

OF_ALL = 4  # requests of one process that wait for providers, of its eight threads
OF_ONE = 2  # of those, for providers of one organization, or of the installation
OF_ONE_QUICK = 3  # the same while its latest answer took less than QUICK: many people begin at nine
QUICK = 1.0
AWAY = 15.0  # seconds without a question, after an answer did not come in time
RETRY_AFTER = 5

_lock = threading.Lock()
_waiting: Counter[UUID | None] = Counter()
_quick: set[UUID | None] = set()
_away: dict[str, tuple[float, str]] = {}  # by slug: until when, and why


@contextmanager
def waiting(org_id: UUID | None) -> Iterator[None]:
    """A web request that waits for providers of one organization (None: of the installation). Raises Unavailable at once where
    as many wait as may."""
    with _lock:
        most = OF_ONE_QUICK if org_id in _quick else OF_ONE
        if _waiting.total() >= OF_ALL or _waiting[org_id] >= most:
            raise Unavailable(
                "Too many people wait for an answer of this directory or sign-in service. "
                "Try again in a few seconds.",
                code="provider_busy",
                data={"retry_after": RETRY_AFTER},
            )
        _waiting[org_id] += 1
    start = clock.monotonic()
    try:
        yield
    finally:
        with _lock:
            _waiting[org_id] -= 1
            (_quick.add if clock.monotonic() - start < QUICK else _quick.discard)(org_id)


@contextmanager
def question(slug: str, seconds: float) -> Iterator[None]:
    """One question that may take so many seconds. A provider that uses them up without an answer is away for AWAY."""
    start = clock.monotonic()
    try:
        yield
    except Exception as error:
        now = clock.monotonic()
        if now - start > 0.9 * seconds:
            with _lock:
                _away[slug] = (now + AWAY, str(error) or type(error).__name__)
        raise


def why_away(slug: str) -> str:
    """Why a provider is not asked now; empty where it is."""
    with _lock:
        until, why = _away.get(slug, (0.0, ""))
    return why if clock.monotonic() < until else ""


def check_is_not_away(slug: str) -> None:
    """Raises Unavailable."""
    if why_away(slug):
        raise Unavailable(
            "This directory or sign-in service did not answer a moment ago. Try again in a minute, or choose "
            "another way to sign in.",
            code="provider_away",
            data={"retry_after": round(AWAY)},
        )


def forget_all() -> None:
    """For tests."""
    with _lock:
        _away.clear()
        _quick.clear()
