"""One per event loop: a single bus subscription per topic, shared by all who watch it here."""

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
INBOX_FRAMES, INBOX_BYTES = 50_000, 32 << 20  # that may wait for a loop which is busy
TURN = 1000  # frames handed on before the loop does something else
HEARD_WITHIN = (
    2.0  # seconds to wait for the bus; while it is away viewers are served from the stores
)


class Sink:
    """Frames that wait for one subscription, bounded. When it overflows they are all dropped and `is_lost` says so: the
    subscription then reads from the source of truth, or tells its viewer to."""

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
        """Drop what waits: something before or among it is missing."""
        self.frames.clear()
        self._size, self.is_lost = 0, True
        self._ready.set()

    async def take(self) -> tuple[list[Frame], bool]:
        """Waits; all that came, and whether something was dropped before."""
        await self._ready.wait()
        self._ready.clear()
        frames, lost = list(self.frames), self.is_lost
        self.frames.clear()
        self._size, self.is_lost = 0, False
        return frames, lost

    def wake(self) -> None:
        """Let `take` return although nothing came."""
        self._ready.set()


class _Topic:
    """Who watches it here, and whether the bus listens to it yet."""

    def __init__(self) -> None:
        self.sinks: set[Sink] = set()
        self.heard = asyncio.Event()


class Hub:
    """Threads deliver frames; the loop hands them to sinks."""

    _of_loop: ClassVar[WeakKeyDictionary[asyncio.AbstractEventLoop, Hub]] = WeakKeyDictionary()

    def __init__(self, loop: asyncio.AbstractEventLoop):
        self._loop = loop
        self._topics: dict[str, _Topic] = {}
        self._inbox: deque[Frame] = deque()
        self._size = 0
        self._is_called = self._is_full = False

    @classmethod
    def here(cls) -> Hub:
        """The hub of the running loop."""
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
        """Waits until the bus listens to these topics; False when it does not in time and will say `is_lost` once it does."""
        waits = [self._topics[topic].heard for topic in topics if topic in self._topics]
        try:
            async with asyncio.timeout(HEARD_WITHIN):
                for one in waits:
                    await one.wait()
        except TimeoutError:
            return False
        return True

    def _deliver(self, frame: Frame) -> None:
        """From any thread. Many frames are one wake-up of the loop."""
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
            self._hand_out(frame)
        if not self._inbox:
            self._size = 0  # threads add to it without a lock: it may have drifted
        elif not self._is_called:
            self._is_called = True
            self._loop.call_soon(self._drain)

    def _hand_out(self, frame: Frame) -> None:
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
        """The loop was busy for long: nobody knows any more what was for whom."""
        self._is_full = False
        self._inbox.clear()
        self._size = 0
        for found in self._topics.values():
            found.heard.set()
            for sink in found.sinks:
                sink.lose()
