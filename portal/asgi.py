"""The one door of an ASGI server: websockets to the live hub, everything else to Django by WSGI in a pool of threads.

Django answers many times more requests as WSGI than as ASGI (DESIGN §6), so HTTP never runs on the event loop.
"""

from __future__ import annotations

import asyncio
import os
from concurrent.futures import Executor
from typing import Any

from portal.process.asgi_types import ASGIApp, Message, Receive, Send
from portal.settings import env

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "portal.settings")

HTTP_THREADS = 8
_STREAM = "muster.stream"  # in a scope: the answer whose pieces are still to be made


class Door:
    """Sends each connection to the application for its kind.

    Behind a front server (MUSTER_BEHIND_PROXY) the client is the last address of X-Forwarded-For, which that server
    wrote; earlier ones are what the client claimed.
    """

    def __init__(self, http: ASGIApp, websocket: ASGIApp) -> None:
        self._apps = {"http": http, "websocket": websocket}
        self._is_behind_proxy = env.flag("MUSTER_BEHIND_PROXY")

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        if self._is_behind_proxy:
            said = [value for name, value in scope["headers"] if name == b"x-forwarded-for"]
            if said:
                scope["client"] = (said[-1].rpartition(b",")[2].strip().decode("latin1"), 0)
        await self._apps[scope["type"]](scope, receive, send)


def threaded_http(application: Any = None) -> ASGIApp:
    """Django's WSGI application in a pool of threads."""
    from a2wsgi import WSGIMiddleware

    from portal import wsgi as django
    from portal.process.limits import Limits

    answered: Any = application or django.application

    def deferring(environ: Any, start_response: Any) -> Any:
        """What is made piece by piece is made after the thread is free again, as fast as it is read."""
        response = answered(environ, start_response)
        if not getattr(response, "streaming", False):
            return response
        environ["asgi.scope"][_STREAM] = response
        return ()

    wsgi: Any = WSGIMiddleware(deferring, workers=HTTP_THREADS)

    async def http(scope: Message, receive: Receive, send: Send) -> None:
        # WSGI wants it escaped, and a raw byte must not be a server error
        if not scope["query_string"].isascii():
            scope["query_string"] = "".join(
                f"%{c:02X}" if c > 126 else chr(c) for c in scope["query_string"]
            ).encode()

        async def passed(message: Message) -> None:
            if message["type"] == "http.response.body" and (response := scope.pop(_STREAM, None)):
                await _stream(response, scope["method"] == "HEAD", receive, send, wsgi.executor)
            await send(message)

        await wsgi(scope, receive, passed)

    return Limits(http)


async def _stream(
    response: Any, is_head: bool, receive: Receive, send: Send, threads: Executor
) -> None:
    """The pieces of an answer, a portion at a time, until the client has them or leaves."""
    from portal.process.portions import portion

    loop, pieces, is_last = asyncio.get_running_loop(), iter(response), is_head
    leaving = asyncio.ensure_future(_disconnect(receive))
    try:
        while not (is_last or leaving.done()):
            data, is_last = await loop.run_in_executor(threads, portion, pieces)
            await send({"type": "http.response.body", "body": data, "more_body": True})
    finally:
        leaving.cancel()
        await loop.run_in_executor(threads, response.close)


async def _disconnect(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        continue


def __getattr__(name: str) -> Any:
    """`application` is built at its first use: the server stack imports this module for a door of its own."""
    if name != "application":
        raise AttributeError(name)
    http = threaded_http()
    from monitoring.live import asgi_app

    globals()["application"] = Door(http, asgi_app())
    return globals()["application"]
