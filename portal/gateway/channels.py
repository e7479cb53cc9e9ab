"""A connection with bounded buffers in both directions, for one reader and one writer."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable
from typing import cast

from websockets.frames import CloseCode, Frame, Opcode
from websockets.protocol import Protocol, Side, State

BUFFER = 256 << 10  # bytes in each direction
_MOST_FRAME = 1 << 20  # bytes
_LINGER = 2.0  # seconds for the other side of a websocket to answer the end


class Closed(ConnectionError):
    """The other side has closed the connection."""


class Channel(asyncio.Protocol):
    """One TCP connection, or a Unix one; or the bytes of one in messages of a websocket.

    `on_end` is called when the other side stops sending or is gone. Reading pauses while nobody
    takes what has arrived.
    """

    def __init__(self) -> None:
        self.on_end: Callable[[], None] | None = None
        self.is_lost = self.is_at_end = False
        self._data = bytearray()
        self._reader: asyncio.Future[None] | None = None
        self._writer: asyncio.Future[None] | None = None
        self._is_paused = self._is_full = False
        self._loop = asyncio.get_running_loop()
        self._transport: asyncio.Transport | None = None
        self._websocket: Protocol | None = None
        self._size = 0  # of this message so far
        self._lingering: asyncio.TimerHandle | None = None

    def use_websocket(self) -> None:
        """Read and write binary messages from now on; an empty one ends its direction."""
        self._websocket = Protocol(Side.SERVER, state=State.OPEN, max_size=_MOST_FRAME)
        if self._data:
            early = bytes(self._data)
            self._data.clear()
            self.data_received(early)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self._transport.set_write_buffer_limits(high=BUFFER)
        sock = transport.get_extra_info("socket")
        if sock is not None and sock.family != socket.AF_UNIX:
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def data_received(self, data: bytes) -> None:
        if self._websocket is not None:
            data = self._received(self._websocket, data)
        if self._lingering is not None:
            return  # nobody reads any more
        self._data += data
        if len(self._data) > BUFFER and not self._is_paused and self._transport is not None:
            self._is_paused = True
            self._transport.pause_reading()
        _wake(self._reader)

    def eof_received(self) -> bool:
        if self._lingering is not None or (self._websocket is not None and not self.is_at_end):
            return False  # it has ended, or was cut
        self.is_at_end = True
        self._ended()
        return True  # the other direction may continue

    def connection_lost(self, error: Exception | None) -> None:
        self.is_lost = self.is_at_end = True
        if self._lingering is not None:
            self._lingering.cancel()
        self._ended()
        _wake(self._writer)

    def pause_writing(self) -> None:
        self._is_full = True

    def resume_writing(self) -> None:
        self._is_full = False
        _wake(self._writer)

    async def read(self) -> bytes:
        """Return what has arrived, or b"" at the end."""
        while not self._data and not self.is_at_end:
            await self._wait_for_data()
        data = bytes(self._data)
        self._data.clear()
        self._resume()
        return data

    async def read_until(self, end: bytes, most: int) -> bytes:
        """Return the bytes up to and including `end`, or b"" if the connection ends before any.

        Raises ValueError after `most` bytes, Closed if it ends in between.
        """
        start = 0
        while (found := self._data.find(end, start)) < 0:
            if len(self._data) > most:
                raise ValueError(most)
            if self.is_at_end:
                if self._data:
                    raise Closed
                return b""
            start = max(0, len(self._data) - len(end) + 1)
            await self._wait_for_data()
        found += len(end)
        if found > most:
            raise ValueError(most)
        data = bytes(self._data[:found])
        del self._data[:found]
        self._resume()
        return data

    def unread(self, data: bytes) -> None:
        """Put back bytes that belong to the next message."""
        if data:
            self._data[:0] = data

    @property
    def has_data(self) -> bool:
        return bool(self._data)

    @property
    def is_readable(self) -> bool:
        return bool(self._data) or self.is_at_end

    async def wait_readable(self) -> None:
        while not self.is_readable:
            await self._wait_for_data()

    def write(self, data: bytes) -> None:
        if self._transport is not None and not self.is_lost:
            if self._websocket is None:
                self._transport.write(data)
            elif self._websocket.state is State.OPEN:
                self._websocket.send_binary(data)
                self._flush(self._websocket)

    async def drain(self) -> None:
        """Wait until the client has taken enough. Raises Closed if it is gone."""
        while self._is_full and not self.is_lost:
            self._writer = self._loop.create_future()
            await self._writer
        if self.is_lost:
            raise Closed

    def write_eof(self) -> None:
        if self._websocket is not None:
            self.write(b"")
        elif self._transport is not None and not self.is_lost and self._transport.can_write_eof():
            self._transport.write_eof()

    def close(self) -> None:
        """Close after what was written has been sent.

        The kernel drops what it has not yet sent if something is unread, such as a ping; so the end
        of a websocket is read as well.
        """
        if self._transport is None or self._lingering is not None:
            return
        if self._websocket is None or self._websocket.state is not State.OPEN or self.is_lost:
            self._transport.close()
            return
        self._websocket.send_close(CloseCode.NORMAL_CLOSURE)
        self._flush(self._websocket)
        self._lingering = self._loop.call_later(_LINGER, self._transport.close)
        self._data.clear()
        self._resume()

    def abort(self) -> None:
        """Close now: what was not sent is lost."""
        if self._transport is not None:
            self._transport.abort()

    def _received(self, websocket: Protocol, data: bytes) -> bytes:
        """Return the bytes of the messages in what has arrived; answer pings and the end."""
        websocket.receive_data(data)
        found = []
        for frame in websocket.events_received():
            assert isinstance(frame, Frame)
            if frame.opcode in (Opcode.BINARY, Opcode.CONT):
                found.append(frame.data)
                self._size = len(frame.data) + (self._size if frame.opcode is Opcode.CONT else 0)
                if frame.fin and not self._size:
                    self.is_at_end = True
                    self._ended()
        self._flush(websocket)
        is_over = websocket.state is not State.OPEN
        if self._lingering is not None:
            is_over = websocket.close_rcvd is not None
        if is_over and self._transport is not None:
            self._transport.close()  # they have closed it, or it is no websocket
        return b"".join(found)

    def _flush(self, websocket: Protocol) -> None:
        frames = b"".join(websocket.data_to_send())
        if frames and self._transport is not None and not self._transport.is_closing():
            self._transport.write(frames)

    async def _wait_for_data(self) -> None:
        self._reader = self._loop.create_future()
        await self._reader

    def _ended(self) -> None:
        _wake(self._reader)
        if self.on_end is not None:
            self.on_end()

    def _resume(self) -> None:
        if self._is_paused and self._transport is not None:
            self._is_paused = False
            self._transport.resume_reading()


def _wake(future: asyncio.Future[None] | None) -> None:
    if future is not None and not future.done():
        future.set_result(None)
