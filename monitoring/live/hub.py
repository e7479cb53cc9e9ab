"""One per event loop: a single bus subscription per topic, shared by all who watch it here."""

from __future__ import annotations

import asyncio
from collections import deque
from typing import ClassVar
from weakref import WeakKeyDictionary

from portal.core.streams import Frame, bus

MAX_FRAMES = 1024
MAX_BYTES = 1 << 20


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
            self.frames.clear()
            self._size, self.is_lost = 0, True
        else:
            self.frames.append(frame)
            self._size += len(frame.data)
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


class Hub:
    """Threads deliver frames; the loop hands them to sinks."""

    _of_loop: ClassVar[WeakKeyDictionary[asyncio.AbstractEventLoop, Hub]] = WeakKeyDictionary()

    def __init__(self, loop: asyncio.AbstractEventLoop):
        self._loop = loop
        self._sinks: dict[str, set[Sink]] = {}
        self._inbox: deque[Frame] = deque()
        self._is_called = False

    @classmethod
    def here(cls) -> Hub:
        """The hub of the running loop."""
        loop = asyncio.get_running_loop()
        if loop not in cls._of_loop:
            cls._of_loop[loop] = cls(loop)
        return cls._of_loop[loop]

    def join(self, topic: str, sink: Sink) -> None:
        sinks = self._sinks.setdefault(topic, set())
        sinks.add(sink)
        if len(sinks) == 1:
            bus().subscribe(topic, self._deliver)

    def leave(self, topic: str, sink: Sink) -> None:
        sinks = self._sinks.get(topic, set())
        sinks.discard(sink)
        if not sinks and self._sinks.pop(topic, None) is not None:
            bus().unsubscribe(topic, self._deliver)

    def _deliver(self, frame: Frame) -> None:
        """From any thread. Many frames are one wake-up of the loop."""
        self._inbox.append(frame)
        if not self._is_called:
            self._is_called = True
            self._loop.call_soon_threadsafe(self._drain)

    def _drain(self) -> None:
        self._is_called = False
        while self._inbox:
            frame = self._inbox.popleft()
            for sink in self._sinks.get(frame.topic, ()):
                sink.put(frame)
