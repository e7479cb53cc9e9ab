"""One viewer of one topic. A log is read from its store up to its end and goes on live without gap or double: offsets must meet,
and where they do not the store is asked again. Other topics begin now; what overflowed is told as `resync`."""

from __future__ import annotations

import asyncio
import struct
from collections.abc import Awaitable, Callable, Sequence
from itertools import pairwise
from typing import Any

import orjson
from asgiref.sync import sync_to_async

from monitoring.live.hub import Hub, Sink
from monitoring.live.topics import Granted
from portal.blobs.logs import Certificate, LogRead, log_store
from portal.core.streams import Frame

HEAD = struct.Struct("<IIQQ")       # subscription, reserved, offset of the first byte, Unix ms
CHUNK = 256 << 10                   # bytes of one frame while catching up: small, so that other topics get their turn
Send = Callable[[bytes | str], Awaitable[None]]


class Subscription:
    """Runs as a task of its socket until cancelled. `after`: the next byte wanted, for logs; None: from the end."""

    def __init__(self, number: int, topic: str, granted: Granted, after: int | None, send: Send):
        self.number, self.topic, self.granted = number, topic, granted
        self._after, self._send = after, send
        self._sink, self._hub = Sink(), Hub.here()

    async def run(self) -> None:
        for topic in self.granted.bus_topics:
            self._hub.join(topic, self._sink)
        try:
            await (self._follow_log() if self.granted.log_key else self._follow())
        finally:
            for topic in self.granted.bus_topics:
                self._hub.leave(topic, self._sink)

    async def _follow(self) -> None:
        count = self._after or 0
        await self._send(_text({"op": "subscribed", "id": self.number, "seq": count}))
        while True:
            frames, is_lost = await self._sink.take()
            if is_lost:
                await self._send(_text({"op": "resync", "id": self.number, "seq": count, "why": "overflow"}))
            for frame in frames:
                count += 1
                await self._send(f'{{"op":"event","id":{self.number},"seq":{count},"data":{frame.data.decode()}}}')

    async def _follow_log(self) -> None:
        store, key = log_store(), self.granted.log_key
        at = await _thread(store.end)(key) if self._after is None else self._after
        await self._send(_text({"op": "subscribed", "id": self.number, "seq": at}))
        at = await self._catch_up(at)
        while not await self._ended(at):
            frames, is_lost = await self._sink.take()
            met = None if is_lost else joined(frames, at)
            if met is None:
                at = await self._catch_up(at)
            elif met:
                at = await self._bytes(at, met, frames[-1].at_ms)
            if any(not frame.data for frame in frames):       # an empty frame: the log was closed
                at = await self._catch_up(at)

    async def _catch_up(self, at: int) -> int:
        """Everything that is stored from `at` on; the new place."""
        while True:
            part: LogRead = await _thread(log_store().read)(self.granted.log_key, at, CHUNK)
            if part.start > at:
                await self._send(_text({"op": "gap", "id": self.number, "start": at, "end": part.start,
                                        "why": "; ".join(why for _, _, why in part.gaps)}))
            if not part.data:
                return max(at, part.start)
            times = await _thread(log_store().times)(self.granted.log_key, part.start, part.start + len(part.data))
            at = await self._timed(part, times)

    async def _timed(self, part: LogRead, times: Sequence[tuple[int, int]]) -> int:
        """Cut where the arrival time changes by more than a second, so that each line can tell when it came."""
        cuts, last = [(part.start, times[0][1] if times else 0)], times[0][1] if times else 0
        for offset, ms in times[1:]:
            if ms - last >= 1000 and part.start < offset < part.start + len(part.data):
                cuts.append((offset, ms))
                last = ms
        cuts.append((part.start + len(part.data), 0))
        for (start, ms), (end, _) in pairwise(cuts):
            await self._bytes(start, part.data[start - part.start:end - part.start], ms)
        return part.start + len(part.data)

    async def _bytes(self, at: int, data: bytes, at_ms: int) -> int:
        await self._send(HEAD.pack(self.number, 0, at, at_ms) + data)
        return at + len(data)

    async def _ended(self, at: int) -> bool:
        """Tell the end once everything before it was sent."""
        certificate: Certificate | None = await _thread(log_store().certificate)(self.granted.log_key)
        if certificate is None or at < await _thread(log_store().end)(self.granted.log_key):
            return False
        await self._send(_text({"op": "end", "id": self.number, "certificate": certificate.as_dict()}))
        await asyncio.Event().wait()        # nothing follows; the subscription ends when its viewer leaves
        return True


def joined(frames: Sequence[Frame], at: int) -> bytes | None:
    """The new bytes from `at` on in these frames; None when something between is missing."""
    parts, place = [], at
    for frame in frames:
        if not frame.data:
            continue
        if frame.seq > place:
            return None
        fresh = frame.data[place - frame.seq:]
        parts.append(fresh)
        place += len(fresh)
    return b"".join(parts)


def _text(message: dict[str, Any]) -> str:
    return orjson.dumps(message).decode()


def _thread(call: Callable[..., Any]) -> Callable[..., Awaitable[Any]]:
    return sync_to_async(call, thread_sensitive=False)
