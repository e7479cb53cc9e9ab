"""One viewer of one topic.

A log is read from its store and then followed live without gaps or duplicates: offsets must match,
and where they do not, the store is read again. Other topics start with the next event; an overflow
is reported as `resync`.
"""

from __future__ import annotations

import asyncio
import struct
from collections.abc import Awaitable, Callable, Sequence
from itertools import pairwise
from typing import Any

import orjson
from asgiref.sync import sync_to_async

from monitoring.live.hub import Hub, Sink
from monitoring.live.log_polling import LogPoller
from portal.blobs.logs import Certificate, LogRead, log_store
from portal.core.frames import Frame
from workspaces.access.subscriptions import SubscriptionGrant

HEAD = struct.Struct("<IIQQ")  # subscription, reserved, offset of the first byte, Unix ms
# Bytes per frame while catching up: small, so that other topics get their turn.
CHUNK = 256 << 10
GATHER = (
    # Minimum seconds between two live frames of a log; data in between is combined.
    0.03
)
Send = Callable[[bytes | str], Awaitable[None]]


class Subscription:
    """A task of its socket that runs until cancelled, or until its log has ended.

    For logs, `after` is the next byte wanted, or None to start at the end. `at` is the next byte
    that the viewer lacks.
    """

    def __init__(
        self, number: int, topic: str, granted: SubscriptionGrant, after: int | None, send: Send
    ):
        self.number, self.topic, self.granted = number, topic, granted
        self.sink, self.at = Sink(), after or 0
        self._after, self._send = after, send
        self._hub = Hub.here()

    async def run(self) -> None:
        topics = self.granted.bus_topics
        try:
            for topic in topics:
                self._hub.join(topic, self.sink)
            if await self._hub.heard(topics):
                self.sink.is_lost = False  # nothing was promised before
            await (self._follow_log() if self.granted.log_key else self._follow())
        finally:
            for topic in topics:
                self._hub.leave(topic, self.sink)

    async def _follow(self) -> None:
        count = self._after or 0
        await self._send(_text({"op": "subscribed", "id": self.number, "seq": count}))
        if self._after is not None:
            await self._resync(count, "events are not kept for who was away")
        while True:
            frames, is_lost = await self.sink.take()
            if is_lost:
                await self._resync(count, "some events were lost")
            for frame in frames:
                count += 1
                await self._send(
                    f'{{"op":"event","id":{self.number},"seq":{count},'
                    f'"data":{frame.data.decode()}}}'
                )

    async def _resync(self, count: int, why: str) -> None:
        await self._send(_text({"op": "resync", "id": self.number, "seq": count, "why": why}))

    async def _follow_log(self) -> None:
        if self._after is None:
            self.at = await _thread(log_store().end)(self.granted.log_key)
        await self._send(_text({"op": "subscribed", "id": self.number, "seq": self.at}))
        late = LogPoller.here()
        late.join(self)
        try:
            await self._catch_up()
            while not await self._report_end():
                await self._follow_frames()
        finally:
            late.leave(self)

    async def _follow_frames(self) -> None:
        """Send frames as they arrive, until the store must be read again."""
        while True:
            frames, is_lost = await self.sink.take()
            met = None if is_lost else joined(frames, self.at)
            if met:
                await self._send_bytes(self.at, met, frames[-1].at_ms)
            if met is None or any(
                not frame.data
                for frame in frames
                # An empty frame: the log was closed, or its data is too long for a frame.
            ):
                await self._catch_up()
                return
            await asyncio.sleep(GATHER)

    async def _catch_up(self) -> None:
        """Send everything that is stored and was not sent yet."""
        while True:
            part, times = await _thread(_stored)(self.granted.log_key, self.at)
            if part.start > self.at:
                await self._send(
                    _text(
                        {
                            "op": "gap",
                            "id": self.number,
                            "start": self.at,
                            "end": part.start,
                            "why": "; ".join(why for _, _, why in part.gaps),
                        }
                    )
                )
                self.at = part.start
            if not part.data:
                return
            await self._send_with_times(part, times)

    async def _send_with_times(self, part: LogRead, times: Sequence[tuple[int, int]]) -> None:
        """Split where the arrival time changes by a second or more, so each line has a time."""
        cuts, last = [(part.start, times[0][1] if times else 0)], times[0][1] if times else 0
        for offset, ms in times[1:]:
            if ms - last >= 1000 and part.start < offset < part.start + len(part.data):
                cuts.append((offset, ms))
                last = ms
        cuts.append((part.start + len(part.data), 0))
        for (start, ms), (end, _) in pairwise(cuts):
            await self._send_bytes(start, part.data[start - part.start : end - part.start], ms)

    async def _send_bytes(self, at: int, data: bytes, at_ms: int) -> None:
        await self._send(HEAD.pack(self.number, 0, at, at_ms) + data)
        self.at = at + len(data)

    async def _report_end(self) -> bool:
        """Report the end of the log once everything before it was sent."""
        certificate, end = await _thread(_closed)(self.granted.log_key)
        if certificate is None or self.at < end:
            return False
        await self._send(
            _text({"op": "end", "id": self.number, "certificate": certificate.as_dict()})
        )
        return True


def _stored(key: str, at: int) -> tuple[LogRead, list[tuple[int, int]]]:
    """Return the next bytes of a log, and when they arrived."""
    part = log_store().read(key, at, CHUNK)
    return part, log_store().times(
        key, part.start, part.start + len(part.data)
    ) if part.data else []


def _closed(key: str) -> tuple[Certificate | None, int]:
    """Return the certificate, and the final end of the log."""
    certificate = log_store().certificate(key)
    return certificate, log_store().end(key) if certificate else 0


def joined(frames: Sequence[Frame], at: int) -> bytes | None:
    """Return the new bytes from `at` on in these frames, or None if some are missing."""
    parts, place = [], at
    for frame in frames:
        if not frame.data:
            continue
        if frame.seq > place:
            return None
        fresh = frame.data[place - frame.seq :]
        parts.append(fresh)
        place += len(fresh)
    return b"".join(parts)


def _text(message: dict[str, Any]) -> str:
    return orjson.dumps(message).decode()


def _thread(call: Callable[..., Any]) -> Callable[..., Awaitable[Any]]:
    return sync_to_async(call, thread_sensitive=False)
