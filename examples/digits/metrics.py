"""Live metrics of the job. Training never fails because of them."""

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
MOST_WAITING = 1000  # maximum per request


class Metrics:
    """Send points with the job's token; without MUSTER_URL, print a note and do nothing."""

    def __init__(self) -> None:
        self.address = _address()
        index = os.environ.get("MUSTER_ARRAY_INDEX")
        self.suffix = (
            f"/{index}" if index else ""
        )  # tasks of an array share one job: one curve each
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
        """Queue one point per value, and send the queue unless a request failed recently."""
        if self.address is None:
            return
        now = int(time.time() * 1000)
        for name, value in values.items():
            if math.isfinite(value):  # JSON cannot represent NaN and infinities
                self.waiting.append(
                    {"name": name + self.suffix, "value": value, "step": step, "at": now}
                )
        self.waiting = self.waiting[-MOST_WAITING:]
        if time.monotonic() >= self.next_try:
            self.send()

    def send(self) -> None:
        """Send the queue. A failure is logged once; points are kept for the next attempt."""
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
