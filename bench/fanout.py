"""Measure live fan-out over Redis from one publisher to many viewers, compared with Channels.

A message is delivered once the viewer's task has received it. Our losses include messages dropped
on overflow, which a log viewer would read from the store; the peer's are those never received.
"""

from __future__ import annotations

import asyncio
import os
import statistics
import sys
import time

from bench.setting import begin
from bench.table import Row, report
from tests.rig.processes import Folder

WATCHERS, MESSAGES, RUNS = 200, 2000, 3
BODY = b'{"t": 1795217952200, "values": {"loss": 0.42}}'
QUIET = 2.0  # seconds without a delivery after which the rest counts as lost


def main() -> int:
    folder = Folder()
    try:
        begin(folder)
        ours = [asyncio.run(_ours(f"bench{n}")) for n in range(RUNS)]
        peer = [asyncio.run(_channels(f"bench{n}")) for n in range(RUNS)]
        raw = statistics.median(asyncio.run(_raw()) for _ in range(RUNS))
    finally:
        folder.close()
    rate, theirs = statistics.median(r for r, _ in ours), statistics.median(r for r, _ in peer)
    lost, their_loss = max(x for _, x in ours), max(x for _, x in peer)
    report(
        [
            Row(
                f"live fan-out, {WATCHERS} watchers in one process",
                f"{raw:,.0f} deliveries/s by bare asyncio queues",
                f"Channels pub/sub layer: {theirs:,.0f}/s, {their_loss:.0%} lost",
                f"{rate:,.0f}/s, {lost:.0%} lost: {rate / theirs:.1f} × Channels",
                "≥ 5 × Channels",
                rate >= 5 * theirs,
            )
        ]
    )
    return 0


class Count:
    """Number of deliveries, and the time of the last one."""

    def __init__(self) -> None:
        self.taken, self.last = 0, time.perf_counter()

    def add(self, n: int) -> None:
        self.taken, self.last = self.taken + n, time.perf_counter()

    async def settled(self) -> None:
        while self.taken < WATCHERS * MESSAGES and time.perf_counter() - self.last < QUIET:
            await asyncio.sleep(0.01)

    def result(self, began: float) -> tuple[float, float]:
        return self.taken / (self.last - began), 1 - self.taken / (WATCHERS * MESSAGES)


async def _ours(topic: str) -> tuple[float, float]:
    from monitoring.live.hub import Hub, Sink
    from portal.core import streams

    hub, count = Hub.here(), Count()
    sinks = [Sink() for _ in range(WATCHERS)]

    async def watch(sink: Sink) -> None:
        while True:
            frames, _ = await sink.take()
            count.add(len(frames))

    for sink in sinks:
        hub.join(topic, sink)
    tasks = [asyncio.create_task(watch(sink)) for sink in sinks]
    await asyncio.sleep(0.5)  # let the reader find its position in the stream
    began = time.perf_counter()
    for n in range(MESSAGES):
        streams.publish(topic, {"n": n, "body": BODY.decode()})
        while (
            n * WATCHERS - count.taken > 500 * WATCHERS and time.perf_counter() - count.last < QUIET
        ):
            await asyncio.sleep(
                0
            )  # as fast as they are taken: the peer waits for Redis at each message
    count.last = time.perf_counter()
    await count.settled()
    for task in tasks:
        task.cancel()
    return count.result(began)


async def _channels(group: str) -> tuple[float, float]:
    from channels_redis.pubsub import RedisPubSubChannelLayer

    layer, count = RedisPubSubChannelLayer(hosts=[os.environ["MUSTER_REDIS_URL"]]), Count()
    names = [await layer.new_channel() for _ in range(WATCHERS)]
    for name in names:
        await layer.group_add(group, name)

    async def watch(name: str) -> None:
        while True:
            await layer.receive(name)
            count.add(1)

    tasks = [asyncio.create_task(watch(name)) for name in names]
    await asyncio.sleep(0.5)
    began = time.perf_counter()
    for n in range(MESSAGES):
        await layer.group_send(group, {"type": "event", "n": n, "body": BODY.decode()})
    count.last = time.perf_counter()
    await count.settled()
    for task in tasks:
        task.cancel()
    return count.result(began)


async def _raw() -> float:
    queues, count = [asyncio.Queue() for _ in range(WATCHERS)], Count()  # type: ignore[var-annotated]

    async def watch(queue: asyncio.Queue[bytes]) -> None:
        while True:
            await queue.get()
            count.add(1)

    tasks = [asyncio.create_task(watch(queue)) for queue in queues]
    began = time.perf_counter()
    for n in range(MESSAGES):
        for queue in queues:
            queue.put_nowait(BODY)
        if n % 50 == 0:
            await asyncio.sleep(0)
    await count.settled()
    for task in tasks:
        task.cancel()
    return count.result(began)[0]


if __name__ == "__main__":
    sys.exit(main())
