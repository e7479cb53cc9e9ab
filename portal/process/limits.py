"""Limits of embedded mode, where no nginx receives requests: bodies, and open files."""

from __future__ import annotations

import asyncio
import resource
from contextlib import suppress
from functools import cache
from tempfile import SpooledTemporaryFile
from typing import IO

from portal.core.disk import full_disk
from portal.core.errors import PortalError, RequestTimeout, TooLarge
from portal.core.protocols import Protocol, protocol_at
from portal.process.asgi_types import ASGIApp, Message, Receive, Send
from portal.settings import env

BODY_SECONDS = 60.0
_IN_MEMORY = 64 << 10  # bytes of a body in memory; longer ones go to a temporary file
_PIECE = 64 << 10
# Seconds to read after a refusal: closing with unread data would lose the response.
_LINGER = 2.0
_MAX_FILES = 16384


def raise_file_limit() -> None:
    """Raise the soft limit on open files, because each connection takes one."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _MAX_FILES if hard == resource.RLIM_INFINITY else min(hard, _MAX_FILES)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


class BufferedBodies:
    """ASGI middleware that receives a complete request body before it calls the application.

    So a slow client occupies no thread. Bodies that are too large or too slow are refused. Uploads of
    files may take long, while something arrives in each `seconds`.
    """

    def __init__(self, app: ASGIApp, seconds: float = BODY_SECONDS) -> None:
        self._app, self._seconds = app, seconds

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        headers = dict(scope["headers"])
        length = int(headers.get(b"content-length", 0))
        if not length and b"transfer-encoding" not in headers:
            await self._app(scope, receive, send)
            return
        with SpooledTemporaryFile(_IN_MEMORY, dir=_folder()) as body:
            try:
                protocol, path = protocol_at(scope["path"]), scope["path"]
                async with asyncio.timeout(self._seconds) as deadline:
                    came = self._extending(receive, deadline)
                    size = await _receive(
                        came if protocol.is_upload(path) else receive,
                        body,
                        length,
                        protocol.most_bytes(path),
                    )
            except _Disconnected:
                return
            except (PortalError, OSError) as error:
                await _refuse(receive, send, _refusal(error), protocol_at(scope["path"]))
                return
            body.seek(0)
            scope["headers"] = [
                *(pair for pair in scope["headers"] if pair[0] not in _FRAMING),
                (b"content-length", b"%d" % size),
            ]
            await self._app(scope, _Replay(body, size, receive), send)

    def _extending(self, receive: Receive, deadline: asyncio.Timeout) -> Receive:
        """Return an ASGI `receive` that moves the deadline with each message."""

        async def extended() -> Message:
            message = await receive()
            deadline.reschedule(asyncio.get_running_loop().time() + self._seconds)
            return message

        return extended


_FRAMING = {b"content-length", b"transfer-encoding"}


@cache
def _folder() -> str:
    """Return the folder of long bodies: the temporary folder of the system may be in memory."""
    return str(env.home())


class _Disconnected(Exception):
    """The client disconnected before its request was complete."""


async def _receive(receive: Receive, body: IO[bytes], length: int, most: int) -> int:
    """Write the body to the file and return its size. Raises TooLarge and _Disconnected."""
    size, has_more = 0, True
    while True:
        if max(size, length) > most:
            raise TooLarge(f"This takes at most {most:,} bytes.", data={"most_bytes": most})
        if not has_more:
            return size
        message = await receive()
        if message["type"] == "http.disconnect":
            raise _Disconnected
        size += body.write(message.get("body", b""))
        has_more = message.get("more_body", False)


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


def _refusal(error: Exception) -> PortalError:
    """Return the error to send. Raises what is neither a timeout nor a full disk."""
    if isinstance(error, PortalError):
        return error
    if isinstance(error, TimeoutError):
        return RequestTimeout("The request came too slowly. Send it again.")
    if disk := full_disk(error):
        return disk
    raise error


async def _refuse(receive: Receive, send: Send, error: PortalError, protocol: Protocol) -> None:
    """Send the error as programs expect it, and read on briefly, so that they receive it."""
    body = protocol.render_error(error)
    headers = [
        (b"content-type", protocol.error_type.encode()),
        (b"content-length", b"%d" % len(body)),
        (b"connection", b"close"),
        (b"cache-control", b"no-store"),
    ]
    await send({"type": "http.response.start", "status": error.http, "headers": headers})
    await send({"type": "http.response.body", "body": body, "more_body": True})
    with suppress(TimeoutError):
        async with asyncio.timeout(_LINGER):
            while (await receive()).get("more_body", False):
                continue
    await send({"type": "http.response.body", "body": b"", "more_body": False})
