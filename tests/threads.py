"""Threads that a test leaves behind go on calling what the next test patches or counts."""

from __future__ import annotations

import threading
import time

PATIENCE = 5.0  # seconds for threads that are about to end
# Whose threads count: the SDK and the node agent, which go on polling. Not yet: the portal's watches,
# buses and pools, and the servers of doubles.
CHECKED = ("muster.", "muster_agent.")


def left_behind(known: set[threading.Thread]) -> list[str]:
    """Return the names of threads that were started since, and do not end."""
    deadline = time.monotonic() + PATIENCE
    while found := [thread for thread in threading.enumerate() if _is_new(thread, known)]:
        if time.monotonic() > deadline:
            return sorted(f"{thread.name} ({_program(thread)})" for thread in found)
        time.sleep(0.01)
    return []


def _is_new(thread: threading.Thread, known: set[threading.Thread]) -> bool:
    return thread not in known and _program(thread).startswith(CHECKED)


def _program(thread: threading.Thread) -> str:
    target = getattr(thread, "_target", None)
    return f"{getattr(target, '__module__', '?')}.{getattr(target, '__qualname__', '?')}"
