"""Read the last log lines of failed pods in the background.

A burst of failures must not delay other states.
"""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Callable, Mapping
from typing import Any

log = logging.getLogger(__name__)
READERS = 4
MOST = 1000  # kept until requested again
Read = Callable[[Mapping[str, Any]], str]


class NotRead(Exception):
    """The lines are still being read; a later poll reports the end of the attempt."""


class LogTailReader:
    """A thread-safe reader of log tails. Its daemon threads end when there is nothing to read."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._found: dict[str, str] = {}
        self._wanted: deque[tuple[Read, Mapping[str, Any]]] = deque()
        self._open: set[str] = set()
        self._readers = 0

    def of(self, read: Read, pod: Mapping[str, Any]) -> str:
        """Return the lines of a pod, once. Raises NotRead until they are available."""
        uid = pod["metadata"]["uid"]
        with self._changed:
            if uid in self._found:
                return self._found.pop(uid)
            if uid not in self._open:
                self._open.add(uid)
                self._wanted.append((read, pod))
                if self._readers < READERS:
                    self._readers += 1
                    threading.Thread(target=self._work, name="read-tail", daemon=True).start()
        raise NotRead

    def wait(self, seconds: float) -> None:
        """Wait until all requested lines are read, or for the timeout in seconds."""
        with self._changed:
            self._changed.wait_for(lambda: not self._open, seconds)

    def _work(self) -> None:
        while True:
            with self._changed:
                if not self._wanted:
                    self._readers -= 1
                    return
                read, pod = self._wanted.popleft()
            text = _read(read, pod)
            with self._changed:
                if len(self._found) >= MOST:
                    self._found.clear()
                self._found[pod["metadata"]["uid"]] = text
                self._open.discard(pod["metadata"]["uid"])
                self._changed.notify_all()


def _read(read: Read, pod: Mapping[str, Any]) -> str:
    try:
        return read(pod)
    except Exception:
        log.exception("the last lines of a pod cannot be read")
        return ""
