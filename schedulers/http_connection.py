"""Connections to a scheduler's API that stay open: HTTP/1.1, whole answers. What is sent is written here and answers are taken apart by
httptools: `http.client` and urllib3 take longer over a small request than the scheduler does."""

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

WHOLE = 30.0  # seconds in which an answer must be whole,
RATE = (
    1 << 17
)  # and one more for each so many bytes that came: a long list over a slow line is no hang
_AT_ONCE = 1 << 18  # bytes read by one call
_IDLE = 60.0  # seconds after which one is not used again: what stands between may have dropped it without a word
_PORTS = {"http": 80, "https": 443}
_NO_WORD = re.compile(r"[\x00-\x20\x7f]")
_NO_VALUE = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")


@dataclass
class Answer:
    """`headers` by names in small letters; of one that comes twice the last."""

    status: int = 0
    headers: dict[str, str] = field(default_factory=dict)
    data: bytes = b""


class Link:
    """For one thread at a time. `timeout`: seconds of silence, `connect` those of making it, where they differ; an answer that comes bit by bit
    has a limit as a whole, too. Raises OSError (among them ssl.SSLError and TimeoutError), and ValueError for what cannot be sent; after any of
    these it is of no use any more."""

    def __init__(
        self,
        to: SplitResult,
        timeout: float,
        *,
        tls: ssl.SSLContext | None = None,
        name: str = "",
        connect: float = 0,
    ):
        host = to.hostname or ""
        self._socket: socket.socket = socket.create_connection(
            (host, to.port or _PORTS[to.scheme]), connect or timeout
        )
        try:
            self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if to.scheme == "https":
                self._socket = (tls or _usual_tls()).wrap_socket(
                    self._socket, server_hostname=name or host
                )
        except BaseException:
            self.close()
            raise
        self._host, self._silence = to.netloc.rpartition("@")[2], timeout
        self.is_open, self._used = True, time.monotonic()

    def send(
        self, method: str, path: str, body: bytes | None, headers: Mapping[str, str]
    ) -> Answer:
        """The answer, of whichever status."""
        self._socket.settimeout(self._silence)
        self._socket.sendall(_head(method, path, self._host, headers, body) + (body or b""))
        return self._answer()

    def is_usable(self) -> bool:
        """The other end has not closed it meanwhile: then there would be something to read."""
        poll = select.poll()
        poll.register(self._socket.fileno(), select.POLLIN)
        return self.is_open and time.monotonic() - self._used < _IDLE and not poll.poll(0)

    def close(self) -> None:
        self.is_open = False
        self._socket.close()

    def _heard(self, until: float) -> bytes:
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
            data = self._heard(until)
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


class Links:
    """From any thread: those that are not in use are kept, and of all there are so many at most; who finds none free waits for one."""

    def __init__(self, make: Callable[[], Link], most: int):
        self._make = make
        self._idle: list[Link] = []
        self._room = threading.BoundedSemaphore(most)

    @contextmanager
    def one(self) -> Iterator[Link]:
        """It is kept if all goes well. Raises what Link raises."""
        with self._room:
            link = self._kept() or self._make()
            try:
                yield link
            except BaseException:
                link.close()
                raise
            if link.is_open:
                self._idle.append(link)
            else:
                link.close()

    def _kept(self) -> Link | None:
        while self._idle:
            link = self._idle.pop()
            if link.is_usable():
                return link
            link.close()
        return None


class _Reading:
    """What httptools calls while it reads one answer."""

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
        if self.is_whole:  # something behind the answer, which nobody asked for
            self.stays = False
            return
        status = self.parser.get_status_code()
        self.status = status if status >= 200 else 0  # before it there may be a "go on"

    def on_body(self, data: bytes) -> None:
        if not self.is_whole:
            self.parts.append(data)

    def on_message_complete(self) -> None:
        if self.status and not self.is_whole:
            self.is_whole, self.stays = True, self.parser.should_keep_alive()
        else:
            self.headers = {}


@cache
def _usual_tls() -> ssl.SSLContext:
    """With this machine's authorities, which are read once: that takes longer than a request."""
    return ssl.create_default_context()


def _head(
    method: str, path: str, host: str, headers: Mapping[str, str], body: bytes | None
) -> bytes:
    """Raises ValueError for what would be another request than the one that was meant."""
    if _NO_WORD.search(path):
        raise ValueError("a path holds a space or a control character")
    if any(_NO_VALUE.search(value) for value in headers.values()):
        raise ValueError("a header holds a control character")
    length = f"Content-Length: {len(body)}\r\n" if body is not None else ""
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    return f"{method} {path} HTTP/1.1\r\nHost: {host}\r\n{lines}{length}\r\n".encode("latin-1")
