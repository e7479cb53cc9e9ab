"""The last lines of failed pods, read beside the poll: a burst of failures delays no other state."""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Callable, Mapping
from typing import Any

log = logging.getLogger(__name__)
READERS = 4
MOST = 1000  # kept until they are asked for again
Read = Callable[[Mapping[str, Any]], str]


class NotRead(Exception):
    """These lines are still being read: the end of the attempt is told by a later poll."""


class Tails:
    """Safe to use from any thread; its own are daemons and end when nothing is to be read."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._found: dict[str, str] = {}
        self._wanted: deque[tuple[Read, Mapping[str, Any]]] = deque()
        self._open: set[str] = set()
        self._readers = 0

    def of(self, read: Read, pod: Mapping[str, Any]) -> str:
        """The lines of a pod, once. Raises NotRead while they are not here yet."""
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
        """Until all that is wanted was read, or the time is over."""
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
