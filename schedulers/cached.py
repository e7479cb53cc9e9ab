"""Something that is costly to read, kept for as long as it was costly."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Hashable
from typing import Any, Generic, TypeVar

from schedulers.contract import Rejected, Unavailable

log = logging.getLogger(__name__)
T = TypeVar("T")
_SHARE = 0.05  # of the time may go into reading


class Answers:
    """What was found out from something that was read: each question is looked into once, for 50,000 jobs may ask the same."""

    def __init__(self) -> None:
        self._found: dict[Hashable, Any] = {}

    def once(self, question: Hashable, answer: Callable[[], T]) -> T:
        if question not in self._found:
            self._found[question] = answer()
        found: T = self._found[question]
        return found


class Kept(Generic[T]):
    """The last that was read, and when the next is due: after `at_least` seconds, or `each` for every one that asks. What cannot be read
    now is nothing, or, where `outlives` says so, what was read before."""

    def __init__(self, what: str, at_least: float, each: float = 0, outlives: bool = False):
        self._what, self._at_least, self._each, self._outlives = what, at_least, each, outlives
        self._lock = threading.Lock()
        self._value: T | None = None
        self._until = 0.0

    def current(self, read: Callable[[], T], asking: int = 1) -> T | None:
        """Never raises what a backend may raise, and is never waited for by two at once."""
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
