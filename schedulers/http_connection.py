"""Keep HTTP/1.1 connections to the API of a scheduler open.

Requests are written by hand and responses are parsed by httptools: `http.client` and urllib3 take
longer over a small request than the scheduler does.
"""

from __future__ import annotations

import re
import select
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from typing import Any
from urllib.parse import SplitResult

import httptools

WHOLE = 30.0  # seconds in which a response must be complete,
# plus one second per this many bytes received: a long list over a slow line is no hang
RATE = 1 << 17
_AT_ONCE = 1 << 18  # bytes per read
_IDLE = 60.0  # seconds until an idle connection is dropped: a proxy may have closed it silently
_PORTS = {"http": 80, "https": 443}
_NO_WORD = re.compile(r"[\x00-\x20\x7f]")
_NO_VALUE = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")


@dataclass
class Answer:
    """A response. Header names are in lower case; of a repeated header the last value is kept."""

    status: int = 0
    headers: dict[str, str] = field(default_factory=dict)
    data: bytes = b""


class Connection:
    """A connection, used by one thread at a time.

    `timeout` is the limit on silence in seconds. A response that trickles in is limited as a whole,
    too. Raises OSError (including ssl.SSLError and TimeoutError), and ValueError for a request that
    cannot be sent; the connection is unusable after either.
    """

    def __init__(self, to: SplitResult, timeout: float):
        host = to.hostname or ""
        self._socket: socket.socket = socket.create_connection(
            (host, to.port or _PORTS[to.scheme]), timeout
        )
        try:
            self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if to.scheme == "https":
                self._socket = _default_tls().wrap_socket(self._socket, server_hostname=host)
        except BaseException:
            self.close()
            raise
        self._host, self._silence = to.netloc.rpartition("@")[2], timeout
        self.is_open, self._used = True, time.monotonic()

    def send(
        self, method: str, path: str, body: bytes | None, headers: Mapping[str, str]
    ) -> Answer:
        """Send a request and return the response, whatever its status."""
        self._socket.settimeout(self._silence)
        self._socket.sendall(_head(method, path, self._host, headers, body) + (body or b""))
        return self._answer()

    def is_usable(self) -> bool:
        """Return whether the connection can be reused.

        If the peer had closed it, the socket would be readable.
        """
        poll = select.poll()
        poll.register(self._socket.fileno(), select.POLLIN)
        return self.is_open and time.monotonic() - self._used < _IDLE and not poll.poll(0)

    def close(self) -> None:
        self.is_open = False
        self._socket.close()

    def _receive(self, until: float) -> bytes:
        left = until - time.monotonic()
        if left <= 0:
            raise TimeoutError("the answer came too slowly")
        self._socket.settimeout(min(self._silence, left))
        return self._socket.recv(_AT_ONCE)

    def _answer(self) -> Answer:
        reading = _Reading()
        parser = reading.parser = httptools.HttpResponseParser(reading)
        until = time.monotonic() + WHOLE
        while not reading.is_whole:
            data = self._receive(until)
            until += len(data) / RATE
            if not data:
                if not reading.ends_with_the_connection:
                    raise ConnectionResetError(
                        "the connection was closed before the answer was whole"
                    )
                break
            try:
                parser.feed_data(data)
            except httptools.HttpParserError as error:
                raise ConnectionError(f"the answer is no HTTP: {error}") from error
        self.is_open, self._used = reading.stays, time.monotonic()
        return Answer(reading.status, reading.headers, b"".join(reading.parts))


class ConnectionPool:
    """A thread-safe connection pool with a maximum size; callers wait for a free connection."""

    def __init__(self, make: Callable[[], Connection], most: int):
        self._make = make
        self._idle: list[Connection] = []
        self._slots = threading.BoundedSemaphore(most)

    @contextmanager
    def one(self) -> Iterator[Connection]:
        """Lend a connection, and keep it unless an error occurs. Raises what Connection raises."""
        with self._slots:
            link = self._reusable() or self._make()
            try:
                yield link
            except BaseException:
                link.close()
                raise
            if link.is_open:
                self._idle.append(link)
            else:
                link.close()

    def _reusable(self) -> Connection | None:
        while self._idle:
            link = self._idle.pop()
            if link.is_usable():
                return link
            link.close()
        return None


class _Reading:
    """Callbacks of httptools while it parses one response."""

    def __init__(self) -> None:
        self.parser: Any = None
        self.status, self.is_whole, self.stays = 0, False, False
        self.headers: dict[str, str] = {}
        self.parts: list[bytes] = []

    @property
    def ends_with_the_connection(self) -> bool:
        return bool(self.status) and not self.headers.keys() & {
            "content-length",
            "transfer-encoding",
        }

    def on_header(self, name: bytes, value: bytes) -> None:
        if not self.is_whole:
            self.headers[name.decode("latin-1").lower()] = value.decode("latin-1")

    def on_headers_complete(self) -> None:
        if self.is_whole:  # unexpected data after the response
            self.stays = False
            return
        status = self.parser.get_status_code()
        # an informational response (1xx) may come first
        self.status = status if status >= 200 else 0

    def on_body(self, data: bytes) -> None:
        if not self.is_whole:
            self.parts.append(data)

    def on_message_complete(self) -> None:
        if self.status and not self.is_whole:
            self.is_whole, self.stays = True, self.parser.should_keep_alive()
        else:
            self.headers = {}


@cache
def _default_tls() -> ssl.SSLContext:
    """Return the default TLS context.

    Cached, as loading the CA certificates takes longer than a request.
    """
    return ssl.create_default_context()


def _head(
    method: str, path: str, host: str, headers: Mapping[str, str], body: bytes | None
) -> bytes:
    """Format the request head.

    Raises ValueError for characters that would allow request smuggling.
    """
    if _NO_WORD.search(path):
        raise ValueError("a path holds a space or a control character")
    if any(_NO_VALUE.search(value) for value in headers.values()):
        raise ValueError("a header holds a control character")
    length = f"Content-Length: {len(body)}\r\n" if body is not None else ""
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    return f"{method} {path} HTTP/1.1\r\nHost: {host}\r\n{lines}{length}\r\n".encode("latin-1")
