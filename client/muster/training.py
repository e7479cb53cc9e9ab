"""Report metrics from a training script inside a job: `muster.log(step=1, loss=0.42)`.

Reporting never stops or slows down the training: a background thread sends points in batches and
retries while the portal is unavailable. If memory for points runs out, the oldest are dropped with
one warning. Remaining points are sent at exit, within EXIT_WAIT seconds. Uses only the standard
library. Outside a job, `log` does nothing.
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

EVERY = 1.0  # seconds between batches
BATCH = 1000  # points per request, the maximum that the portal accepts
MOST_KEPT = 100_000  # points in memory; beyond that the oldest are dropped
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
    """Log metrics of this job: `log(step=1, loss=0.4)` or `log({"val/loss": 0.4}, step=1)`.

    Values are converted with `float()`, so one-element tensors work. NaN and infinities are
    skipped with a warning.
    """
    if all(os.environ.get(name) for name in _NEEDED):
        _reporter().add({**(values or {}), **named}, step)


class Reporter:
    """Buffer of points and the thread that sends them."""

    def __init__(self) -> None:
        env = os.environ
        api = f"{env['MUSTER_URL'].rstrip('/')}/api/v1"
        self.url = f"{api}/orgs/{env['MUSTER_ORG']}/jobs/{env['MUSTER_JOB_ID']}/metrics"
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
                self.warn(f"{name} is not a number: {error}")
                continue
            if not math.isfinite(number):
                self.warn(f"{name} is {number} at step {step}; such points are skipped")
                continue
            if len(self.points) == MOST_KEPT:
                self.warn("the buffer is full; the oldest points are dropped")
            self.points.append({"name": str(name), "value": number, "step": where, "at": at})
        if len(self.points) >= BATCH:
            self._due.set()

    def close(self) -> None:
        """Send the remaining points, for at most EXIT_WAIT seconds."""
        if os.getpid() != self.pid:
            return  # a forked child; the parent sends
        deadline = time.monotonic() + EXIT_WAIT
        while self.points and time.monotonic() < deadline:
            if not self.send(max(deadline - time.monotonic(), 0.1)):
                time.sleep(0.2)
        if self.points:
            self.warn(f"{len(self.points)} points could not be sent before exit")

    def send(self, timeout: float = 10) -> bool:
        """Send one batch; return True if it was accepted or permanently rejected."""
        with self._sending:
            batch = [self.points[at] for at in range(min(BATCH, len(self.points)))]
            if not batch or not self._is_settled(batch, timeout):
                return not batch
            for point in batch:
                if self.points and self.points[0] is point:  # not dropped in the meantime
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
                f"metrics were rejected: the portal answered {error.code}: "
                f"{error.read(300).decode(errors='replace')}"
            )
        except Exception as error:
            self.warn(f"metrics are delayed: {error}")
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
    """Return this process's reporter; a fork inherits neither the thread nor the points."""
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
