"""A job that writes more than the portal stores of one log, on the real local backend.

`python -m tests.storm.flood --gib 10` is the long form, also run by `make storm`. It checks that
the stored bytes are exactly the first ones, the rest is one gap with a reason, the certificate says
so, other logs are not delayed, and memory stays bounded.
"""

from __future__ import annotations

import argparse
import hashlib
import sys
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import psutil

from tests.rig.portal import Portal
from tests.rig.postgres import start_postgres
from tests.rig.processes import Folder, wait_until
from tests.rig.redis import start_redis
from tests.storm import written

LIMIT = 4 << 30
MOST_PSS = 400 << 20  # bytes; of the watcher (server) or the whole portal (embedded)
SIDE_SECONDS = 20.0  # seconds from submitting a small job meanwhile to its sealed log


@dataclass
class Outcome:
    """Result of a flood. `faults` is empty if the log is as it should be."""

    size: int
    limit: int
    wrote: float = 0.0
    closed: float = 0.0
    side: float = 0.0
    pss: int = 0
    certificate: dict[str, Any] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)

    def text(self) -> str:
        return (
            f"{self.size:,} bytes, limit {self.limit:,}: the job wrote for {self.wrote:.1f} s, "
            "its log was closed after "
            f"{self.closed:.1f} s, a small job beside it took at most {self.side:.1f} s, PSS at "
            f"most {self.pss >> 20} MiB; "
            f"certificate: {self.certificate.get('text')}; "
            f"{'; '.join(self.faults) or 'as it should be'}"
        )


class Flood:
    """One portal and one flood."""

    def __init__(self, folder: Folder, *, size: int, limit: int, is_server: bool) -> None:
        addresses = (
            (start_postgres(folder, durable=False).url, start_redis(folder).url)
            if is_server
            else ("", "")
        )
        self._portal = Portal(
            folder, *addresses, name="flood", settings={"MUSTER_LOG_LIMIT": str(limit)}
        )
        self._outcome = Outcome(size, limit)

    def run(self) -> Outcome:
        """Run the flood and return the result."""
        portal, outcome = self._portal, self._outcome
        portal.start()
        headers = {"Authorization": f"Bearer {portal.token()}"}
        with httpx.Client(
            base_url=f"{portal.url}/api/v1/orgs/home", headers=headers, timeout=60
        ) as self._client:
            done = threading.Event()
            siblings = [
                threading.Thread(target=work, args=(done,))
                for work in (self._measure, self._submit_beside)
            ]
            began = time.monotonic()
            number = self._submit(
                f"{sys.executable} - {outcome.size} "
                f"<<'END'\n{Path(written.__file__).read_text()}\nEND"
            )
            for thread in siblings:
                thread.start()
            try:
                wait_until(lambda: self._has_ended(number), "the flood ends", 3600, every=0.2)
                outcome.wrote = time.monotonic() - began
                wait_until(lambda: self._certificate(number), "its log is closed", 3600, every=0.2)
                outcome.closed = time.monotonic() - began
            finally:
                done.set()
                for thread in siblings:
                    thread.join()
            self._judge(number)
        portal.stop()
        return outcome

    def _submit(self, run: str) -> int:
        spec = {"run": run, "resources": {"cpus": 0.1, "memory": "64Mi"}}
        return int(
            self._client.post("/jobs", json={"team": "default", "spec": spec})
            .raise_for_status()
            .json()["number"]
        )

    def _has_ended(self, number: int) -> bool:
        return self._client.get(f"/jobs/{number}").raise_for_status().json()["state"] in {
            "succeeded",
            "failed",
            "canceled",
        }

    def _certificate(self, number: int) -> dict[str, Any] | None:
        found: dict[str, Any] | None = (
            self._client.get(f"/jobs/{number}/logs/certificate")
            .raise_for_status()
            .json()["certificate"]
        )
        return found

    def _measure(self, done: threading.Event) -> None:
        portal = self._portal
        assert portal.process is not None
        mover = psutil.Process(
            portal.part("watcher") if portal.database_url else portal.process.pid
        )
        while not done.wait(0.5):
            self._outcome.pss = max(self._outcome.pss, mover.memory_full_info().pss)

    def _submit_beside(self, done: threading.Event) -> None:
        """Submit small jobs one by one; return the longest time to a sealed log."""
        while not done.is_set():
            began = time.monotonic()
            number = self._submit("echo beside")
            try:
                wait_until(
                    lambda number=number: self._certificate(number),
                    "a log beside is closed",
                    300,
                    every=0.1,
                )  # type: ignore[misc]
            finally:
                self._outcome.side = max(self._outcome.side, time.monotonic() - began)
            done.wait(1)

    def _judge(self, number: int) -> None:
        outcome = self._outcome
        outcome.certificate = self._certificate(number) or {}
        kept = min(outcome.size, outcome.limit)
        wanted = hashlib.sha256()
        for block in written.blocks(kept):
            wanted.update(block)
        got, length = hashlib.sha256(), 0
        with self._client.stream("GET", f"/jobs/{number}/logs/download") as answer:
            count = int(answer.headers["Content-Length"])
            for piece in answer.iter_bytes():
                got.update(piece)
                length += len(piece)
        gaps = (
            [[kept, outcome.size, "the log's size limit was reached"]]
            if outcome.size > kept
            else []
        )
        for what, is_so in {
            f"state {self._client.get(f'/jobs/{number}').json()['state']}": self._client.get(
                f"/jobs/{number}"
            ).json()["state"]
            == "succeeded",
            f"{length:,} bytes came, {count:,} were told": length
            == count
            == kept
            == outcome.certificate.get("bytes"),
            "other bytes": got.digest() == wanted.digest()
            and outcome.certificate.get("sha256") == wanted.hexdigest(),
            f"gaps {outcome.certificate.get('gaps')}": outcome.certificate.get("gaps") == gaps,
            "complete and not": outcome.certificate.get("complete") is (not gaps),
            f"PSS {outcome.pss >> 20} MiB": 0 < outcome.pss < MOST_PSS,
            f"a job beside took {outcome.side:.1f} s": 0 < outcome.side < SIDE_SECONDS,
        }.items():
            if not is_so:
                outcome.faults.append(what)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.storm.flood", description=__doc__)
    parser.add_argument("--gib", type=float, default=10.0, help="GiB that the job writes")
    parser.add_argument("--limit-gib", type=float, default=LIMIT / 2**30)
    parser.add_argument("--embedded", action="store_true")
    options = parser.parse_args()
    folder = Folder()
    try:
        outcome = Flood(
            folder,
            size=int(options.gib * 2**30),
            limit=int(options.limit_gib * 2**30),
            is_server=not options.embedded,
        ).run()
        print(outcome.text(), flush=True)
    finally:
        folder.close()
    return int(bool(outcome.faults))


if __name__ == "__main__":
    sys.exit(main())
