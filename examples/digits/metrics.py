"""Parameters, live metrics and files of the job's run. Training never fails because of them."""

from __future__ import annotations

import json
import math
import os
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

QUIET_SECONDS = 5
MOST_WAITING = 1000  # maximum per request


class Metrics:
    """Send points with the job's token; without MUSTER_URL, print a note and do nothing."""

    def __init__(self) -> None:
        self.address, self.run = _address("jobs", "JOB_ID", "/metrics"), _address("runs", "RUN_ID")
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
        if self._request(self.address, json.dumps({"points": self.waiting}).encode()):
            self.sent += len(self.waiting)
            self.waiting = []

    def parameters(self, **values: object) -> None:
        """Log the parameters of the job's run."""
        if self.run:
            named = {name: str(value) for name, value in values.items()}
            self._request(f"{self.run}/log", json.dumps({"params": named}).encode())

    def keep(self, file: Path) -> bool:
        """Store a file with the job's run."""
        return self.run is not None and self._request(
            f"{self.run}/artifacts/{file.name}", file.read_bytes(), "PUT"
        )

    def _request(self, address: str, body: bytes, method: str = "POST") -> bool:
        headers = {
            "Content-Type": "application/json" if method == "POST" else "application/octet-stream",
            "Authorization": f"Bearer {os.environ.get('MUSTER_TOKEN', '')}",
        }
        try:
            request = urllib.request.Request(address, body, headers, method=method)
            with urllib.request.urlopen(request, timeout=2):
                return True
        except (OSError, ValueError) as fault:
            self._warn(fault)
            return False

    def _warn(self, fault: Exception) -> None:
        self.next_try = time.monotonic() + QUIET_SECONDS
        if not self.warned:
            print(
                f"warning: the portal did not take data ({fault}); training goes on",
                file=sys.stderr,
                flush=True,
            )
        self.warned = True


def _address(kind: str, identifier: str, route: str = "") -> str | None:
    names = [os.environ.get(f"MUSTER_{name}", "") for name in ("URL", "ORG", identifier)]
    if not all(names):
        return None
    return "{}/api/v1/orgs/{}/{}/{}{}".format(names[0].rstrip("/"), names[1], kind, names[2], route)
