"""Threads that a test leaves behind go on calling what the next test patches or counts."""

from __future__ import annotations

import threading
import time

PATIENCE = 5.0  # seconds for threads that are about to end
# Threads that live as long as the process and do nothing by themselves: pools of Muster, which wait
# for work, and connections of a double's HTTP server, which wait for the next request.
SHARED = ("WSGI_", "images_", "stage_", "streams-writer")
CONNECTION = "(process_request_thread)"


def end_loops(known: set[threading.Thread]) -> None:
    """Stop the loops that a backend of the test has started, such as its watches of a cluster."""
    for thread in threading.enumerate():
        if thread not in known:
            owner = getattr(getattr(thread, "_target", None), "__self__", None)
            getattr(owner, "stop", lambda: None)()


def left_behind(known: set[threading.Thread]) -> list[str]:
    """Return the names of threads that were started since, and do not end."""
    deadline = time.monotonic() + PATIENCE
    while found := [thread for thread in threading.enumerate() if _is_new(thread, known)]:
        if time.monotonic() > deadline:
            return sorted(f"{thread.name} ({_program(thread)})" for thread in found)
        time.sleep(0.01)
    return []


def _is_new(thread: threading.Thread, known: set[threading.Thread]) -> bool:
    is_shared = thread.name.startswith(SHARED) or thread.name.endswith(CONNECTION)
    return thread not in known and not is_shared


def _program(thread: threading.Thread) -> str:
    target = getattr(thread, "_target", None)
    return f"{getattr(target, '__module__', '?')}.{getattr(target, '__qualname__', '?')}"
