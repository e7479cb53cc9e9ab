"""A reverse proxy for stacks without nginx: one port for websockets and HTTP.

The live process accepts every connection. It serves websockets itself, and relays HTTP to granian
over keep-alive connections on a Unix socket. Requests are rebuilt from their parsed form, so that
nothing ambiguous passes through (request smuggling).
"""

from __future__ import annotations

import asyncio
from collections import deque
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httptools

from portal.process.asgi_types import Message, Receive, Send
from portal.process.portions import LENGTH, NEXT

_HOP_BY_HOP = frozenset(
    {
        b"connection",
        b"keep-alive",
        b"proxy-authenticate",
        b"proxy-authorization",
        b"te",
        b"trailer",
        b"transfer-encoding",
        b"upgrade",
        b"proxy-connection",
        b"x-muster-client",
        NEXT.encode(),
        b"expect",
    }
)
_MAX_IDLE = 64  # idle connections to granian
_CONNECT_TIMEOUT = 5.0  # seconds to wait while the web process restarts
_HIGH, _LOW = 1 << 18, 1 << 16


class WebGone(Exception):
    """The web process closed the connection before its response was complete."""


@dataclass(frozen=True)
class _Head:
    """The head of a response.

    `following` identifies the rest of a streaming response in the web process; "" if there is none.
    """

    status: int
    headers: list[tuple[bytes, bytes]]
    following: bytes = b""

    @classmethod
    def of(cls, status: int, headers: list[tuple[bytes, bytes]]) -> _Head:
        named = dict(headers)
        following = named.get(NEXT.encode(), b"")
        kept = [pair for pair in headers if pair[0] not in _HOP_BY_HOP]
        if following:  # the Content-Length is that of a portion
            kept = [pair for pair in kept if pair[0] not in {b"content-length", LENGTH.encode()}]
            kept += (
                [(b"content-length", named[LENGTH.encode()])] if LENGTH.encode() in named else []
            )
        return cls(status, kept, following)


class Upstream(asyncio.Protocol):
    """One connection to granian.

    Writes requests, parses responses into a queue, and stops reading while the queue is full.
    """

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self.transport: asyncio.Transport
        self.is_open = True
        self.keep = False
        self._begin(b"GET")

    def _begin(self, method: bytes) -> None:
        self._parser = httptools.HttpResponseParser(self)
        self._events: deque[tuple[str, Any]] = deque()
        self._waiter: asyncio.Future[None] | None = None
        self._headers: list[tuple[bytes, bytes]] = []
        self._buffered, self._is_paused, self._head = 0, False, method == b"HEAD"

    # asyncio.Protocol
    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        self._can_write = asyncio.Event()
        self._can_write.set()

    def pause_writing(self) -> None:
        self._can_write.clear()

    def resume_writing(self) -> None:
        self._can_write.set()

    def data_received(self, data: bytes) -> None:
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserError:
            self.transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        self.is_open = False
        self._can_write.set()
        self._put("lost", None)

    # httptools callbacks
    def on_header(self, name: bytes, value: bytes) -> None:
        self._headers.append((name.lower(), value))

    def on_headers_complete(self) -> None:
        status = self._parser.get_status_code()
        if status >= 200:
            self._put("head", _Head.of(status, self._headers))
            if self._head:  # a response to HEAD has the length of a body that is not sent
                self.keep = self._parser.should_keep_alive()
                self._put("end", None)
        self._headers = []

    def on_body(self, body: bytes) -> None:
        self._buffered += len(body)
        if self._buffered > _HIGH and not self._is_paused:
            self._is_paused = True
            self.transport.pause_reading()
        self._put("body", body)

    def on_message_complete(self) -> None:
        if self._parser.get_status_code() >= 200 and not self._head:
            self.keep = self._parser.should_keep_alive()
            self._put("end", None)

    # own methods
    async def send(self, data: bytes) -> None:
        self.transport.write(data)
        if not self._can_write.is_set():
            await self._can_write.wait()

    def request(self, method: bytes, head: bytes) -> None:
        self._begin(method)
        self.keep = False
        self.transport.write(head)

    async def event(self) -> tuple[str, Any]:
        """Return the next ("head", _Head), ("body", bytes) or ("end", None). Raises WebGone."""
        while not self._events:
            if not self.is_open:
                raise WebGone
            self._waiter = self._loop.create_future()
            await self._waiter
        kind, value = self._events.popleft()
        if kind == "lost":
            raise WebGone
        if kind == "body":
            self._buffered -= len(value)
            if self._is_paused and self._buffered < _LOW:
                self._is_paused = False
                self.transport.resume_reading()
        return kind, value

    def _put(self, kind: str, value: Any) -> None:
        self._events.append((kind, value))
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)


class Relay:
    """An ASGI application that forwards requests to granian."""

    def __init__(self, path: Path) -> None:
        self._path = str(path)
        self._idle: deque[Upstream] = deque(maxlen=_MAX_IDLE)

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        exchange = _Exchange(scope, receive, send)
        try:
            while not await self._try(exchange):
                continue
            while exchange.following:
                await self._try(exchange)
        except (WebGone, OSError):
            if exchange.is_answered:
                raise
            await _send_text(send, 502, "The portal is restarting. Try again in a moment.")

    async def _try(self, exchange: _Exchange) -> bool:
        """Try once; return False if a reused connection was closed and a retry is safe."""
        upstream, is_kept = await self._connection()
        try:
            await exchange.run(upstream)
        except WebGone:
            if is_kept and exchange.may_repeat:
                return False
            raise
        finally:
            self._release(upstream)
        return True

    async def _connection(self) -> tuple[Upstream, bool]:
        """Return an open connection, and whether it is a reused one."""
        while self._idle:
            upstream = self._idle.pop()
            if upstream.is_open:
                return upstream, True
        loop = asyncio.get_running_loop()
        deadline = loop.time() + _CONNECT_TIMEOUT
        while True:
            try:
                return (await loop.create_unix_connection(Upstream, self._path))[1], False
            except (FileNotFoundError, ConnectionRefusedError, BlockingIOError):
                if loop.time() > deadline:
                    raise
                await asyncio.sleep(0.05)

    def _release(self, upstream: Upstream) -> None:
        if upstream.keep and upstream.is_open and len(self._idle) < _MAX_IDLE:
            self._idle.append(upstream)
        else:
            upstream.transport.abort()


def _head(scope: Message) -> tuple[str | None, bytes]:
    """Return how the body is framed ("chunked", "length" or None), and the head of the request."""
    target = scope.get("raw_path") or scope["path"].encode()
    if scope["query_string"]:
        target += b"?" + scope["query_string"]
    names = {name for name, _ in scope["headers"]}
    lines = [b"%s %s HTTP/1.1" % (scope["method"].encode(), target)]
    # WSGI treats `_` and `-` alike: a name with `_` could spoof a header of ours. nginx drops them
    # too.
    lines += [
        name + b": " + value
        for name, value in scope["headers"]
        if name not in _HOP_BY_HOP and b"_" not in name
    ]
    client = scope.get("client")
    lines.append(b"x-muster-client: " + (client[0].encode() if client else b""))
    framing = None
    if b"transfer-encoding" in names:
        lines.append(b"transfer-encoding: chunked")
        framing = "chunked"
    elif b"content-length" in names:
        framing = "length"
    return framing, b"\r\n".join([*lines, b"", b""])


class _Exchange:
    """One request and its response."""

    def __init__(self, scope: Message, receive: Receive, send: Send) -> None:
        self._receive, self._send = receive, send
        self._body, self._head = _head(scope)
        self._method = scope["method"].encode()
        self._is_sent = self._is_disconnected = self.is_answered = self._has_head = False
        # Identifies the rest of the response in the web process.
        self.following = b""

    @property
    def may_repeat(self) -> bool:
        if self.following:
            return not self._has_head
        return (
            not self.is_answered
            and self._body is None
            and self._method in {b"GET", b"HEAD", b"OPTIONS"}
        )

    async def run(self, upstream: Upstream) -> None:
        """Forward the request and the response, or its next portion. Raises WebGone.

        Returns early if the client disconnects.
        """
        if self.following:
            await self._request_next_portion(upstream)
            return
        upstream.request(self._method, self._head)
        self._is_sent = self._body is None
        await self._relay(upstream)

    async def _request_next_portion(self, upstream: Upstream) -> None:
        """Request the next portion, or discard the rest if the client has disconnected."""
        method = b"DELETE" if self._is_disconnected else b"GET"
        upstream.request(
            method,
            b"%s / HTTP/1.1\r\nhost: web\r\n%s: %s\r\n\r\n"
            % (method, NEXT.encode(), self.following),
        )
        self._has_head = False
        if not self._is_disconnected:
            await self._relay(upstream)
            return
        self.following = b""
        with suppress(WebGone):
            while (await upstream.event())[0] != "end":
                continue

    async def _relay(self, upstream: Upstream) -> None:
        listener = asyncio.ensure_future(self._listen(upstream))
        try:
            await self._answer(upstream)
        except WebGone:
            if not self._is_disconnected:
                raise
        finally:
            upstream.keep &= self._is_sent
            listener.cancel()

    async def _listen(self, upstream: Upstream) -> None:
        """Forward the request body, then wait for the client to disconnect.

        A disconnect ends the exchange at once, or after the current portion, whose end tells
        whether there is a rest to discard.
        """
        while True:
            message = await self._receive()
            if message["type"] == "http.disconnect":
                self._is_disconnected = True
                if not self._is_sent or (self._has_head and not self.following):
                    upstream.transport.abort()
                return
            if self._is_sent:
                continue
            if body := message.get("body", b""):
                await upstream.send(
                    b"%x\r\n%s\r\n" % (len(body), body) if self._body == "chunked" else body
                )
            if not message.get("more_body", False):
                if self._body == "chunked":
                    await upstream.send(b"0\r\n\r\n")
                self._is_sent = True

    async def _answer(self, upstream: Upstream) -> None:
        while True:
            kind, value = await upstream.event()
            if kind == "head":
                await self._begin(value)
            elif kind == "body":
                await self._send({"type": "http.response.body", "body": value, "more_body": True})
            else:
                if not self.following:
                    await self._send(
                        {"type": "http.response.body", "body": b"", "more_body": False}
                    )
                return

    async def _begin(self, head: _Head) -> None:
        self._has_head = True
        if self.is_answered:
            if head.status not in {
                200,
                204,
                # It does not know the rest of the response, because it was restarted.
            }:
                raise WebGone
        else:
            self.is_answered = True
            await self._send(
                {"type": "http.response.start", "status": head.status, "headers": head.headers}
            )
        self.following = head.following
        if self._is_disconnected and not self.following:
            raise WebGone


async def _send_text(send: Send, status: int, text: str) -> None:
    body = text.encode() + b"\n"
    headers = [
        (b"content-type", b"text/plain; charset=utf-8"),
        (b"content-length", str(len(body)).encode()),
        (b"retry-after", b"1"),
        (b"cache-control", b"no-store"),
    ]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body, "more_body": False})
