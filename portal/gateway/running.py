"""Run the gateway: in a process of its own, or as a thread of the embedded portal."""

from __future__ import annotations

import asyncio
import logging
import signal
import socket
import threading
from collections.abc import Callable

from portal.gateway.server import Gateway

log = logging.getLogger(__name__)


def run_process(sock: socket.socket, gateway: Callable[[], Gateway]) -> None:
    """Serve on a socket until SIGTERM or SIGINT."""

    async def main() -> None:
        stop, loop = asyncio.Event(), asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, stop.set)
        await gateway().serve(sock, stop)

    _run(main)


def run_thread(sock: socket.socket, gateway: Callable[[], Gateway], stop: threading.Event) -> None:
    """Serve on a socket until `stop` is set."""

    async def main() -> None:
        stopped = asyncio.Event()
        loop = asyncio.get_running_loop()

        def wait() -> None:
            stop.wait()
            loop.call_soon_threadsafe(stopped.set)

        waiting = threading.Thread(target=wait, name="gateway-stop", daemon=True)
        waiting.start()
        await gateway().serve(sock, stopped)
        waiting.join()

    _run(main)


def _run(main: Callable[[], object]) -> None:
    with asyncio.Runner(loop_factory=_loop_factory()) as runner:
        runner.run(main())  # type: ignore[arg-type]


def _loop_factory() -> Callable[[], asyncio.AbstractEventLoop] | None:
    """Return uvloop's, or None for asyncio's own where there is no wheel of uvloop."""
    try:
        import uvloop
    except ImportError:
        return None
    return uvloop.new_event_loop  # type: ignore[no-any-return]
