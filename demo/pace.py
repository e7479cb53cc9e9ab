"""Let a running portal work while the demo is made, and show how far it is.

SQLite has one writer, and who waits for it tries again every 100 ms at most. So transactions of the
demo are short, and after some of them it rests long enough for all who wait. It has no lower priority:
it would then keep the database locked while it waits for the processor.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TextIO

from django.db import connection, transaction

WORK = 0.2  # seconds of writing after which it rests
REST, SHARE = 0.12, 0.5  # seconds, at least, and of the time that it wrote
Action = Callable[[], None]
EVERY = 0.5  # seconds between two texts on a terminal
_written = 0.0  # seconds since the last rest


@contextmanager
def short_transaction() -> Iterator[None]:
    """Run one transaction, and rest when it is time."""
    begun = time.monotonic()
    with transaction.atomic():
        yield
    _rest(time.monotonic() - begun)


def paced(action: Action) -> None:
    """Run what has transactions of its own, and rest when it is time."""
    begun = time.monotonic()
    action()
    _rest(time.monotonic() - begun)


def _rest(seconds: float) -> None:
    global _written
    _written += seconds
    if connection.vendor == "sqlite" and _written > WORK and not connection.in_atomic_block:
        time.sleep(max(REST, _written * SHARE))
        _written = 0.0


class Progress:
    """Texts of what is done: one changing line on a terminal, else a line each."""

    def __init__(self, out: TextIO | None = None) -> None:
        self.out, self._shown_at = out or sys.stdout, 0.0
        self.is_terminal = self.out.isatty()

    def step(self, text: str) -> None:
        """Begin something."""
        self._write(f"\r\x1b[K{text}" if self.is_terminal else f"{text}\n")

    def detail(self, text: str) -> None:
        """Say how far the step is; only on a terminal, and not too often."""
        if self.is_terminal and time.monotonic() - self._shown_at > EVERY:
            self._shown_at = time.monotonic()
            self._write(f"\r\x1b[K{text}")

    def end(self, text: str) -> None:
        self._write(f"\r\x1b[K{text}\n" if self.is_terminal else f"{text}\n")

    def _write(self, text: str) -> None:
        self.out.write(text)
        self.out.flush()
