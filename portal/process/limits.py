"""Limit connections and request bodies, so that slow clients do not exhaust threads or memory.

`Connection` (uvicorn's protocol) limits the time and size of request heads, and the number of
connections. `Limits` (ASGI) buffers each request body before calling the application, and
disconnects clients that read too slowly.
"""

from __future__ import annotations

import asyncio
import json
import re
import resource
import uuid
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from tempfile import SpooledTemporaryFile
from typing import IO, Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from portal.core.errors import InvalidInput, PortalError, RequestTimeout, TooLarge
from portal.process.asgi_types import ASGIApp, Message, Receive, Send

HEAD_SECONDS = 15.0  # for a request head, also on a keep-alive connection
HEAD_BYTES = 64 << 10
MOST_CONNECTIONS, MOST_FILES = 4096, 16384
# One address may have this fraction of all connections.
SHARES = 4
# Seconds to flush the end of a response from the write buffer.
FLUSH_SECONDS = 60.0
BODY = 2_621_440  # bytes of a form or JSON body
LARGE_BODIES = (  # routes that accept more
    (re.compile(r"/api/v1/orgs/[^/]+/people/import|/api/v1/agent/samples"), 8 << 20),
    (re.compile(r"/scim/v2/.+"), 4 << 20),
)
_IN_MEMORY = 64 << 10  # bytes of a body in memory; longer ones go to a temporary file
_PIECE = 64 << 10
_MOST_FRAMING = (
    # Bytes received per byte of body; chunks of one byte need 6.
    16
)
# Seconds to read after a rejection: closing with unread data would lose the response.
_LINGER = 2.0
_TOO_MANY = (
    b"HTTP/1.1 503 Service Unavailable\r\nContent-Type: text/plain; charset=utf-8\r\n"
    b"Content-Length: 40\r\nRetry-After: 10\r\nCache-Control: no-store\r\n"
    b"Connection: close\r\n\r\nToo many connections from this address.\n"
)
# ASGI extension of our connections: close at once and discard unsent data.
_DROP = "muster.drop"


@dataclass(frozen=True)
class Pace:
    """The minimum speed of a client.

    Each pause must be shorter than `silence`, and the total shorter than `silence` plus size /
    `rate`.
    """

    silence: float
    rate: float = 8 << 10  # bytes per second

    def left(self, waited: float, size: int) -> float:
        """Return the seconds that may pass before the next bytes."""
        return min(self.silence, self.silence + size / self.rate - waited)


SENDING, READING = Pace(15.0), Pace(60.0)


def most_bytes(path: str) -> int:
    """Return the size limit of a request body in bytes."""
    return next((most for route, most in LARGE_BODIES if route.fullmatch(path)), BODY)


def allow_connections() -> int:
    """Return the limit of connections, after raising the soft limit on open files."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MOST_FILES if hard == resource.RLIM_INFINITY else min(hard, MOST_FILES)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        with suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
            soft = wanted
    return MOST_CONNECTIONS if soft == resource.RLIM_INFINITY else min(MOST_CONNECTIONS, soft // 2)


class Connection(HttpToolsProtocol):
    """A connection. Above the limit, the one idle for longest is closed."""

    most = MOST_CONNECTIONS
    share = MOST_CONNECTIONS // SHARES

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._is_in_body, self._body_bytes, self._raw_bytes = False, 0, 0
        self._flush: asyncio.TimerHandle | None = None
        self._await_head()
        if self._is_over_share():
            transport.write(_TOO_MANY)
            transport.close()
            return
        if len(self.connections) > self.most:
            waiting = [
                other
                for other in self.connections
                if isinstance(other, Connection) and other.is_waiting
            ]
            min(
                waiting, key=lambda other: other.since
            ).transport.abort()  # never empty: this connection is idle too

    def _is_over_share(self) -> bool:
        """Return whether its address has too many connections, including websockets."""
        if self.client is None or len(self.connections) <= self.share:
            return False
        clients = (getattr(other, "client", None) for other in self.connections)
        return sum(client[0] == self.client[0] for client in clients if client) > self.share

    @property
    def is_waiting(self) -> bool:
        """Return whether no request is in progress."""
        return self.cycle is None or self.cycle.response_complete

    def _await_head(self) -> None:
        self.since, self._head_bytes = self.loop.time(), 0
        self._deadline: asyncio.TimerHandle | None = self.loop.call_later(
            HEAD_SECONDS, self.transport.abort
        )

    def _end_head(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def data_received(self, data: bytes) -> None:
        if self._deadline is None and self.is_waiting:
            self._await_head()
        is_head = self._deadline is not None
        super().data_received(data)
        if self._is_in_body:
            self._raw_bytes += len(data)
            if self._raw_bytes > 2 * HEAD_BYTES + _MOST_FRAMING * self._body_bytes:
                self.transport.abort()
        if is_head and self._deadline is not None:
            self._head_bytes += len(data)
            if self._head_bytes > HEAD_BYTES:
                self.transport.abort()

    def on_message_begin(self) -> None:
        super().on_message_begin()
        # A pipelined request.
        if self._deadline is None:
            self._await_head()
        self._is_in_body, self._body_bytes, self._raw_bytes = False, 0, 0
        self.scope["extensions"] = {_DROP: self.transport.abort}  # type: ignore[typeddict-item, dict-item]

    def on_header(self, name: bytes, value: bytes) -> None:
        if not self._is_in_body:  # ignore trailers
            super().on_header(name, value)

    def on_headers_complete(self) -> None:
        self._end_head()
        self._is_in_body = True
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        self._body_bytes += len(body)
        super().on_body(body)

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self.since = self.loop.time()
        if self.transport.get_write_buffer_size() and self._flush is None:
            self._flush = self.loop.call_later(FLUSH_SECONDS, self._drop_unread)

    def _drop_unread(self) -> None:
        self._flush = None
        if self.is_waiting and self.transport.get_write_buffer_size():
            self.transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        self._end_head()
        if self._flush is not None:
            self._flush.cancel()
        super().connection_lost(exc)


class Limits:
    """Buffer request bodies before calling the application, and reject large or slow ones."""

    def __init__(self, app: ASGIApp, sending: Pace = SENDING, reading: Pace = READING) -> None:
        self._app, self._sending, self._reading = app, sending, reading

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        send = _PacedSend(send, self._reading, scope.get("extensions", {}).get(_DROP))
        length, is_chunked = _framing(scope["headers"])
        if not length and not is_chunked:
            await self._app(scope, receive, send)
            return
        if _is_upgrade(scope["headers"]):
            await _send_error(scope["path"], receive, send, _UPGRADE)
            return
        with SpooledTemporaryFile(_IN_MEMORY) as body:
            try:
                size = await self._receive(receive, body, length, most_bytes(scope["path"]))
            except _Disconnected:
                return
            except PortalError as error:
                await _send_error(scope["path"], receive, send, error)
                return
            except OSError:
                await _send_error(scope["path"], receive, send, _DISK_FULL)
                return
            body.seek(0)
            headers = [
                pair
                for pair in scope["headers"]
                if pair[0] not in {b"content-length", b"transfer-encoding"}
            ]
            framed = {**scope, "headers": [*headers, (b"content-length", b"%d" % size)]}
            await self._app(framed, _Replay(body, size, receive), send)

    async def _receive(self, receive: Receive, body: IO[bytes], length: int, most: int) -> int:
        """Write the body to the file and return its size.

        Raises TooLarge, RequestTimeout, _Gone, and OSError if the disk is full.
        """
        loop, size, has_more = asyncio.get_running_loop(), 0, True
        began = loop.time()
        while has_more:
            if max(size, length) > most:
                raise TooLarge(f"This takes at most {most:,} bytes.", data={"most_bytes": most})
            try:
                async with asyncio.timeout(self._sending.left(loop.time() - began, size)):
                    message = await receive()
            except TimeoutError:
                raise RequestTimeout("The request came too slowly. Send it again.") from None
            if message["type"] == "http.disconnect":
                raise _Disconnected
            data = message.get("body", b"")
            body.write(data)
            size, has_more = size + len(data), message.get("more_body", False)
        if size > most:
            raise TooLarge(f"This takes at most {most:,} bytes.", data={"most_bytes": most})
        return size


class _Disconnected(Exception):
    """The client disconnected before its request was complete."""


class _DiskFull(PortalError):
    code, http, retryable = "disk_full", 503, True


_DISK_FULL = _DiskFull(
    "The portal's disk has no room for this request. Try again later.", data={"retry_after": 10}
)
_UPGRADE = InvalidInput("Send a request that has a body without the header Upgrade.")


class _Replay:
    """An ASGI `receive` that returns the buffered body, then the client's further events."""

    def __init__(self, body: IO[bytes], size: int, receive: Receive) -> None:
        self._body, self._left, self._receive, self._is_sent = body, size, receive, False

    async def __call__(self) -> Message:
        if self._is_sent:
            return await self._receive()
        data = self._body.read(_PIECE)
        self._left -= len(data)
        self._is_sent = not self._left
        return {"type": "http.request", "body": data, "more_body": not self._is_sent}


class _PacedSend:
    """An ASGI `send` in pieces with a deadline each; gives up on clients that are too slow."""

    def __init__(self, send: Send, pace: Pace, drop: Any) -> None:
        self._send, self._pace, self._drop = send, pace, drop
        self._waited, self._size = 0.0, 0

    async def __call__(self, message: Message) -> None:
        body, more = message.get("body", b""), message.get("more_body", False)
        if len(body) <= _PIECE:
            await self._pass(message, len(body))
            return
        for at in range(0, len(body), _PIECE):
            has_more = more or at + _PIECE < len(body)
            await self._pass(
                {**message, "body": body[at : at + _PIECE], "more_body": has_more}, _PIECE
            )

    async def _pass(self, message: Message, size: int) -> None:
        loop = asyncio.get_running_loop()
        began = loop.time()
        try:
            async with asyncio.timeout(self._pace.left(self._waited, self._size)):
                await self._send(message)
        except TimeoutError:
            if self._drop is None:
                raise
            self._drop()
        self._waited += loop.time() - began
        self._size += size


def _framing(headers: Sequence[tuple[bytes, bytes]]) -> tuple[int, bool]:
    """Return the declared length of the body (0 if none), and whether it is chunked."""
    named = dict(headers)
    return int(named.get(b"content-length", 0)), b"transfer-encoding" in named


def _is_upgrade(headers: Sequence[tuple[bytes, bytes]]) -> bool:
    """Return whether the request asks for an upgrade: the parser then ignores its body."""
    connection = b",".join(value for name, value in headers if name == b"connection")
    return b"upgrade" in connection.lower() and b"upgrade" in dict(headers)


async def _send_error(path: str, receive: Receive, send: Send, error: PortalError) -> None:
    """Send the error, and read on briefly, so that the client receives it."""
    headers, body = _answer(path, error)
    await send({"type": "http.response.start", "status": error.http, "headers": headers})
    await send({"type": "http.response.body", "body": body, "more_body": True})
    with suppress(TimeoutError):
        async with asyncio.timeout(_LINGER):
            while (await receive()).get("more_body", False):
                continue
    await send({"type": "http.response.body", "body": b"", "more_body": False})


def _answer(path: str, error: PortalError) -> tuple[list[tuple[bytes, bytes]], bytes]:
    from portal.core.events import request_id
    from portal.web.errors import MACHINES, problem
    from portal.web.requests import CSP

    request_id.set(str(uuid.uuid4()))  # local to the task of this connection
    is_machine = path.startswith(MACHINES)
    body = json.dumps(problem(error)).encode() if is_machine else error.message.encode() + b"\n"
    headers = {
        "content-type": "application/problem+json" if is_machine else "text/plain; charset=utf-8",
        "content-length": str(len(body)),
        "connection": "close",
        "cache-control": "no-store",
        "content-security-policy": CSP,
        "x-content-type-options": "nosniff",
        "x-request-id": request_id.get(),
        **({"retry-after": str(error.data["retry_after"])} if "retry_after" in error.data else {}),
    }
    return [(name.encode(), value.encode()) for name, value in headers.items()], body
