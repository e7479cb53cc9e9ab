"""Measure a fleet of 2,000 nodes × 8 GPUs: telemetry at 1 Hz into the store, and its pages.

Peer: Prometheus stores about 1.3 bytes per sample of such metrics (its own documentation says 1 to
2), and takes them in with about a tenth of a core; it is started only by tests. Raw limit: inserting
the same compressed rows without Django.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
import os
import random
import subprocess
import sys
import threading
import time
from typing import Any

import httpx
import psutil

from bench.setting import begin, browser, make_nodes
from bench.table import Row, report
from bench.wall import _p95
from tests.rig.environment import ROOT
from tests.rig.portal import EMAIL
from tests.rig.processes import Folder

NODES, GPUS = 2_000, 8
SECONDS = 10  # of measurements in one batch; set by --batch
ROUNDS, SENDERS = 3, 8
PAGES = ("/platform/capacity", "/home/capacity", "/home/nodes", "/home/gpus", "/home/fleet")
API = ("/api/v1/orgs/home/wall",)
RATE = NODES * GPUS * 12  # values per second


def fields(rng: random.Random, second: int) -> list[tuple[str, str, float]]:
    """Return twelve fields of one busy GPU as sensors round them."""
    return [
        ("gpu.utilization", "ratio", round(min(rng.gauss(0.93, 0.03), 1), 2)),
        ("gpu.memory.used", "bytes", float((61_000 + second // 60) << 20)),
        ("gpu.power", "W", round(rng.gauss(600, 8), 3)),
        ("gpu.temperature", "degC", float(round(rng.gauss(60, 0.7)))),
        ("gpu.clock.sm", "Hz", (1980 - 15 * rng.choice((0, 0, 0, 1))) * 1e6),
        ("gpu.clock.memory", "Hz", 2619e6),
        ("gpu.sm.active", "ratio", rng.gauss(0.8, 0.03)),
        ("gpu.tensor.active", "ratio", rng.gauss(0.4, 0.03)),
        ("gpu.memory.bandwidth", "ratio", rng.gauss(0.35, 0.02)),
        ("gpu.pcie.sent", "bytes/s", rng.gauss(2e9, 2e8)),
        ("gpu.nvlink.sent", "bytes/s", rng.gauss(3.8e10, 3e9)),
        ("gpu.throttled", "ratio", 0.0),
    ]


def batch(node: str, start_ms: int, seconds: int, rng: random.Random) -> dict[str, Any]:
    """Return a batch as an agent with --interval 1 --batch sends it."""
    times = [start_ms + n * 1000 + rng.randint(-3, 3) for n in range(seconds)]
    columns = []
    for gpu in range(GPUS):
        rows = [fields(rng, n) for n in range(seconds)]
        columns += [
            [name, {"gpu": str(gpu)}, unit, [row[place][2] for row in rows]]
            for place, (name, unit, _) in enumerate(rows[0])
        ]
    return {"node": node, "at": times[-1], "times": times, "columns": columns, "facts": {}}


def main() -> int:
    global SECONDS
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodes", type=int, default=NODES)
    parser.add_argument("--batch", type=int, default=SECONDS, help="seconds of measurements in one")
    asked = parser.parse_args()
    nodes, SECONDS = asked.nodes, asked.batch
    folder = Folder()
    try:
        begin(folder)
        names = _fill(nodes)
        per_value, size = _compaction(names[:4])
        with browser(folder) as client:
            token = _token()
            cores, seconds = _ingest(folder, client, token, names)
            back = _reconnect(client, token, names)
            pages = {path: _p95(lambda path=path: _get(client, path)) for path in (*PAGES, *API)}  # type: ignore[misc]
    finally:
        folder.close()
    share = nodes / NODES
    ingest, compaction = cores / share, per_value * RATE
    slowest = max(pages, key=lambda path: pages[path])
    load = f"load {os.getloadavg()[0]:.1f}"
    report(
        [
            Row(
                f"telemetry of {NODES:,} nodes × {GPUS} GPUs × 12 fields at 1 Hz",
                "–",
                "–",
                f"{ingest + compaction:.2f} cores ({ingest:.2f} taking in, "
                f"{compaction:.2f} compaction)",
                "≤ 1 core",
                ingest + compaction <= 1,
                f"portal, PostgreSQL and Redis; {nodes} nodes in {seconds:.0f} s a round; {load}",
            ),
            Row(
                "bytes per value after compaction",
                "8 (float)",
                "1–2: Prometheus, by its documentation",
                f"{size:.2f}",
                "≤ 3",
                size <= 3,
                "times, values and coarse rows",
            ),
            Row(
                f"{nodes:,} agents that reconnect in the same second",
                "–",
                "–",
                f"all batches stored after {back['seconds']:.0f} s, {back['tries']} tries; a page "
                f"meanwhile: at most {back['page']:.1f} s",
                "the portal goes on",
                back["lost"] == 0 and back["page"] < 10,
                f"each with its own connection; {load}",
            ),
            Row(
                f"pages of {nodes:,} nodes × {GPUS} GPUs",
                "–",
                "–",
                f"p95 {pages[slowest]:.0f} ms, the slowest: {slowest}",
                "p95 ≤ 200 ms",
                pages[slowest] <= 200,
                ", ".join(f"{path} {ms:.0f}" for path, ms in pages.items()) + f"; {load}",
            ),
        ]
    )
    return 0


def _fill(nodes: int) -> list[str]:
    from django.db import connection

    from clusters.models import Cluster, Device, Pool

    cluster = Cluster.objects.create(name="big", backend="large")
    gpus = make_nodes(cluster, nodes, GPUS)
    names = ("node", "index", "uuid", "model", "type", "memory")
    Device.objects.bulk_create(
        (Device(**{name: getattr(gpu, name) for name in names}) for gpu in gpus), batch_size=2000
    )
    for fabric in ("ib", "eth"):
        Pool.objects.create(name=fabric, cluster=cluster, labels={"fabric": fabric}, is_open=True)
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")
    return [gpu.node.name for gpu in gpus[::GPUS]]


def _token() -> str:
    """Return a token that is sealed with the key of the portal, not with that of this process."""
    command = [sys.executable, str(ROOT / "manage.py"), "create_token", EMAIL]
    environment = {name: v for name, v in os.environ.items() if name != "MUSTER_SECRET_KEY"}
    done = subprocess.run(
        [*command, "--org", "home", "--scopes", "all"],
        env=environment,
        check=True,
        capture_output=True,
        text=True,
    )
    return done.stdout.strip()


def _ingest(
    folder: Folder, client: httpx.Client, token: str, names: list[str]
) -> tuple[float, float]:
    """Send rounds of ten seconds from every node; return cores at 1 Hz, and seconds a round."""
    rng, start = random.Random(1), int(time.time() * 1000) - (ROUNDS + 1) * SECONDS * 1000
    some = [batch("", 0, SECONDS, rng) for _ in range(16)]
    bodies = [
        [
            _moved(some[number % 16], name, start + turn * SECONDS * 1000)
            for number, name in enumerate(names)
        ]
        for turn in range(ROUNDS + 1)
    ]
    _send(client, token, bodies[0])  # creates the series
    before, began = _cpu(), time.perf_counter()
    for turn in bodies[1:]:
        _send(client, token, turn)
    elapsed = time.perf_counter() - began
    return (_cpu() - before) / (ROUNDS * SECONDS), elapsed / ROUNDS


def _moved(body: dict[str, Any], name: str, start: int) -> bytes:
    times = [start + n * 1000 for n in range(SECONDS)]
    return json.dumps(body | {"node": name, "at": times[-1], "times": times}).encode()


def _send(client: httpx.Client, token: str, bodies: list[bytes]) -> None:
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    failed: list[str] = []

    def work(part: list[bytes]) -> None:
        with httpx.Client(base_url=client.base_url, timeout=60, headers=headers) as sender:
            for body in part:
                answer = sender.post("/api/v1/agent/samples", content=body)
                if answer.status_code != 200:
                    failed.append(answer.text[:200])

    threads = [
        threading.Thread(target=work, args=(bodies[place::SENDERS],)) for place in range(SENDERS)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed, failed[0]


def _reconnect(client: httpx.Client, token: str, names: list[str]) -> dict[str, float]:
    """Let every agent connect at once, with the pauses of `muster_agent.sender`, and send one batch.

    Returns seconds until all are stored, tries, batches lost, and the slowest page meanwhile.
    """
    rng, start = random.Random(3), int(time.time() * 1000) - SECONDS * 1000
    body = batch("", 0, SECONDS, rng)
    bodies = [_moved(body, name, start) for name in names]
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    tries = lost = 0

    async def agent(data: bytes) -> None:
        nonlocal tries, lost
        async with httpx.AsyncClient(
            base_url=client.base_url, timeout=10, headers=headers, verify=False
        ) as own:
            wait = 1.0
            for _ in range(20):
                tries += 1
                try:
                    answer = await own.post("/api/v1/agent/samples", content=data)
                    if answer.status_code < 500 and answer.status_code != 429:
                        lost += answer.status_code != 200
                        return
                except httpx.HTTPError:
                    pass
                await asyncio.sleep(wait * rng.uniform(0.5, 1.0))
                wait = min(2 * wait, 60.0)
            lost += 1

    slowest, stop = [0.0], threading.Event()

    def watch() -> None:
        while not stop.is_set():
            began = time.perf_counter()
            _get(client, "/platform/capacity")
            slowest.append(time.perf_counter() - began)

    async def all_agents() -> None:
        await asyncio.gather(*map(agent, bodies))

    watcher = threading.Thread(target=watch)
    watcher.start()
    began = time.perf_counter()
    asyncio.run(all_agents())
    seconds = time.perf_counter() - began
    stop.set()
    watcher.join()
    return {"seconds": seconds, "tries": tries, "lost": lost, "page": max(slowest)}


def _cpu() -> float:
    """Return the CPU seconds of all child processes: portal, PostgreSQL and Redis."""
    total = 0.0
    for process in psutil.Process().children(recursive=True):
        try:
            times = process.cpu_times()
        except psutil.NoSuchProcess:
            continue
        total += times.user + times.system + times.children_user + times.children_system
    return total


def _compaction(names: list[str]) -> tuple[float, float]:
    """Return CPU seconds of compaction per value, and bytes per value, of an hour of four nodes."""
    from django.db import connection
    from django.db.models import Sum
    from django.db.models.functions import Length

    from monitoring.metrics.ingest import ingest
    from portal import series
    from portal.process.parts import collect_seldom
    from portal.series.models import Batch, Chunk

    rng, start = random.Random(2), int(time.time() * 1000) - 4200 * 1000
    for name in names:
        for turn in range(-(-4_100 // SECONDS)):
            ingest(batch(name, start + turn * SECONDS * 1000, SECONDS, rng))
    gc.freeze()
    collect_seldom()  # as a worker of the portal
    before = time.process_time() + _cpu()
    while Batch.objects.exists():
        assert series.compact_batches()
    seconds = time.process_time() + _cpu() - before
    sizes = Chunk.objects.aggregate(
        n=Sum("count"), data=Sum(Length("data")), coarse=Sum(Length("coarse"))
    )
    with connection.cursor() as cursor:
        cursor.execute("SELECT sum(pg_column_size(c.*)) FROM series_chunk c")
        stored = cursor.fetchone()[0]
    return seconds / sizes["n"], float(stored) / sizes["n"]


def _get(client: httpx.Client, path: str) -> None:
    answer = client.get(path)
    assert answer.status_code == 200, answer.content[:300]


if __name__ == "__main__":
    sys.exit(main())
