"""Live curves: numbers sent to the portal while the job runs. Training never fails because of them."""

from __future__ import annotations

import json
import math
import os
import sys
import time
import urllib.error
import urllib.request
from typing import Any

QUIET_SECONDS = 5
MOST_WAITING = 1000  # the portal takes as many at once


class Metrics:
    """Sends points with the job's own token; outside of Muster (no MUSTER_URL) it does nothing, and says so."""

    def __init__(self) -> None:
        self.address = _address()
        index = os.environ.get("MUSTER_ARRAY_INDEX")
        self.suffix = (
            f"/{index}" if index else ""
        )  # the tasks of an array share one job: a curve for each
        self.waiting: list[dict[str, Any]] = []
        self.sent = 0
        self.warned = False
        self.next_try = 0.0

    def describe(self) -> str:
        return (
            f"live curves go to {self.address}"
            if self.address
            else "no MUSTER_URL: no live curves, only this log"
        )

    def report(self, step: int, **values: float) -> None:
        """Queues one point per value and sends what is queued, unless a failure was moments ago."""
        if self.address is None:
            return
        now = int(time.time() * 1000)
        for name, value in values.items():
            if math.isfinite(value):  # JSON has no word for the others
                self.waiting.append(
                    {"name": name + self.suffix, "value": value, "step": step, "at": now}
                )
        self.waiting = self.waiting[-MOST_WAITING:]
        if time.monotonic() >= self.next_try:
            self.send()

    def send(self) -> None:
        """Sends what is queued. A failure is one warning in the log; the points are kept for the next try."""
        if self.address is None or not self.waiting:
            return
        body = json.dumps({"points": self.waiting}).encode()
        headers = {
            "Content-Type": "application/json",
            "Authorization": f"Bearer {os.environ.get('MUSTER_TOKEN', '')}",
        }
        try:
            request = urllib.request.Request(self.address, body, headers)
            with urllib.request.urlopen(request, timeout=2):
                self.sent += len(self.waiting)
                self.waiting = []
        except (OSError, ValueError) as fault:
            self._warn(fault)

    def _warn(self, fault: Exception) -> None:
        self.next_try = time.monotonic() + QUIET_SECONDS
        if not self.warned:
            print(
                f"warning: live curves could not be sent ({fault}); training goes on",
                file=sys.stderr,
                flush=True,
            )
        self.warned = True


def _address() -> str | None:
    names = [os.environ.get(f"MUSTER_{name}", "") for name in ("URL", "ORG", "JOB_ID")]
    if not all(names):
        return None
    return "{}/api/v1/orgs/{}/jobs/{}/metrics".format(names[0].rstrip("/"), *names[1:])
