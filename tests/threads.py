"""Threads that a test leaves behind go on calling what the next test patches or counts."""

from __future__ import annotations

import threading
import time

PATIENCE = 5.0  # seconds for threads that are about to end
# Threads that live as long as the process, by the beginning of their name: pools of libraries and
# of Django's test server, which serve all tests.
SHARED: tuple[str, ...] = ()


def left_behind(known: set[threading.Thread]) -> list[str]:
    """Return the names of threads that were started since, and do not end."""
    deadline = time.monotonic() + PATIENCE
    while found := [thread for thread in threading.enumerate() if _is_new(thread, known)]:
        if time.monotonic() > deadline:
            return sorted(f"{thread.name} ({_program(thread)})" for thread in found)
        time.sleep(0.01)
    return []


def _is_new(thread: threading.Thread, known: set[threading.Thread]) -> bool:
    return thread not in known and not thread.name.startswith(SHARED)


def _program(thread: threading.Thread) -> str:
    target = getattr(thread, "_target", None)
    return f"{getattr(target, '__module__', '?')}.{getattr(target, '__qualname__', '?')}"
