"""For training scripts inside a job: `muster.log(step=1, loss=0.42)` draws a live curve.

It never stops or slows the training: points are kept in memory and sent in batches by a thread of their own, tried again while
the portal is away, and dropped with one warning where that lasts. What is left is sent at exit, within EXIT_WAIT seconds.
Standard library only. Outside of a job it does nothing.
"""

from __future__ import annotations

import atexit
import json
import math
import os
import sys
import threading
import time
import urllib.error
import urllib.request
from collections import deque
from typing import Any, SupportsFloat

EVERY = 1.0  # seconds between two batches
BATCH = 1000  # points a request; the portal takes no more
MOST_KEPT = 100_000  # points; beyond it the oldest are dropped
EXIT_WAIT = 5.0  # seconds

_NEEDED = ("MUSTER_URL", "MUSTER_ORG", "MUSTER_JOB_ID", "MUSTER_TOKEN")
_AGAIN = {408, 425, 429, 500, 502, 503, 504}


def log(
    values: dict[str, SupportsFloat] | None = None,
    /,
    *,
    step: int | None = None,
    **named: SupportsFloat,
) -> None:
    """Points of this job's own curves: `log(step=1, loss=0.4)` or `log({"val/loss": 0.4}, step=1)`. Anything that `float()`
    takes will do (a tensor of one element too); NaN and infinities, which no curve can show, are left out with a warning."""
    if all(os.environ.get(name) for name in _NEEDED):
        _reporter().add({**(values or {}), **named}, step)


class Reporter:
    """Points on their way, and the thread that sends them."""

    def __init__(self) -> None:
        env = os.environ
        self.url = f"{env['MUSTER_URL'].rstrip('/')}/api/v1/orgs/{env['MUSTER_ORG']}/jobs/{env['MUSTER_JOB_ID']}/metrics"
        self.token, self.pid = env["MUSTER_TOKEN"], os.getpid()
        self.points: deque[dict[str, Any]] = deque(maxlen=MOST_KEPT)
        self.warned: set[str] = set()
        self._due, self._sending = threading.Event(), threading.Lock()
        self._thread = threading.Thread(target=self._run, name="muster-log", daemon=True)
        self._thread.start()
        atexit.register(self.close)

    def add(self, values: dict[str, SupportsFloat], step: int | None) -> None:
        at = int(time.time() * 1000)
        for name, value in values.items():
            try:
                number, where = float(value), None if step is None else int(step)
            except Exception as error:
                self.warn(f"{name} is no number: {error}")
                continue
            if not math.isfinite(number):
                self.warn(f"{name} is {number} at step {step}; such points are left out")
                continue
            if len(self.points) == MOST_KEPT:
                self.warn("too many points are waiting; the oldest are dropped")
            self.points.append({"name": str(name), "value": number, "step": where, "at": at})
        if len(self.points) >= BATCH:
            self._due.set()

    def close(self) -> None:
        """Send what is left, for at most EXIT_WAIT seconds."""
        if os.getpid() != self.pid:
            return  # a forked child: its parent sends
        deadline = time.monotonic() + EXIT_WAIT
        while self.points and time.monotonic() < deadline:
            if not self.send(max(deadline - time.monotonic(), 0.1)):
                time.sleep(0.2)
        if self.points:
            self.warn(f"{len(self.points)} points could not be sent before the end")

    def send(self, timeout: float = 10) -> bool:
        """One batch; True when it is off our hands: taken, or refused for good."""
        with self._sending:
            batch = [self.points[at] for at in range(min(BATCH, len(self.points)))]
            if not batch or not self._is_settled(batch, timeout):
                return not batch
            for point in batch:
                if self.points and self.points[0] is point:  # not dropped meanwhile
                    self.points.popleft()
            return True

    def _is_settled(self, batch: list[dict[str, Any]], timeout: float) -> bool:
        request = urllib.request.Request(
            self.url,
            json.dumps({"points": batch}).encode(),
            method="POST",
            headers={"Content-Type": "application/json", "Authorization": f"Bearer {self.token}"},
        )
        try:
            urllib.request.urlopen(request, timeout=timeout).close()
        except urllib.error.HTTPError as error:
            if error.code in _AGAIN:
                return False
            self.warn(
                f"curves are not reported: the portal answered {error.code}: {error.read(300).decode(errors='replace')}"
            )
        except Exception as error:
            self.warn(f"curves are late: {error}")
            return False
        return True

    def _run(self) -> None:
        wait = EVERY
        while True:
            self._due.wait(wait)
            self._due.clear()
            wait = EVERY if self.send() else min(wait * 2, 30)

    def warn(self, why: str) -> None:
        kind = why.split(":", 1)[0].split(" is ", 1)[0]
        if kind not in self.warned:
            self.warned.add(kind)
            print(f"muster: {why}", file=sys.stderr)


_lock = threading.Lock()
_current: Reporter | None = None


def _reporter() -> Reporter:
    """This process's own: a fork inherits neither the thread nor the points."""
    global _current
    with _lock:
        if _current is None or _current.pid != os.getpid():
            _current = Reporter()
        return _current


def _forget_lock() -> None:
    global _lock
    _lock = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_lock)
