"""Deliver frames within one event loop, with one bus subscription per topic for all viewers."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Iterable
from typing import ClassVar
from weakref import WeakKeyDictionary

from portal.core.frames import Frame
from portal.core.streams import bus

MAX_FRAMES = 1024
MAX_BYTES = 1 << 20
# Limits of what may wait for a busy loop.
INBOX_FRAMES, INBOX_BYTES = 50_000, 32 << 20
# Frames handled before the loop may do something else.
TURN = 1000
HEARD_WITHIN = (
    # Seconds to wait for the bus; during an outage viewers are served from the stores.
    2.0
)


class Sink:
    """A bounded queue of frames for one subscription.

    On overflow all frames are dropped and `is_lost` is set: the subscription then reads from the
    source of truth, or tells its viewer to reload.
    """

    def __init__(self) -> None:
        self.frames: deque[Frame] = deque()
        self.is_lost = False
        self._size = 0
        self._ready = asyncio.Event()

    def put(self, frame: Frame) -> None:
        if len(self.frames) >= MAX_FRAMES or self._size + len(frame.data) > MAX_BYTES:
            self.lose()
        else:
            self.frames.append(frame)
            self._size += len(frame.data)
            self._ready.set()

    def lose(self) -> None:
        """Drop all waiting frames, because some are missing."""
        self.frames.clear()
        self._size, self.is_lost = 0, True
        self._ready.set()

    async def take(self) -> tuple[list[Frame], bool]:
        """Wait; return all frames, and whether some were dropped before."""
        await self._ready.wait()
        self._ready.clear()
        frames, lost = list(self.frames), self.is_lost
        self.frames.clear()
        self._size, self.is_lost = 0, False
        return frames, lost

    def wake(self) -> None:
        """Let `take` return without frames."""
        self._ready.set()


class _Topic:
    """The viewers of a topic, and whether the bus subscription is active."""

    def __init__(self) -> None:
        self.sinks: set[Sink] = set()
        self.heard = asyncio.Event()


class Hub:
    """Receives frames from threads and hands them to sinks in the event loop."""

    _of_loop: ClassVar[WeakKeyDictionary[asyncio.AbstractEventLoop, Hub]] = WeakKeyDictionary()

    def __init__(self, loop: asyncio.AbstractEventLoop):
        self._loop = loop
        self._topics: dict[str, _Topic] = {}
        self._inbox: deque[Frame] = deque()
        self._size = 0
        self._is_called = self._is_full = False

    @classmethod
    def here(cls) -> Hub:
        """Return the hub of the running loop."""
        loop = asyncio.get_running_loop()
        if loop not in cls._of_loop:
            cls._of_loop[loop] = cls(loop)
        return cls._of_loop[loop]

    def join(self, topic: str, sink: Sink) -> None:
        if topic in self._topics:
            self._topics[topic].sinks.add(sink)
            return
        self._topics[topic] = made = _Topic()
        made.sinks.add(sink)
        if bus().subscribe(topic, self._deliver):
            made.heard.set()

    def leave(self, topic: str, sink: Sink) -> None:
        found = self._topics.get(topic)
        if found is None:
            return
        found.sinks.discard(sink)
        if not found.sinks:
            del self._topics[topic]
            bus().unsubscribe(topic, self._deliver)

    async def heard(self, topics: Iterable[str]) -> bool:
        """Wait until the bus subscriptions to these topics are active.

        Returns False on timeout; a frame with `is_lost` then follows once they are.
        """
        waits = [self._topics[topic].heard for topic in topics if topic in self._topics]
        try:
            async with asyncio.timeout(HEARD_WITHIN):
                for one in waits:
                    await one.wait()
        except TimeoutError:
            return False
        return True

    def _deliver(self, frame: Frame) -> None:
        """Enqueue a frame from any thread; many frames cause one wake-up of the loop."""
        if len(self._inbox) >= INBOX_FRAMES or self._size > INBOX_BYTES:
            self._is_full = True
        else:
            self._size += len(frame.data)
            self._inbox.append(frame)
        if not self._is_called:
            self._is_called = True
            self._loop.call_soon_threadsafe(self._drain)

    def _drain(self) -> None:
        self._is_called = False
        if self._is_full:
            self._lose_all()
        for _ in range(min(len(self._inbox), TURN)):
            frame = self._inbox.popleft()
            self._size -= len(frame.data)
            self._dispatch(frame)
        if not self._inbox:
            self._size = 0  # threads update it without a lock, so it may have drifted
        elif not self._is_called:
            self._is_called = True
            self._loop.call_soon(self._drain)

    def _dispatch(self, frame: Frame) -> None:
        found = self._topics.get(frame.topic)
        if found is None:
            return
        if frame.is_lost:
            found.heard.set()
        for sink in found.sinks:
            if frame.is_lost:
                sink.lose()
            else:
                sink.put(frame)

    def _lose_all(self) -> None:
        """Report a loss to all sinks, because the loop was busy for too long."""
        self._is_full = False
        self._inbox.clear()
        self._size = 0
        for found in self._topics.values():
            found.heard.set()
            for sink in found.sinks:
                sink.lose()
