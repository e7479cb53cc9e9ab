"""Let a running portal work while the demo is made, and show how far it is.

SQLite has one writer, and who waits for it tries again every 100 ms at most. So transactions of the
demo are short, and after each it rests about as long as it wrote.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TextIO

from django.db import connection, transaction

SHARE = 1.0  # of the time of a transaction that is left to others
LEAST, MOST = 0.002, 0.5  # seconds
EVERY = 0.5  # seconds between two texts on a terminal
NICE = 5


def be_modest() -> None:
    """Give the portal priority, and do not wait for the disk at each commit."""
    os.nice(NICE)
    if connection.vendor == "sqlite":
        with connection.cursor() as cursor:
            cursor.execute("PRAGMA synchronous=NORMAL")


@contextmanager
def short_transaction() -> Iterator[None]:
    """Run one transaction, then rest."""
    begun = time.monotonic()
    with transaction.atomic():
        yield
    rest(time.monotonic() - begun)


def rest(seconds: float) -> None:
    """Leave the database to others after having written for so long."""
    if connection.vendor == "sqlite":
        time.sleep(min(max(seconds * SHARE, LEAST), MOST))


def paced(action: Callable[[], None]) -> None:
    """Run what has transactions of its own, then rest."""
    begun = time.monotonic()
    action()
    rest(time.monotonic() - begun)


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
