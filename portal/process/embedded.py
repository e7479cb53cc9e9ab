"""Embedded mode: one process. uvicorn on the event loop, Django in a pool of threads, background loops beside them."""

from __future__ import annotations

import asyncio
import ctypes
import gc
import os
import signal
import socket
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING

from portal.process.lock import HomeLock
from portal.process.words import Welcome, say

if TYPE_CHECKING:
    from portal.process.asgi_types import ASGIApp

_M_ARENA_MAX = -8
_GRACE = 5  # seconds that open requests and sockets get at the end


def run_embedded(host: str, home: Path) -> int:
    """Runs until SIGTERM or SIGINT; returns the exit status."""
    lock = HomeLock(home)
    lock.take()
    _few_arenas()
    import django

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "portal.settings")
    django.setup()
    from django.conf import settings

    from portal.background import Background
    from portal.celery import app as tasks
    from portal.process.installation import check_home
    from portal.process.prepare import isolation_line, listen, prepare

    sock = listen(host, settings.MUSTER_PORT)
    first = prepare()
    check_home(home)
    isolation = isolation_line()
    from portal.asgi import application

    tasks.loader.import_default_modules()  # the ticker runs them by name
    background = Background()
    welcome = Welcome(
        settings.MUSTER_BASE_URL,
        first.email,
        first.password,
        home,
        first.is_new,
        isolation=isolation,
    )

    def started() -> None:
        background.start()
        say(welcome.text())
        gc.collect()
        gc.freeze()

    serve(application, sock, started)
    left = background.stop()
    say(
        "Stopped. Jobs keep running; the next start finds them again."
        + (f" (still busy: {', '.join(left)})" if left else "")
    )
    lock.give_back()
    return 0


def serve(app: ASGIApp, sock: socket.socket, started: Callable[[], None]) -> None:
    """Serves `app` on `sock` until SIGTERM or SIGINT, by uvicorn; calls `started` once it answers."""
    import uvicorn

    from portal.process.limits import SHARES, Connection, allow_connections
    from portal.settings import env

    Connection.most = allow_connections()
    is_behind_proxy = env.flag("MUSTER_BEHIND_PROXY")  # then all connections are the proxy's
    Connection.share = Connection.most if is_behind_proxy else Connection.most // SHARES

    class Server(uvicorn.Server):
        loop: asyncio.AbstractEventLoop | None = None
        told = asyncio.Event()

        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets)
            if self.started:
                started()

        async def main_loop(self) -> None:
            """Once a second for the date in answers, and at once when told to stop; uvicorn's own looks ten times a second."""
            self.loop = asyncio.get_running_loop()
            while not await self.on_tick(0):
                with suppress(TimeoutError):
                    await asyncio.wait_for(self.told.wait(), 1.0)

        def handle_exit(self, sig: int, frame: FrameType | None) -> None:
            super().handle_exit(sig, frame)
            if self.loop:
                self.loop.call_soon_threadsafe(self.told.set)

    config = uvicorn.Config(
        app,
        http=Connection,
        ws="websockets-sansio",
        loop="asyncio",
        lifespan="off",
        log_level="warning",
        access_log=False,
        server_header=False,
        date_header=True,
        timeout_graceful_shutdown=_GRACE,
        timeout_keep_alive=30,
        ws_max_size=1 << 20,
        proxy_headers=False,
        ws_ping_interval=20,
        ws_ping_timeout=20,
    )
    # uvicorn raises the signal again after its own shutdown; it must find a handler that lets us finish ours.
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: None)
    asyncio.run(Server(config).serve([sock]))


def _few_arenas() -> None:
    """glibc gives each thread an arena of its own, which a pool of threads pays for in memory; two are enough."""
    try:
        ctypes.CDLL(None).mallopt(_M_ARENA_MAX, 2)
    except (OSError, AttributeError):
        return  # another C library
