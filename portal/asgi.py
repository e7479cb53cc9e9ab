"""The ASGI application: websockets go to live updates, HTTP to Django as WSGI in a thread pool.

Django handles many times more requests as WSGI than as ASGI (DESIGN §6), so HTTP never runs on the
event loop.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from typing import Any

from portal.process.asgi_types import ASGIApp, Message, Receive, Send
from portal.settings import env

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "portal.settings")

HTTP_THREADS = 8
JUDGING_THREADS = 8  # beside those of uploads in progress, for requests whose head is judged
SENDING_THREADS = 4  # that produce streaming responses
# Key of the ASGI scope: a streaming response that is still to be sent.
_STREAM = "muster.stream"
_PORTION = 64 << 10  # bytes of a streaming response for which a thread is used


class ProtocolRouter:
    """Dispatch each connection to the application for its type.

    Behind a reverse proxy, the client is the last address of X-Forwarded-For, which the proxy has
    written; the client may have forged the others.
    """

    def __init__(self, http: ASGIApp, websocket: ASGIApp, *, is_behind_proxy: bool) -> None:
        self._apps = {"http": http, "websocket": websocket}
        self._is_behind_proxy = is_behind_proxy

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        if self._is_behind_proxy:
            forwarded = [value for name, value in scope["headers"] if name == b"x-forwarded-for"]
            if forwarded:
                scope["client"] = (forwarded[-1].rpartition(b",")[2].strip().decode("latin1"), 0)
        await self._apps[scope["type"]](scope, receive, send)


def threaded_http(
    application: Any = None, *, judges_heads: bool = False, seconds: float | None = None
) -> ASGIApp:
    """Return Django's WSGI application in pools of threads.

    Large bodies, also slow ones, occupy threads of their own (portal/process/bodies.py).
    """
    from django.db import connections

    from portal import wsgi as django
    from portal.core.protocols import BODY
    from portal.process.bodies import SECONDS, Bodies, Uploads

    answered: Any = application or django.application
    uploads = Uploads(
        int(env.text("MUSTER_UPLOADS", "32")), int(env.text("MUSTER_UPLOADS_PER_PERSON", "12"))
    )
    sending = ThreadPoolExecutor(SENDING_THREADS, "sending")

    def deferring(environ: Any, start_response: Any) -> Any:
        """Hold back streaming responses, to produce them at the client's pace without a thread."""
        response = answered(environ, start_response)
        if not getattr(response, "streaming", False):
            return response
        environ["asgi.scope"][_STREAM] = response
        return ()

    def reading(environ: Any, start_response: Any) -> Any:
        """Let the application read a large body as it comes."""
        environ["wsgi.input"] = environ[BODY] = environ["asgi.scope"][BODY]
        try:
            return deferring(environ, start_response)
        finally:
            connections.close_all()  # each of many threads would keep one

    return Bodies(
        _in_threads(deferring, HTTP_THREADS, sending),
        _in_threads(reading, uploads.total + JUDGING_THREADS, sending),
        uploads,
        seconds=SECONDS if seconds is None else seconds,
        judges_heads=judges_heads,
    )


def _in_threads(application: Any, threads: int, sending: Executor) -> ASGIApp:
    """Return a WSGI application in a pool of threads; streams are produced in `sending`."""
    from a2wsgi import WSGIMiddleware

    wsgi: Any = WSGIMiddleware(application, workers=threads)

    async def http(scope: Message, receive: Receive, send: Send) -> None:
        # WSGI expects it escaped, and raw bytes must not cause a server error.
        if not scope["query_string"].isascii():
            scope["query_string"] = "".join(
                f"%{c:02X}" if c > 126 else chr(c) for c in scope["query_string"]
            ).encode()

        async def passed(message: Message) -> None:
            if message["type"] == "http.response.body" and (response := scope.pop(_STREAM, None)):
                await _stream(response, scope["method"] == "HEAD", receive, send, sending)
            await send(message)

        await wsgi(scope, receive, passed)

    return http


async def _stream(
    response: Any, is_head: bool, receive: Receive, send: Send, threads: Executor
) -> None:
    """Send a streaming response piece by piece until it is complete or the client disconnects."""
    loop, pieces, is_last = asyncio.get_running_loop(), iter(response), is_head
    leaving = asyncio.ensure_future(_disconnect(receive))
    try:
        while not (is_last or leaving.done()):
            data, is_last = await loop.run_in_executor(threads, _portion, pieces)
            await send({"type": "http.response.body", "body": data, "more_body": True})
    finally:
        leaving.cancel()
        await loop.run_in_executor(threads, response.close)


def _portion(pieces: Iterator[bytes]) -> tuple[bytes, bool]:
    """Return the next bytes, about _PORTION, and whether they are the last."""
    taken, size = [], 0
    for piece in pieces:
        taken.append(piece)
        size += len(piece)
        if size >= _PORTION:
            return b"".join(taken), False
    return b"".join(taken), True


async def _disconnect(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        continue


def __getattr__(name: str) -> Any:
    """Build `application` on first use: the server stack imports only other functions."""
    if name != "application":
        raise AttributeError(name)
    http = threaded_http()
    from monitoring.live import asgi_app

    globals()["application"] = ProtocolRouter(
        http, asgi_app(), is_behind_proxy=env.flag("MUSTER_BEHIND_PROXY")
    )
    return globals()["application"]
