"""A log viewer gets each byte once and in order, whatever the bus drops, repeats or delays."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Awaitable, Callable
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from monitoring.live import hub as hubs
from monitoring.live import log_polling
from monitoring.live import subscription as subscriptions
from monitoring.live.hub import MAX_BYTES, MAX_FRAMES, Hub, Sink
from monitoring.live.subscription import HEAD, Subscription, joined
from portal.blobs.logs import LogStore
from portal.core.frames import Frame
from portal.core.streams import LocalBus
from tests.rig.seeds import examples
from workspaces.access.subscriptions import SubscriptionGrant

KEY, TOPIC = "a" * 32, "log:" + "a" * 32
TEXT = b"".join(b"line %d\n" % n for n in range(200_000))


def frame(at: int, data: bytes) -> Frame:
    return Frame(TOPIC, data, at, 1000 + at, True)


def event(number: int) -> Frame:
    return Frame("jobs:x", orjson.dumps({"n": number}), 0, 0, False)


class Viewer:
    """Records what it receives; bytes of a log must be contiguous."""

    def __init__(self) -> None:
        self.data, self.at, self.said, self.frames = b"", 0, [], 0
        self.free = asyncio.Event()  # unset: its network accepts nothing
        self.free.set()

    async def __call__(self, message: bytes | str) -> None:
        await self.free.wait()
        if isinstance(message, str):
            self.said.append(orjson.loads(message))
            if self.said[-1]["op"] == "gap":
                assert self.said[-1]["start"] == self.at
                self.at = self.said[-1]["end"]
            return
        number, _, start, _ = HEAD.unpack_from(message)
        assert (number, start) == (7, self.at)
        self.frames += 1
        self.data += message[HEAD.size :]
        self.at += len(message) - HEAD.size

    def of(self, op: str) -> list[dict[str, Any]]:
        return [message for message in self.said if message["op"] == op]


@pytest.fixture
def bus(monkeypatch: pytest.MonkeyPatch) -> LocalBus:
    made = LocalBus()
    monkeypatch.setattr(hubs, "bus", lambda: made)
    return made


@pytest.fixture
def store(tmp_path, monkeypatch: pytest.MonkeyPatch) -> LogStore:
    made = LogStore(tmp_path)
    monkeypatch.setattr(subscriptions, "log_store", lambda: made)
    monkeypatch.setattr(log_polling, "log_store", lambda: made)
    monkeypatch.setattr(log_polling, "EVERY", 0.2)
    return made


async def until(condition: Callable[[], object], seconds: float = 10) -> None:
    deadline = time.monotonic() + seconds
    while True:
        if condition():
            return
        assert time.monotonic() < deadline
        await asyncio.sleep(0.005)


async def watching(
    act: Callable[[Viewer], Awaitable[None]], *, log: bool = True, after: int | None = 0
) -> Viewer:
    """Run a subscription while `act` runs."""
    viewer = Viewer()
    viewer.at = after or 0
    granted = SubscriptionGrant((TOPIC,), KEY) if log else SubscriptionGrant(("jobs:x", "jobs:y"))
    task = asyncio.create_task(
        Subscription(7, TOPIC, granted, after if log else None, viewer).run()
    )
    try:
        await until(lambda: viewer.of("subscribed"))
        await act(viewer)
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
    return viewer


@given(data=st.data())
@settings(deadline=None, max_examples=examples(300))
def test_joined_frames_are_contiguous_or_none(data):
    text = data.draw(st.binary(min_size=1, max_size=60))
    at = data.draw(st.integers(0, len(text)))
    cuts = data.draw(st.lists(st.tuples(st.integers(0, len(text)), st.integers(0, 20)), max_size=8))
    frames = [frame(start, text[start : start + size]) for start, size in cuts]
    place = at
    for one in frames:
        if one.data and one.seq > place:
            assert joined(frames, at) is None
            return
        place = max(place, one.seq + len(one.data)) if one.data else place
    assert joined(frames, at) == text[at:place]


@given(sizes=st.lists(st.integers(0, MAX_BYTES // 3), max_size=12))
@settings(deadline=None)
def test_sink_returns_frames_in_order_or_reports_loss(sizes):
    async def run() -> None:
        sink, frames = Sink(), [frame(n, b"x" * size) for n, size in enumerate(sizes)]
        for one in frames:
            sink.put(one)
        sink.wake()
        got, is_lost = await sink.take()
        assert is_lost or got == frames
        assert (
            got == frames[len(frames) - len(got) :] and sum(len(f.data) for f in got) <= MAX_BYTES
        )

    asyncio.run(run())


async def test_hub_shares_one_bus_subscription_among_viewers(bus):
    hub, first, second = Hub.here(), Sink(), Sink()
    hub.join("jobs:x", first)
    hub.join("jobs:x", second)
    bus.publish(event(1))
    assert (await first.take())[0] == (await second.take())[0] == [event(1)]
    hub.leave("jobs:x", first)
    assert bus.is_watched("jobs:x")
    hub.leave("jobs:x", second)
    assert not bus.is_watched("jobs:x")


async def test_events_are_numbered_from_subscription_on(bus):
    async def act(viewer: Viewer) -> None:
        bus.publish(event(1))
        bus.publish(Frame("jobs:y", b'{"n":2}', 0, 0, False))
        await until(lambda: len(viewer.of("event")) == 2)

    viewer = await watching(act, log=False)
    assert [(m["seq"], m["data"]["n"]) for m in viewer.of("event")] == [(1, 1), (2, 2)]


async def test_slow_viewer_of_events_gets_resync(bus):
    async def act(viewer: Viewer) -> None:
        viewer.free.clear()
        for n in range(3 * MAX_FRAMES):
            bus.publish(event(n))
            if n % 100 == 0:
                await asyncio.sleep(0)
        viewer.free.set()
        await until(
            lambda: (
                viewer.of("resync") and viewer.of("event")[-1]["data"]["n"] == 3 * MAX_FRAMES - 1
            )
        )

    viewer = await watching(act, log=False)
    assert [m["why"] for m in viewer.of("resync")] == ["some events were lost"]
    received = [m["data"]["n"] for m in viewer.of("event")]
    assert received == sorted(set(received))


async def test_returning_viewer_of_events_gets_resync(bus):
    viewer = Viewer()
    task = asyncio.create_task(
        Subscription(7, "jobs:x", SubscriptionGrant(("jobs:x",)), 3, viewer).run()
    )
    await until(lambda: viewer.of("resync"))
    bus.publish(event(4))
    await until(lambda: viewer.of("event"))
    task.cancel()
    assert (viewer.of("subscribed")[0]["seq"], viewer.of("event")[0]["seq"]) == (3, 4)


async def test_log_is_read_from_store_then_followed_live(bus, store):
    store.append(KEY, 0, b"stored ", 1)

    async def act(viewer: Viewer) -> None:
        await until(lambda: viewer.at == 7)
        bus.publish(frame(7, b"live"))
        await until(lambda: viewer.at == 11)

    assert (await watching(act)).data == b"stored live"


async def test_lost_frame_of_log_is_read_from_store(bus, store):
    async def act(viewer: Viewer) -> None:
        store.append(KEY, 0, b"one two three", 1)
        bus.publish(frame(8, b"three"))
        await until(lambda: viewer.at == 13)

    assert (await watching(act)).data == b"one two three"


async def test_log_viewer_with_overflow_loses_nothing(bus, store):
    async def act(viewer: Viewer) -> None:
        for at in range(0, len(TEXT), 5000):
            store.append(KEY, at, TEXT[at : at + 5000], at, durable=False)
            bus.publish(frame(at, TEXT[at : at + 5000]))
        await until(lambda: viewer.at == len(TEXT))

    assert len(TEXT) > MAX_BYTES
    assert (await watching(act)).data == TEXT


@pytest.mark.parametrize("seed", range(5))
async def test_log_viewer_on_unreliable_bus_gets_complete_log(bus, store, seed):
    chance, at = random.Random(seed), 0

    async def act(viewer: Viewer) -> None:
        nonlocal at
        while at < 300_000:
            size = chance.randrange(1, 4000)
            store.append(KEY, at, TEXT[at : at + size], at, durable=False)
            for _ in range(chance.choice((0, 1, 1, 1, 2))):
                back = chance.choice((0, 0, 0, min(at, 500)))
                bus.publish(frame(at - back, TEXT[at - back : at + size]))
            at += size
            await asyncio.sleep(chance.choice((0, 0, 0.001)))
        bus.publish(frame(at, b""))
        await until(lambda: viewer.at == at)

    assert (await watching(act)).data == TEXT[:at]


async def test_log_gap_is_reported_at_its_offset(bus, store):
    store.append(KEY, 0, b"abc", 1)
    store.skip(KEY, 3, 10, "the node lost power")
    store.append(KEY, 10, b"xyz", 2)

    async def act(viewer: Viewer) -> None:
        await until(lambda: viewer.at == 13)

    viewer = await watching(act)
    assert viewer.data == b"abcxyz"
    assert viewer.of("gap") == [
        {"op": "gap", "id": 7, "start": 3, "end": 10, "why": "the node lost power"}
    ]


async def test_unpublished_log_data_is_found_by_polling(bus, store):
    async def act(viewer: Viewer) -> None:
        store.append(KEY, 0, b"its watcher was killed before it told", 1)
        await until(lambda: viewer.at == 37)
        store.seal(KEY, "exit 0")
        await until(lambda: viewer.of("end"))

    assert (await watching(act)).data == b"its watcher was killed before it told"


async def test_frequent_log_frames_are_combined(bus, store):
    async def act(viewer: Viewer) -> None:
        for at in range(300):
            store.append(KEY, at, b"x", at, durable=False)
            bus.publish(frame(at, b"x"))
            await asyncio.sleep(0)
        await until(lambda: viewer.at == 300)

    viewer = await watching(act)
    assert viewer.data == b"x" * 300 and viewer.frames < 60


async def test_log_end_follows_last_byte_with_certificate(bus, store):
    async def act(viewer: Viewer) -> None:
        store.append(KEY, 0, b"all of it", 1)
        made = store.seal(KEY, "exit 0")
        bus.publish(frame(9, b""))
        await until(lambda: viewer.of("end"))
        assert viewer.at == 9
        assert viewer.of("end")[0]["certificate"] == orjson.loads(orjson.dumps(made.as_dict()))

    assert (await watching(act)).data == b"all of it"


async def test_log_viewer_without_offset_starts_at_end(bus, store):
    store.append(KEY, 0, b"long ago", 1)
    viewer = Viewer()
    viewer.at = 8
    task = asyncio.create_task(
        Subscription(7, TOPIC, SubscriptionGrant((TOPIC,), KEY), None, viewer).run()
    )
    await until(lambda: viewer.of("subscribed"))
    bus.publish(frame(8, b"now"))
    await until(lambda: viewer.at == 11)
    task.cancel()
    assert (viewer.of("subscribed")[0]["seq"], viewer.data) == (8, b"now")
