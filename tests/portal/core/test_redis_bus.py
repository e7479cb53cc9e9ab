"""Live frames through a real Redis: delivery, reported losses, recovery after SIGKILL."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator

import pytest
import redis

from portal.core import redis_bus
from portal.core.frames import Frame
from portal.core.redis_bus import BUFFER_BYTES, MAX_LENGTH, Outbox, RedisBus
from portal.core.redis_outages import CircuitBreaker
from tests.rig.processes import Folder, wait_until
from tests.rig.redis import Redis, start_redis


def event(number: int, topic: str = "jobs:x") -> Frame:
    return Frame(topic, b'{"n":%d}' % number, 0, 0, False)


class Watcher:
    """Records the frames and the reported losses of one subscriber."""

    def __init__(self) -> None:
        self.got: list[Frame] = []
        self.losses = 0

    def __call__(self, frame: Frame) -> None:
        if frame.is_lost:
            self.losses += 1
        else:
            self.got.append(frame)


@pytest.fixture
def folder() -> Iterator[Folder]:
    made = Folder()
    yield made
    made.close()


@pytest.fixture
def server(folder: Folder) -> Redis:
    return start_redis(folder)


@pytest.fixture
def new_bus(server: Redis) -> Iterator[Callable[[], RedisBus]]:
    """Return a function that makes buses of the server, closed at the end."""
    made: list[RedisBus] = []

    def make() -> RedisBus:
        made.append(RedisBus(server.url))
        return made[-1]

    yield make
    for bus in made:
        bus.close()


def watched(bus: RedisBus, topic: str = "jobs:x") -> Watcher:
    """Return a subscriber whose subscription is active."""
    watcher = Watcher()
    if not bus.subscribe(topic, watcher):
        wait_until(lambda: watcher.losses, "the bus hears the topic")
    watcher.losses = 0
    return watcher


def kill(server: Redis) -> None:
    os.kill(server.pid, signal.SIGKILL)
    wait_until(lambda: not _answers(server), "Redis is gone")


def _answers(server: Redis) -> bool:
    try:
        return bool(redis.Redis.from_url(server.url, socket_timeout=1).ping())
    except redis.RedisError:
        return False


def test_redis_bus_delivers_frames_of_other_process_in_order(new_bus):
    teller, watcher = new_bus(), watched(new_bus())
    frames = [event(n) for n in range(1500)]
    for sent, frame in enumerate(frames):
        teller.publish(frame)
        if sent % 100 == 0:  # no faster than a reader reads, or the stream is trimmed
            wait_until(lambda sent=sent: len(watcher.got) >= sent, "the reader keeps up")
    wait_until(lambda: len(watcher.got) == 1500, "everything came")
    assert watcher.got == frames and watcher.losses == 0


def test_redis_bus_keeps_offset_time_and_bytes(new_bus):
    watcher = watched(new_bus(), "log:a")
    frame = Frame("log:a", bytes(range(256)), 2**40, 1_795_217_952_200, True)
    new_bus().publish(frame)
    wait_until(lambda: watcher.got, "it came")
    assert watcher.got == [frame]


def test_redis_bus_new_topic_wakes_the_reader(new_bus):
    bus = new_bus()
    watched(bus)
    began = time.monotonic()
    watched(bus, "jobs:y")
    assert time.monotonic() - began < 0.5


def test_redis_bus_does_not_deliver_earlier_frames(server, new_bus):
    bus = new_bus()
    bus.publish(event(1))
    wait_until(
        lambda: redis.Redis.from_url(server.url).xlen("live:jobs:x") == 1, "it is in its stream"
    )
    watcher = watched(bus)
    bus.publish(event(2))
    wait_until(lambda: watcher.got, "the later one came")
    assert watcher.got == [event(2)]


def test_redis_bus_shares_topic_until_last_subscriber_leaves(new_bus):
    bus = new_bus()
    first = watched(bus)
    second = Watcher()
    assert bus.subscribe("jobs:x", second)
    bus.publish(event(1))
    wait_until(lambda: first.got and second.got, "both heard")
    bus.unsubscribe("jobs:x", first)
    bus.unsubscribe("jobs:x", second)
    assert not bus.subscribe("jobs:x", second)


def test_redis_bus_knows_watched_topics_of_other_processes(server, monkeypatch, new_bus):
    monkeypatch.setattr(redis_bus, "breaker", CircuitBreaker())
    teller = new_bus()
    assert not teller.was_watched("metrics:a")
    bus = new_bus()
    watched(bus, "metrics:a")
    wait_until(lambda: teller.was_watched("metrics:a"), "it is known within a second")
    assert not teller.was_watched("metrics:b")
    kill(server)
    wait_until(lambda: teller.was_watched("metrics:b"), "without Redis all count as watched")


def test_redis_stream_is_trimmed_and_expires(server, new_bus):
    bus, link = new_bus(), redis.Redis.from_url(server.url)
    for n in range(3000):
        bus.publish(event(n))
    for n in range(500):
        bus.publish(Frame("log:a", b"x" * 60_000, n * 60_000, 1, True))
        if n % 100 == 99:
            wait_until(
                lambda n=n: _newest(link, "log:a").get(b"s") == b"%d" % (n * 60_000),
                "they are written",
            )
    assert link.xlen("live:jobs:x") <= MAX_LENGTH + 100
    assert link.memory_usage("live:log:a") < 8 << 20
    assert 0 < link.ttl("live:jobs:x") <= redis_bus.EXPIRES


@pytest.mark.parametrize("seed", range(2))
def test_redis_bus_reports_loss_and_recovers_after_redis_kill(server, folder, seed, new_bus):
    teller, watcher = new_bus(), watched(new_bus())
    for n in range(20 * (seed + 1)):
        teller.publish(event(n))
    kill(server)
    for n in range(50):
        teller.publish(event(n))
    start_redis(folder, port=server.port, name=f"again{seed}")
    wait_until(lambda: watcher.losses, "the loss is told")
    numbers = iter(range(10_000, 10_400))
    wait_until(
        lambda: teller.publish(event(next(numbers))) or _last(watcher) >= 10_000,
        "it heals",
        10,
        0.05,
    )
    assert teller.dropped >= 1


def test_redis_bus_reports_loss_without_further_frames(server, folder, new_bus):
    """The reader may reconnect before the writer gives up; only the writer knows of the loss."""
    teller = new_bus()
    teller.publish(event(0))
    wait_until(
        lambda: redis.Redis.from_url(server.url).xlen("live:jobs:x"), "the writer is connected"
    )
    kill(server)
    teller.publish(event(1))
    wait_until(lambda: teller.dropped, "it was dropped")
    start_redis(folder, port=server.port, name="again")
    link = redis.Redis.from_url(server.url)
    wait_until(lambda: link.xlen("live:jobs:x"), "the loss is written")
    assert [fields[b"l"] for _, fields in link.xrange("live:jobs:x")] == [b"1"]


def test_publish_does_not_block_while_redis_hangs(server, new_bus):
    bus = new_bus()
    os.kill(server.pid, signal.SIGSTOP)
    try:
        began = time.monotonic()
        for n in range(30_000):
            bus.publish(event(n))
        assert time.monotonic() - began < 5
    finally:
        os.kill(server.pid, signal.SIGCONT)
    assert bus.dropped > 0


def test_redis_bus_reports_loss_of_trimmed_entries(server, monkeypatch, new_bus):
    bus = new_bus()
    free = threading.Event()
    watcher = watched(bus)

    def slow(frame: Frame) -> None:
        free.wait(10)

    bus.subscribe("jobs:x", slow)
    teller, link = new_bus(), redis.Redis.from_url(server.url)
    for n in range(5000):
        teller.publish(event(n))
    wait_until(lambda: _newest(link, "jobs:x").get(b"d") == event(4999).data, "all are written")
    free.set()
    wait_until(lambda: _last(watcher) == 4999, "it came to the end")
    assert len(watcher.got) < 5000 and watcher.losses


def test_outbox_is_bounded_and_remembers_lossy_topics():
    box = Outbox()
    big = Frame("log:a", b"x" * (BUFFER_BYTES // 4 - 100), 0, 0, True)
    for _ in range(6):
        box.put(big)
    box.put(event(1))
    taken = box.take(100)
    assert [(f.topic, f.is_lost) for f in taken] == [
        ("log:a", True),
        *[("log:a", False)] * 4,
        ("jobs:x", False),
    ]
    assert box.dropped == 2
    box.put(event(2), event(3))
    assert box.take(100) == [event(2), event(3)]


def _last(watcher: Watcher) -> int:
    return int(watcher.got[-1].data[5:-1]) if watcher.got else -1


def _newest(link: redis.Redis, topic: str) -> dict[bytes, bytes]:
    return (
        dict(fields)
        if (found := link.xrevrange(f"live:{topic}", count=1)) and (fields := found[0][1])
        else {}
    )
