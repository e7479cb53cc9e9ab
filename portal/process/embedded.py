"""Embedded mode: one process with uvicorn, Django in a thread pool, and background loops."""

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

from portal.process.limits import raise_file_limit
from portal.process.lock import HomeLock
from portal.process.sockets import listen
from portal.process.words import Welcome, say

if TYPE_CHECKING:
    from portal.process.asgi_types import ASGIApp

_M_ARENA_MAX = -8
_SHUTDOWN_TIMEOUT = 5  # seconds for open requests and websockets at shutdown


def run_embedded(host: str, home: Path) -> int:
    """Run until SIGTERM or SIGINT; return the exit status."""
    lock = HomeLock(home)
    lock.take()
    _limit_malloc_arenas()
    import django

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "portal.settings")
    django.setup()
    from django.conf import settings

    from portal.background import Background, embedded_loops
    from portal.celery import app as tasks
    from portal.process import gateway
    from portal.process.garbage import collect_garbage
    from portal.process.installation import check_home
    from portal.process.prepare import isolation_lines, prepare

    sock = listen(host, settings.MUSTER_PORT)
    first = prepare()
    check_home(home)
    isolation, refusals = isolation_lines()
    from portal.asgi import application

    tasks.loader.import_default_modules()  # the ticker runs tasks by name
    loops = embedded_loops()
    if settings.MUSTER_EMBEDDED:
        loops += [gateway.serve, collect_garbage]
    background = Background(loops)
    welcome = Welcome(
        settings.MUSTER_BASE_URL,
        first.email,
        first.password,
        home,
        first.is_new,
        isolation=isolation,
        refusals=refusals,
    )

    def started() -> None:
        background.start()
        say(welcome.text())
        gc.collect()
        gc.freeze()

    serve(application, sock, started)
    left = background.stop()
    say(
        "Stopped. Jobs keep running; Muster finds them at its next start."
        + (f" (still busy: {', '.join(left)})" if left else "")
    )
    lock.release()
    return 0


def serve(app: ASGIApp, sock: socket.socket, started: Callable[[], None]) -> None:
    """Serve `app` on `sock` until SIGTERM or SIGINT; call `started` once it accepts requests."""
    import uvicorn

    raise_file_limit()

    class Server(uvicorn.Server):
        loop: asyncio.AbstractEventLoop | None = None
        stopping = asyncio.Event()

        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets)
            if self.started:
                started()

        async def main_loop(self) -> None:
            """Tick once per second, and at once on a signal; uvicorn's own loop ticks ten times."""
            self.loop = asyncio.get_running_loop()
            while not await self.on_tick(0):
                with suppress(TimeoutError):
                    await asyncio.wait_for(self.stopping.wait(), 1.0)

        def handle_exit(self, sig: int, frame: FrameType | None) -> None:
            super().handle_exit(sig, frame)
            if self.loop:
                self.loop.call_soon_threadsafe(self.stopping.set)

    config = uvicorn.Config(
        app,
        http="h11",
        ws="websockets-sansio",
        loop="asyncio",
        lifespan="off",
        log_level="warning",
        access_log=False,
        server_header=False,
        date_header=True,
        timeout_graceful_shutdown=_SHUTDOWN_TIMEOUT,
        timeout_keep_alive=30,
        ws_max_size=1 << 20,
        proxy_headers=False,
        ws_ping_interval=20,
        ws_ping_timeout=20,
    )
    # After its shutdown uvicorn raises the signal again; a handler must let ours finish.
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: None)
    asyncio.run(Server(config).serve([sock]))


def _limit_malloc_arenas() -> None:
    """Limit glibc to two malloc arenas: one per thread costs much memory."""
    try:
        ctypes.CDLL(None).mallopt(_M_ARENA_MAX, 2)
    except (OSError, AttributeError):
        return  # not glibc
