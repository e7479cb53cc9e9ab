"""Limit calls to providers in web requests, so that a hanging one cannot block all threads."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from uuid import UUID

from portal.core import clock
from portal.core.errors import Unavailable
from portal.core.messages import Message

OF_ALL = 4  # requests per process that may wait for providers, of its eight threads
OF_ONE = 2  # of those, for the providers of one organization, or of the installation
OF_ONE_QUICK = 3  # likewise, if its latest answer took less than QUICK: many people sign in at nine
QUICK = 1.0
AWAY = 15.0  # seconds without calls after a provider timed out
RETRY_AFTER = 5

_lock = threading.Lock()
_waiting: Counter[UUID | None] = Counter()
_quick: set[UUID | None] = set()
_away: dict[str, tuple[float, str]] = {}  # by slug: until when, and why


@contextmanager
def waiting(org_id: UUID | None) -> Iterator[None]:
    """Count a web request as waiting for an organization's providers (None: the installation's).

    Raises Unavailable at once if the limit is reached.
    """
    with _lock:
        most = OF_ONE_QUICK if org_id in _quick else OF_ONE
        if _waiting.total() >= OF_ALL or _waiting[org_id] >= most:
            raise Unavailable(
                Message(
                    "Too many requests are waiting for this identity provider. Try again in a few "
                    "seconds."
                ),
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
    """Time one call; a provider that times out after `seconds` is skipped for AWAY seconds."""
    start = clock.monotonic()
    try:
        yield
    except Exception as error:
        now = clock.monotonic()
        if now - start > 0.9 * seconds:
            with _lock:
                _away[slug] = (now + AWAY, str(error) or type(error).__name__)
        raise


def unavailable_reason(slug: str) -> str:
    """Return why a provider is skipped now, or an empty string."""
    with _lock:
        until, why = _away.get(slug, (0.0, ""))
    return why if clock.monotonic() < until else ""


def check_is_available(slug: str) -> None:
    """Check that a provider is not being skipped. Raises Unavailable."""
    if unavailable_reason(slug):
        raise Unavailable(
            Message(
                "This identity provider isn't responding. Try again in a minute, or choose "
                "another way to sign in."
            ),
            code="provider_away",
            data={"retry_after": round(AWAY)},
        )


def reset() -> None:
    """Reset all limits; for tests."""
    with _lock:
        _away.clear()
        _quick.clear()
