"""Cache values that are expensive to read, for a time proportional to the cost."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Hashable
from typing import Any, Generic, TypeVar

from schedulers.contract import Rejected, Unavailable

log = logging.getLogger(__name__)
T = TypeVar("T")
_SHARE = 0.05  # at most this share of the time is spent on reading


class AnswerCache:
    """Memoize answers derived from one snapshot: 50,000 jobs may ask the same question."""

    def __init__(self) -> None:
        self._found: dict[Hashable, Any] = {}

    def once(self, question: Hashable, answer: Callable[[], T]) -> T:
        if question not in self._found:
            self._found[question] = answer()
        found: T = self._found[question]
        return found


class CachedValue(Generic[T]):
    """The last value read and when it expires.

    It expires after `at_least` seconds, or `each` seconds per caller. If a read fails the value
    becomes None, or stays with `outlives`.
    """

    def __init__(self, what: str, at_least: float, each: float = 0, outlives: bool = False):
        self._what, self._at_least, self._each, self._outlives = what, at_least, each, outlives
        self._lock = threading.Lock()
        self._value: T | None = None
        self._until = 0.0

    def current(self, read: Callable[[], T], asking: int = 1) -> T | None:
        """Return the value, refreshing it if due.

        Never raises backend errors; while one thread reads, others get the previous value.
        """
        if time.monotonic() < self._until or not self._lock.acquire(blocking=False):
            return self._value
        began = time.monotonic()
        try:
            self._value = read()
        except (Rejected, Unavailable, KeyError, ValueError, TypeError, AttributeError) as error:
            log.info("%s cannot be read: %s", self._what, error)
            self._value = self._value if self._outlives else None
        finally:
            now = time.monotonic()
            self._until = now + max(self._at_least, (now - began) / _SHARE, asking * self._each)
            self._lock.release()
        return self._value
