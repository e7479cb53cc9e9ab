"""Calls into the kernel or a driver that may never return: a dead NFS mount, a GPU fallen off the bus."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class Stalled(Exception):
    """The call has not returned. `seconds` says for how long it has been waited for."""

    def __init__(self, what: str, seconds: float):
        super().__init__(f"{what} has not answered for {seconds:.0f} s")
        self.seconds = seconds


class Deadline(Generic[T]):
    """Runs `work` in a thread of its own, so that a call that hangs costs its own numbers and nothing else.

    At most one call is in flight: while one hangs no other is started, and what it says too late is dropped.
    """

    def __init__(self, what: str, work: Callable[[], T], seconds: float):
        self._what, self._work, self._seconds = what, work, seconds
        self._thread: threading.Thread | None = None
        self._began = 0.0
        self._answers: list[T | BaseException] = []

    def __call__(self) -> T:
        """The result of `work`. Raises what it raised, or Stalled."""
        if self._thread is not None and self._thread.is_alive():
            raise Stalled(self._what, time.monotonic() - self._began)
        self._answers, self._began = [], time.monotonic()
        self._thread = threading.Thread(
            target=self._run, args=(self._answers,), name=f"agent-{self._what}", daemon=True
        )
        self._thread.start()
        self._thread.join(self._seconds)
        if not self._answers:
            raise Stalled(self._what, time.monotonic() - self._began)
        return self._answer()

    def _answer(self) -> T:
        answer = self._answers[0]
        if isinstance(answer, BaseException):
            raise answer
        return answer

    def _run(self, answers: list[T | BaseException]) -> None:
        try:
            answers.append(self._work())
        except BaseException as error:  # handed to the caller, who decides
            answers.append(error)
