"""Measure the latency of log lines from the job's write to a websocket.

Five jobs write 50,000 lines per second, which pass through output file, watcher, log store, Redis
and live process, as for a page. Raw limit: a reader polls the same files every millisecond. The ages
of the lines in a frame are interpolated between those of its first and its last line.
"""

from __future__ import annotations

import asyncio
import json
import statistics
import struct
import sys
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

import httpx
from websockets.asyncio.client import ClientConnection, connect

from bench.table import Row, report
from tests.rig.portal import Portal
from tests.rig.postgres import start_postgres
from tests.rig.processes import Folder, wait_until
from tests.rig.redis import start_redis

JOBS, RATE, SECONDS, RUNS = 5, 10_000, 12, 3  # jobs, lines per second of each, seconds of writing
HEAD = struct.Struct("<IIQQ")  # frame header of monitoring/live/subscription.py
WRITER = f"""
import os, time
begun, n = time.time(), 0
while n < {RATE * SECONDS}:
    due = min(int((time.time() - begun) * {RATE}), {RATE * SECONDS})
    if due > n:
        at = b" %d some text as a training prints it\\n" % time.time_ns()
        os.write(1, b"".join(b"%d" % i + at for i in range(n, due)))
        n = due
    time.sleep(0.01)
"""


@dataclass
class Log:
    """The part of a log that one viewer received. `ages` are (milliseconds, lines)."""

    data: bytearray = field(default_factory=bytearray)
    ages: list[tuple[float, int]] = field(default_factory=list)
    gaps: int = 0
    is_over: bool = False

    def take(self, offset: int, data: bytes) -> None:
        at = time.time_ns()
        self.gaps += offset != len(self.data)
        begun = self.data.rfind(b"\n") + 1
        self.data += data
        lines = bytes(self.data[begun:]).split(b"\n")[:-1]
        if lines:
            self.ages += _spread(at, lines)


def _spread(at: int, lines: list[bytes]) -> Iterable[tuple[float, int]]:
    first, last = ((at - int(line.split(b" ", 2)[1])) / 1e6 for line in (lines[0], lines[-1]))
    parts = min(len(lines), 20)
    for n in range(parts):
        yield (
            first + (last - first) * n / max(parts - 1, 1),
            len(lines) // parts + (n < len(lines) % parts),
        )


def main() -> int:
    folder = Folder()
    try:
        portal = Portal(folder, start_postgres(folder).url, start_redis(folder).url)
        portal.start()
        token = portal.token()
        runs = [asyncio.run(_run(portal, token)) for _ in range(RUNS)]
        portal.stop()
        raw = [_raw(folder.path / f"raw{n}") for n in range(RUNS)]
    finally:
        folder.close()
    gaps, (p50, p99) = sum(run[2] for run in runs), _middle(runs)
    report(
        [
            Row(
                f"a line written by a job → at a websocket, {JOBS * RATE:,} lines/s from {JOBS} "
                "jobs",
                "p50 {:.0f} ms, p99 {:.0f} ms by reading the files".format(*_middle(raw)),
                "–",
                f"p50 {p50:.0f} ms, p99 {p99:.0f} ms, {gaps} gaps, every byte as written",
                "p50 ≤ 150 ms, p99 ≤ 500 ms, no gap",
                p50 <= 150 and p99 <= 500 and not gaps,
            )
        ]
    )
    return 0


def _middle(runs: Iterable[tuple[float, ...]]) -> tuple[float, float]:
    found = list(runs)
    return statistics.median(r[0] for r in found), statistics.median(r[1] for r in found)


async def _run(portal: Portal, token: str) -> tuple[float, float, int]:
    head = {"Authorization": f"Bearer {token}"}
    async with httpx.AsyncClient(
        base_url=f"{portal.url}/api/v1/orgs/home", headers=head, timeout=30
    ) as api:
        logs: dict[int, Log] = {}
        async with connect(
            f"ws://127.0.0.1:{portal.port}/ws/live",
            additional_headers=head,
            compression=None,
            max_size=None,
        ) as socket:
            attempts = [await _watched(api, socket, number, logs) for number in range(1, JOBS + 1)]
            await asyncio.wait_for(_listen(socket, logs), SECONDS * 4)
    for number, attempt in enumerate(attempts, 1):
        written = (portal.home / "jobs" / f"muster-{attempt}" / "output.log").read_bytes()
        assert written == logs[number].data, "what arrived is not what was written"
    return *_percentiles([age for log in logs.values() for age in log.ages]), sum(
        log.gaps for log in logs.values()
    )


async def _watched(
    api: httpx.AsyncClient, socket: ClientConnection, number: int, logs: dict[int, Log]
) -> str:
    """Submit one job, subscribe to its log and return the attempt's id in hex."""
    spec = {
        "name": "lines",
        "run": f"exec {sys.executable} -c '{WRITER}'",
        "resources": {"cpus": 0.1},
    }
    job = (
        (await api.post("/jobs", json={"team": "default", "spec": spec})).raise_for_status().json()
    )
    attempts = (await api.get(f"/jobs/{job['number']}/attempts")).raise_for_status().json()["items"]
    attempt = str(attempts[0]["id"]).replace("-", "")
    logs[number] = Log()
    await socket.send(
        json.dumps({"op": "subscribe", "id": number, "topic": f"log:{attempt}", "after": 0})
    )
    return attempt


async def _listen(socket: ClientConnection, logs: dict[int, Log]) -> None:
    while not all(log.is_over for log in logs.values()):
        message = await socket.recv()
        if isinstance(message, bytes):
            number, _, offset, _ = HEAD.unpack_from(message)
            logs[number].take(offset, message[HEAD.size :])
        elif (data := json.loads(message))["op"] == "end":
            logs[data["id"]].is_over = True
        elif data["op"] in {"gap", "error"}:
            raise AssertionError(data)


def _percentiles(ages: list[tuple[float, int]]) -> tuple[float, float]:
    ages.sort()
    total, found, seen = sum(count for _, count in ages), [], 0
    wanted = [total * 0.5, total * 0.99]
    for age, count in ages:
        seen += count
        while wanted and seen >= wanted[0]:
            found.append(age)
            wanted.pop(0)
    return found[0], found[1]


def _raw(path: Path) -> tuple[float, float]:
    """Write the same lines to files, with one reader that polls every millisecond."""
    folder = Folder()
    try:
        files = [path.with_suffix(f".{n}") for n in range(JOBS)]
        for n, file in enumerate(files):
            file.touch()
            folder.start(
                f"writer{n}", ["sh", "-c", f"exec {sys.executable} -c '{WRITER}' > {file}"]
            )
        logs, handles = [Log() for _ in files], [file.open("rb") for file in files]
        whole = RATE * SECONDS

        def look() -> bool:
            for log, handle in zip(logs, handles, strict=True):
                if data := handle.read():
                    log.take(len(log.data), data)
            return (
                all(log.data.count(b"\n") >= whole for log in logs)
                if time.time() - begun > SECONDS
                else False
            )

        begun = time.time()
        wait_until(look, "all lines are read", SECONDS * 3, every=0.001)
    finally:
        folder.close()
    return _percentiles([age for log in logs for age in log.ages])


if __name__ == "__main__":
    sys.exit(main())
