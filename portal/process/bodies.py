"""Receive request bodies: the head of a request is judged first, then its bytes are streamed.

The application reads a large body as it comes, so nothing of a body is kept that no view asks for:
of a stranger, of an address that does not exist, beyond a quota.
"""

from __future__ import annotations

import asyncio
import json
import threading
from collections import Counter, deque
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from portal.core import clock
from portal.core.errors import (
    NotAuthenticated,
    PortalError,
    RateLimited,
    RequestTimeout,
    TooLarge,
    Unavailable,
)
from portal.core.messages import Message
from portal.core.protocols import BODY, Protocol, protocol_at
from portal.process.asgi_types import ASGIApp, Receive, Send
from portal.process.asgi_types import Message as AsgiMessage

SMALL = 64 << 10  # bytes; such a body is received into memory before a thread is used
SECONDS = 60.0  # for a small body, and between two pieces of an upload
_AHEAD = 512 << 10  # bytes of a body that are received before the application reads them
_LONGEST_ANSWER = 8 << 10  # bytes of an answer that nginx sends for us
# Seconds to read after a refusal: closing with unread data would lose the response.
_LINGER = 2.0
_RETRY_SECONDS = 5
LOWEST_RATE = 16 << 10  # bytes a second of an upload whose place others want
WINDOW = 60.0  # seconds over which it is measured
_FRAMING = {b"content-length", b"transfer-encoding"}


class BodyWanted(BaseException):
    """The application reads the body of a request of which only the head is judged."""


class _Unreadable(OSError):
    """The body ended early, or is refused."""


class Pace:
    """How fast the bytes of an upload come, over the last one to two windows.

    Times in which the portal itself does not take more count for nobody.
    """

    def __init__(self, now: float) -> None:
        self._since = self._before = now, 0, 0.0  # time, bytes, and seconds that were not theirs

    def note(self, now: float, size: int, ours: float) -> None:
        """Note that `size` bytes have come, and that the portal made the client wait `ours` s."""
        if now - self._since[0] >= WINDOW:
            self._before, self._since = self._since, (now, size, ours)

    def rate(self, now: float, size: int, ours: float) -> float | None:
        """Return bytes a second; None before a whole window of the client's time has passed."""
        at, before, waited = self._before
        seconds = now - at - (ours - waited)
        return (size - before) / seconds if seconds >= WINDOW else None


class Uploads:
    """Bounds the large bodies in progress, in all and for each person.

    A person has at most as many places as are left for others. When none is left, the slowest
    upload below LOWEST_RATE gives its place up.
    """

    def __init__(self, total: int, each: int) -> None:
        self.total, self._each = total, each
        self._lock, self._places = threading.Lock(), dict[BodyStream, str]()

    def check(self, person: str) -> None:
        """Raise RateLimited or Unavailable if no further body is taken from a person now."""
        with self._lock:
            self._check(person)

    def begin(self, stream: BodyStream, person: str) -> None:
        """Give a body a place. Raises as `check` does."""
        with self._lock:
            self._check(person)
            self._places[stream] = person

    def end(self, stream: BodyStream) -> None:
        with self._lock:
            self._places.pop(stream, None)

    def _check(self, person: str) -> None:
        later = {"retry_after": _RETRY_SECONDS}
        while True:
            mine = Counter(self._places.values())[person]
            left = self.total - len(self._places)
            if mine >= self._each:
                raise RateLimited(
                    Message("You have {n} uploads in progress. Wait until one ends.", n=mine),
                    data=later,
                )
            if mine < left:
                return
            if slow := self._slowest():
                del self._places[slow]
                slow.give_up()
            elif left:
                raise RateLimited(
                    Message(
                        "You have {n} uploads in progress, and the other {left} places are left "
                        "for other people. Wait until one ends.",
                        n=mine,
                        left=left,
                    ),
                    data=later,
                )
            else:
                raise Unavailable(
                    Message("{n} uploads are in progress. Try again in a moment.", n=self.total),
                    code="too_many_uploads",
                    data=later,
                )

    def _slowest(self) -> BodyStream | None:
        rates = ((stream.rate(), stream) for stream in self._places)
        slow = [(rate, stream) for rate, stream in rates if rate is not None]
        rate, stream = min(slow, key=lambda pair: pair[0], default=(LOWEST_RATE, None))
        return stream if rate < LOWEST_RATE else None


class BodyStream:
    """A large body as `wsgi.input`: a thread reads what the event loop receives.

    Nothing is received before the first read, which needs somebody to account it to: `who` returns
    them, "" for a stranger. `announced` is the Content-Length, None without one.
    """

    def __init__(
        self, receive: Receive, first: bytes, announced: int | None, most: int, uploads: Uploads
    ) -> None:
        self.announced = announced
        self.who: Callable[[], str] = _nobody
        self.failure: PortalError | None = None
        self.is_complete = self.is_head = self.is_wanted = False
        self._receive, self._most, self._uploads = receive, most, uploads
        self._pieces, self._ready, self._size = deque([first]), len(first), len(first)
        self._changed = threading.Condition()
        self._loop, self._drained = asyncio.get_running_loop(), asyncio.Event()
        self._receiving: asyncio.Task[None] | None = None
        self._is_over = self._is_begun = False
        self._pace, self._waited, self._waits_since = Pace(clock.monotonic()), 0.0, 0.0
        self.seconds = SECONDS
        self.deadline: float | None = None  # of the whole body; None: `seconds` for each piece

    def read(self, size: int = -1) -> bytes:
        """Return `size` bytes, or less at the end. Raises OSError if the client left."""
        self._begin()
        taken: list[bytes] = []
        left = self._most + 1 if size < 0 else size
        while left:
            with self._changed:
                self._changed.wait_for(
                    lambda: self._is_over or self._ready >= min(left, _AHEAD // 2)  # noqa: B023
                )
                if not self._ready:
                    break
                piece = self._take(left)
            taken.append(piece)
            left -= len(piece)
        if not taken and size and not self.is_complete:
            raise _Unreadable("the body is incomplete")
        return b"".join(taken)

    def readline(self, size: int = -1) -> bytes:
        """Return a line, or `size` bytes of it."""
        line = bytearray()
        while len(line) != size and (byte := self.read(1)):
            line += byte
            if byte == b"\n":
                break
        return bytes(line)

    def _take(self, most: int) -> bytes:
        piece = self._pieces.popleft()
        if len(piece) > most:
            self._pieces.appendleft(piece[most:])
            piece = piece[:most]
        self._ready -= len(piece)
        if self._ready < _AHEAD and not self._is_over:
            self._loop.call_soon_threadsafe(self._drained.set)
        return piece

    def _begin(self) -> None:
        if self._is_begun:
            return
        try:
            person = self.who()
            if not person:
                raise NotAuthenticated(
                    Message("Sign in, or send an access token: Authorization: Bearer mst_…")
                )
            if self.is_head:
                self._uploads.check(person)
                self.is_wanted = True
                raise BodyWanted
            self._uploads.begin(self, person)
        except PortalError as error:
            self.failure = error
            raise _Unreadable("the body is refused") from error
        self._is_begun, self._pace = True, Pace(clock.monotonic())
        self._loop.call_soon_threadsafe(self._start)

    def _start(self) -> None:
        if not self._is_over:
            self._receiving = self._loop.create_task(self._receive_all())

    async def _receive_all(self) -> None:
        try:
            while not self._is_over:
                self._accept(await self._next())
                if self._ready >= _AHEAD:
                    self._drained.clear()
                    self._waits_since = clock.monotonic()
                    await self._drained.wait()
                    self._waited, self._waits_since = self._ours(clock.monotonic()), 0.0
        except PortalError as error:
            self.failure = error
        except TimeoutError:
            self.failure = RequestTimeout("The request came too slowly. Send it again.")
        finally:
            self._end()

    async def _next(self) -> AsgiMessage:
        until = self.deadline or self._loop.time() + self.seconds
        async with asyncio.timeout_at(until):
            return await self._receive()

    def _ours(self, now: float) -> float:
        """Return the seconds in which the application has not read what came."""
        return self._waited + (now - self._waits_since if self._waits_since else 0)

    def rate(self) -> float | None:
        """Return the bytes a second that came lately; None if that is not known yet."""
        now = clock.monotonic()
        return None if self._is_over else self._pace.rate(now, self._size, self._ours(now))

    def give_up(self) -> None:
        """End the body for others who wait. Call it from any thread."""
        self._loop.call_soon_threadsafe(self._give_up)

    def _give_up(self) -> None:
        if self._is_over:
            return
        self.failure = RequestTimeout(
            Message(
                "Less than {n} KiB a second of this upload came for a minute, and others waited "
                "for its place. What a resumable upload has received is kept. Go on in a moment.",
                n=LOWEST_RATE >> 10,
            ),
            code="upload_too_slow",
            data={"retry_after": _RETRY_SECONDS},
        )
        self.stop()

    def _accept(self, message: AsgiMessage) -> None:
        data = message.get("body", b"")
        self._size += len(data)
        now = clock.monotonic()
        self._pace.note(now, self._size, self._ours(now))
        if self._size > self._most:
            raise too_large(self._most)
        is_last = not message.get("more_body", False)  # also of a client that left
        with self._changed:
            self._pieces.append(data)
            self._ready += len(data)
            self.is_complete = is_last and message["type"] == "http.request"
            self._is_over = is_last
            self._changed.notify()

    def _end(self) -> None:
        with self._changed:
            self._is_over = True
            self._changed.notify()

    def stop(self) -> None:
        """Receive nothing more: the response begins."""
        if self._receiving is not None:
            self._receiving.cancel()
        self._end()

    def close(self) -> None:
        """Stop, and let others upload."""
        self.stop()
        self._uploads.end(self)


def _nobody() -> str:
    return ""


class Bodies:
    """ASGI middleware that gives requests with a small body, or none, to `pages`.

    They are complete, so a slow client occupies no thread of it. `streams` gets those with a large
    body, or one that waits for "100 Continue", as a `BodyStream` in the scope. With
    `judges_heads`, a request with the header Muster-Head is answered 204 if its body is wanted,
    else 403, with the refusal in headers: nginx asks so before it says "100 Continue".
    """

    def __init__(
        self,
        pages: ASGIApp,
        streams: ASGIApp,
        uploads: Uploads,
        *,
        seconds: float = SECONDS,
        judges_heads: bool = False,
    ) -> None:
        self._pages, self._streams, self._uploads = pages, streams, uploads
        self._seconds, self._judges_heads = seconds, judges_heads

    async def __call__(self, scope: AsgiMessage, receive: Receive, send: Send) -> None:
        headers = dict(scope["headers"])
        head = headers.get(b"muster-head") if self._judges_heads else None
        length = headers.get(b"content-length") if head is None else head.partition(b"=")[2]
        announced = int(length) if length and length.isdigit() else None
        if head is None and not announced and b"transfer-encoding" not in headers:
            await self._pages(scope, receive, send)
            return
        protocol = protocol_at(scope["path"])
        is_upload = protocol.is_upload(scope["path"])
        most, first = protocol.most_bytes(scope["path"]), b""
        deadline = asyncio.get_running_loop().time() + self._seconds
        is_small = (announced or 0) <= SMALL and b"expect" not in headers and head is None
        try:
            if (announced or 0) > most:
                raise too_large(most)
            if is_small:
                async with asyncio.timeout_at(deadline) as limit:
                    extended = self._extending(receive, limit) if is_upload else receive
                    first, is_complete = await _receive_small(extended, most)
                if is_complete:
                    scope["headers"] = _framed(scope, len(first))
                    await self._pages(scope, _replaying(first, receive), send)
                    return
        except _Disconnected:
            return
        except (PortalError, TimeoutError) as error:
            refusal = (
                error
                if isinstance(error, PortalError)
                else RequestTimeout("The request came too slowly. Send it again.")
            )
            answer: _Answer | _HeadAnswer = _Answer(receive, send, protocol, None)
            if head is not None:
                answer = _HeadAnswer(send, protocol)
            await answer.refuse(refusal)
            return
        stream = BodyStream(receive, first, announced, most, self._uploads)
        stream.deadline = None if is_upload else deadline
        stream.seconds = self._seconds
        scope["headers"] = _framed(scope, most if announced is None else announced)
        scope[BODY] = stream
        if head is None:
            await self._stream(scope, stream, _Answer(receive, send, protocol, stream))
        else:
            await self._judge(scope, stream, _HeadAnswer(send, protocol))

    def _extending(self, receive: Receive, deadline: asyncio.Timeout) -> Receive:
        """Return an ASGI `receive` that moves the deadline with each message."""

        async def extended() -> AsgiMessage:
            message = await receive()
            deadline.reschedule(asyncio.get_running_loop().time() + self._seconds)
            return message

        return extended

    async def _stream(self, scope: AsgiMessage, stream: BodyStream, answer: _Answer) -> None:
        try:
            await self._streams(scope, answer.receive, answer.send)
        finally:
            stream.close()

    async def _judge(self, scope: AsgiMessage, stream: BodyStream, answer: _HeadAnswer) -> None:
        stream.is_head = True
        with suppress(BodyWanted):
            await self._streams(scope, _never, answer.collect)
        if stream.failure:
            await answer.refuse(stream.failure)
        else:
            await answer.finish(is_wanted=stream.is_wanted)


async def _never() -> AsgiMessage:
    await asyncio.Event().wait()
    raise AssertionError


def too_large(most: int) -> TooLarge:
    return TooLarge(f"This takes at most {most:,} bytes.", data={"most_bytes": most})


def _framed(scope: AsgiMessage, size: int) -> list[tuple[bytes, bytes]]:
    """Return the headers of a request with this length. WSGI knows no other framing."""
    kept = [pair for pair in scope["headers"] if pair[0] not in _FRAMING]
    return [*kept, (b"content-length", b"%d" % size)]


class _Disconnected(Exception):
    """The client disconnected before its request was complete."""


async def _receive_small(receive: Receive, most: int) -> tuple[bytes, bool]:
    """Return the first bytes of a body, and whether they are all. Raises TooLarge."""
    taken, has_more = bytearray(), True
    while has_more and len(taken) <= SMALL:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise _Disconnected
        taken += message.get("body", b"")
        has_more = message.get("more_body", False)
    if len(taken) > most:
        raise too_large(most)
    return bytes(taken), not has_more


def _replaying(body: bytes, receive: Receive) -> Receive:
    """Return an ASGI `receive` that returns the body, then the client's further events."""
    left = [body]

    async def replayed() -> AsgiMessage:
        if left:
            return {"type": "http.request", "body": left.pop(), "more_body": False}
        return await receive()

    return replayed


class _Answer:
    """Sends the response to a request whose body may not have come.

    A refusal of the body replaces what the application says about it.
    """

    def __init__(
        self, receive: Receive, send: Send, protocol: Protocol, stream: BodyStream | None
    ) -> None:
        self._receive, self._send = receive, send
        self._protocol, self._stream = protocol, stream
        self._is_refused = self._lingers = False

    async def receive(self) -> AsgiMessage:
        """Return the client's events after the body."""
        while True:
            message = await self._receive()
            if message["type"] == "http.disconnect":
                return message

    async def send(self, message: AsgiMessage) -> None:
        assert self._stream is not None
        if self._is_refused:
            return
        if message["type"] == "http.response.start":
            self._stream.stop()
            if self._stream.failure:
                self._is_refused = True
                await self.refuse(self._stream.failure)
                return
            if not self._stream.is_complete:
                self._lingers = True
                message["headers"] = [*message["headers"], (b"connection", b"close")]
        elif self._lingers and not message.get("more_body", False):
            await self._send({**message, "more_body": True})
            await self._linger()
            message = {"type": "http.response.body", "body": b"", "more_body": False}
        await self._send(message)

    async def refuse(self, error: PortalError) -> None:
        """Send the error as programs expect it, and read on briefly, so that they receive it."""
        body, headers = refusal(error, self._protocol)
        headers += [
            (b"content-length", b"%d" % len(body)),
            (b"connection", b"close"),
            (b"cache-control", b"no-store"),
        ]
        await self._send({"type": "http.response.start", "status": error.http, "headers": headers})
        await self._send({"type": "http.response.body", "body": body, "more_body": True})
        await self._linger()
        await self._send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _linger(self) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(_LINGER):
                while (await self._receive()).get("more_body", False):
                    continue


def refusal(error: PortalError, protocol: Protocol) -> tuple[bytes, list[tuple[bytes, bytes]]]:
    """Return the body of an error response, and its headers."""
    headers = {"Content-Type": protocol.error_type}
    if protocol.error_headers:
        headers |= protocol.error_headers(error)
    if "retry_after" in error.data:
        headers["Retry-After"] = str(error.data["retry_after"])
    pairs = [(name.lower().encode(), value.encode("latin1")) for name, value in headers.items()]
    return protocol.render_error(error), pairs


class _HeadAnswer:
    """Tells nginx whether a body is wanted, else the refusal, which nginx sends."""

    _PASSED = frozenset({b"www-authenticate", b"retry-after", b"x-error-code"})

    def __init__(self, send: Send, protocol: Protocol) -> None:
        self._send, self._protocol = send, protocol
        self._status, self._headers, self._body = 0, list[tuple[bytes, bytes]](), bytearray()

    async def collect(self, message: AsgiMessage) -> None:
        """Take a message of the response that the application made without the body."""
        if message["type"] == "http.response.start":
            self._status, self._headers = message["status"], list(message["headers"])
        elif len(self._body) <= _LONGEST_ANSWER:
            self._body += message.get("body", b"")

    async def finish(self, *, is_wanted: bool) -> None:
        """Answer for the application. A success is repeated when the request itself comes."""
        if is_wanted or self._status < 400:
            await self._answer(204, [], b"")
        else:
            await self._refuse(self._status, self._headers, bytes(self._body))

    async def refuse(self, error: PortalError) -> None:
        body, headers = refusal(error, self._protocol)
        await self._refuse(error.http, headers, body)

    async def _refuse(self, status: int, headers: list[tuple[bytes, bytes]], body: bytes) -> None:
        passed = [(b"muster-" + name, value) for name, value in headers if name in self._PASSED]
        passed += [
            (b"muster-status", b"%d" % status),
            (b"muster-x-error-message", _sentence_in(body)),
        ]
        await self._answer(403, passed, body)

    async def _answer(self, status: int, headers: list[Any], body: bytes) -> None:
        await self._send({"type": "http.response.start", "status": status, "headers": headers})
        await self._send({"type": "http.response.body", "body": body, "more_body": False})


def _sentence_in(body: bytes) -> bytes:
    """Return what an error in JSON says, for a header; "" for any other body."""
    try:
        found = json.loads(body)
        text = next(found[key] for key in ("detail", "error", "message") if key in found)
        return str(text).encode("ascii", "replace").replace(b"\n", b" ")[:500]
    except (ValueError, TypeError, StopIteration):
        return b""
