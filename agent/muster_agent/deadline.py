"""Deadlines for calls that may never return, such as on a dead NFS mount or a lost GPU."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class CallTimeout(Exception):
    """The call did not return; `seconds` is how long it has been running."""

    def __init__(self, what: str, seconds: float):
        super().__init__(f"{what} has not answered for {seconds:.0f} s")
        self.seconds = seconds


class Deadline(Generic[T]):
    """Run `work` in a separate thread, so that a hanging call affects nothing else.

    At most one call is in flight: while it hangs, no other is started, and a late result is
    discarded.
    """

    def __init__(self, what: str, work: Callable[[], T], seconds: float):
        self._what, self._work, self._seconds = what, work, seconds
        self._thread: threading.Thread | None = None
        self._began = 0.0
        self._answers: list[T | BaseException] = []

    def __call__(self) -> T:
        """Return the result of `work`. Raises its exception, or Stalled."""
        if self._thread is not None and self._thread.is_alive():
            raise CallTimeout(self._what, time.monotonic() - self._began)
        self._answers, self._began = [], time.monotonic()
        self._thread = threading.Thread(
            target=self._run, args=(self._answers,), name=f"agent-{self._what}", daemon=True
        )
        self._thread.start()
        self._thread.join(self._seconds)
        if not self._answers:
            raise CallTimeout(self._what, time.monotonic() - self._began)
        return self._answer()

    def _answer(self) -> T:
        answer = self._answers[0]
        if isinstance(answer, BaseException):
            raise answer
        return answer

    def _run(self, answers: list[T | BaseException]) -> None:
        try:
            answers.append(self._work())
        except BaseException as error:  # re-raised in the caller
            answers.append(error)
