"""Delay Ctrl-C during a critical section, such as writing bytes and recording the offset."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any


class Interrupts:
    """Raise KeyboardInterrupt on Ctrl-C, but inside `held()` only at its end. Main thread only."""

    def __init__(self) -> None:
        self._is_held = self._is_due = False
        self._before: Any = None

    def __enter__(self) -> Interrupts:
        self._before = signal.signal(signal.SIGINT, self._arrived)
        return self

    def __exit__(self, *_: object) -> None:
        signal.signal(signal.SIGINT, self._before)

    @contextmanager
    def held(self) -> Iterator[None]:
        self._is_held = True
        try:
            yield
        finally:
            self._is_held = False
            if self._is_due:
                self._is_due = False
                raise KeyboardInterrupt

    def _arrived(self, number: int, frame: FrameType | None) -> None:
        if self._is_held:
            self._is_due = True
        else:
            raise KeyboardInterrupt
