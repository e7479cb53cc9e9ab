"""Spare connections that jobs have dialled out, for nodes that nobody can connect to.

The job's program (schedulers/programs/tunnel.py) keeps a few websockets open. To use one, the gateway sends
`OPEN PORT` and a line end; the program connects inside the job and answers `OK`, or says why not.
From then on both relay bytes, and the program dials another spare one.
"""

from __future__ import annotations

import asyncio
from collections import deque

from portal.gateway.channels import Channel, Closed

MOST_SPARE = 16  # of one attempt
_LINE = 200


class Refused(OSError):
    """The job's program could not connect, or does not answer."""


class Tunnels:
    """All spare connections, by the key of the attempt."""

    def __init__(self) -> None:
        self._spare: dict[str, deque[Channel]] = {}
        self._waiting: dict[str, deque[asyncio.Future[Channel]]] = {}

    def offer(self, key: str, channel: Channel) -> None:
        """Take a spare connection; if there are too many, the oldest is closed."""
        waiting = self._waiting.get(key)
        while waiting:
            future = waiting.popleft()
            if not future.done():
                future.set_result(channel)
                return
        spare = self._spare.setdefault(key, deque())
        spare.append(channel)
        channel.on_end = lambda: self._drop(key, channel)
        if len(spare) > MOST_SPARE:
            spare[0].abort()

    def count(self, key: str) -> int:
        return len(self._spare.get(key, ()))

    async def open(self, key: str, port: int, seconds: float) -> Channel:
        """Return a connection to a port inside the job. Raises Refused."""
        async with asyncio.timeout(seconds):
            channel = await self._take(key)
            try:
                channel.write(b"OPEN %d\n" % port)
                answer = await channel.read_until(b"\n", _LINE)
            except (Closed, ValueError) as error:
                channel.abort()
                raise Refused("The job's tunnel was interrupted.") from error
            except BaseException:
                channel.abort()
                raise
        if answer != b"OK\n":
            channel.abort()
            raise Refused(answer.decode(errors="replace").strip() or "The job's tunnel has ended.")
        return channel

    async def _take(self, key: str) -> Channel:
        spare = self._spare.get(key)
        while spare:
            channel = spare.pop()  # the newest: an old one may have been cut without a word
            if not channel.is_at_end:
                channel.on_end = None
                return channel
        future: asyncio.Future[Channel] = asyncio.get_running_loop().create_future()
        waiting = self._waiting.setdefault(key, deque())
        waiting.append(future)
        try:
            return await future
        finally:
            if future in waiting:
                waiting.remove(future)
            if not waiting:
                self._waiting.pop(key, None)

    def _drop(self, key: str, channel: Channel) -> None:
        spare = self._spare.get(key)
        if spare and channel in spare:
            spare.remove(channel)
            channel.abort()
        if not spare:
            self._spare.pop(key, None)
