"""Threads that a test leaves behind go on calling what the next test patches or counts."""

from __future__ import annotations

import threading
import time

PATIENCE = 5.0  # seconds for threads that are about to end
# Threads that may outlive a test, by the beginning of their name: pools of Muster, which wait for
# work; the watches and dispatchers of a cluster, whose backend a module or the process shares.
SHARED = ("WSGI_", "images_", "stage_", "streams-writer", "watch ", "dispatch-")
# Of the double of Kubernetes, and connections of doubles, which wait for the next request.
OF_DOUBLES = ("tests.rig.kubernetes_", "socketserver.ThreadingMixIn.process_request_thread")


def left_behind(known: set[threading.Thread]) -> list[str]:
    """Return the names of threads that were started since, and do not end."""
    deadline = time.monotonic() + PATIENCE
    while found := [thread for thread in threading.enumerate() if _is_new(thread, known)]:
        if time.monotonic() > deadline:
            return sorted(f"{thread.name} ({_program(thread)})" for thread in found)
        time.sleep(0.01)
    return []


def _is_new(thread: threading.Thread, known: set[threading.Thread]) -> bool:
    is_shared = thread.name.startswith(SHARED) or _program(thread).startswith(OF_DOUBLES)
    return thread not in known and not is_shared


def _program(thread: threading.Thread) -> str:
    target = getattr(thread, "_target", None)
    return f"{getattr(target, '__module__', '?')}.{getattr(target, '__qualname__', '?')}"
