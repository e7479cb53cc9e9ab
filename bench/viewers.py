"""Measure 1,000 websockets on one topic with 20 messages per second, through a real server stack.

Messages pass through Redis and the live process; clients have their own process. Raw limit:
`websockets.broadcast` of the same messages to the same clients. Latency is from publishing to
receiving.
"""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import statistics
import sys
import time
from collections.abc import Callable
from multiprocessing.connection import Connection

from websockets.asyncio.client import connect
from websockets.asyncio.server import ServerConnection, broadcast, serve

from bench.table import Row, report
from portal.core.frames import Frame
from portal.core.redis_bus import RedisBus
from tests.rig.portal import Portal
from tests.rig.postgres import start_postgres
from tests.rig.processes import Folder, free_port
from tests.rig.redis import start_redis

CLIENTS, RATE, MESSAGES, RUNS = 1000, 20, 200, 3
Run = tuple[int, float, float]  # lost, p50 and p99 in milliseconds
ORG = (
    "from workspaces.models import Organization; "
    'print(Organization.objects.get(slug="home").id.hex)'
)


def main() -> int:
    folder = Folder()
    try:
        redis = start_redis(folder)
        portal = Portal(folder, start_postgres(folder).url, redis.url)
        portal.start()
        token, topic = (
            portal.token(),
            f"nodes:{portal.manage('shell', '-v', '0', '-c', ORG).splitlines()[-1]}",
        )
        bus, url = RedisBus(redis.url), f"ws://127.0.0.1:{portal.port}/ws/live"
        ours = [
            _clients(
                url,
                token,
                topic,
                lambda text: bus.publish(Frame(topic, text.encode(), 0, 0, False)),
            )
            for _ in range(RUNS)
        ]
        portal.stop()
    finally:
        folder.close()
    raw = [asyncio.run(_bare()) for _ in range(RUNS)]
    lost, p99 = max(one[0] for one in ours), statistics.median(one[2] for one in ours)
    report(
        [
            Row(
                f"{CLIENTS:,} viewers × {RATE} messages/s",
                _words(raw) + " by bare websockets",
                "–",
                _words(ours),
                "none lost, p99 ≤ 100 ms",
                not lost and p99 <= 100,
            )
        ]
    )
    return 0


def _words(runs: list[Run]) -> str:
    return (
        f"{max(r[0] for r in runs):,} lost, p50 {statistics.median(r[1] for r in runs):.0f} ms, "
        f"p99 {statistics.median(r[2] for r in runs):.0f} ms"
    )


def _clients(url: str, token: str, topic: str, report: Callable[[str], object]) -> Run:
    """Run 1,000 clients while `report` publishes the messages."""
    here, there = multiprocessing.Pipe()
    process = multiprocessing.get_context("spawn").Process(
        target=_watch, args=(there, url, token, topic), daemon=True
    )
    process.start()
    assert here.recv() == "ready"
    begun = time.time()
    for n in range(MESSAGES):
        time.sleep(max(begun + n / RATE - time.time(), 0))
        report(json.dumps({"t": time.time(), "values": {"loss": 0.42}}))
    found: Run = here.recv()
    process.join()
    return found


async def _bare() -> Run:
    sockets: set[ServerConnection] = set()

    async def hold(socket: ServerConnection) -> None:
        sockets.add(socket)
        await socket.wait_closed()

    async with serve(hold, "127.0.0.1", port := free_port(), compression=None):
        loop = asyncio.get_running_loop()

        def report(text: str) -> None:
            loop.call_soon_threadsafe(
                broadcast, sockets, json.dumps({"op": "event", "data": json.loads(text)})
            )

        return await asyncio.to_thread(_clients, f"ws://127.0.0.1:{port}", "", "", report)


def _watch(pipe: Connection, url: str, token: str, topic: str) -> None:
    pipe.send(asyncio.run(_all(pipe, url, token, topic)))


async def _all(pipe: Connection, url: str, token: str, topic: str) -> Run:
    seconds: list[float] = []
    ready = 0
    gate = asyncio.Semaphore(50)

    async def one() -> None:
        nonlocal ready
        async with gate:
            socket = await connect(
                url,
                additional_headers={"Authorization": f"Bearer {token}"} if token else {},
                compression=None,
                open_timeout=60,
            )
            if token:
                await socket.send(json.dumps({"op": "subscribe", "id": 1, "topic": topic}))
                while json.loads(await socket.recv())["op"] != "subscribed":
                    pass
        ready += 1
        got = 0
        try:
            async with asyncio.timeout(120):
                while got < MESSAGES:
                    message = json.loads(await socket.recv())
                    if message["op"] == "event" and "t" in message["data"]:
                        seconds.append(1000 * (time.time() - message["data"]["t"]))
                        got += 1
        except TimeoutError:
            pass
        await socket.close()

    tasks = [asyncio.create_task(one()) for _ in range(CLIENTS)]
    while ready < CLIENTS:
        await asyncio.sleep(0.1)
    pipe.send("ready")
    await asyncio.wait(tasks, timeout=130)
    seconds.sort()
    return (
        CLIENTS * MESSAGES - len(seconds),
        seconds[len(seconds) // 2],
        seconds[int(len(seconds) * 0.99)],
    )


if __name__ == "__main__":
    sys.exit(main())
