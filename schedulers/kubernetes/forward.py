"""Connect to a port of a pod over the API server's websocket (portforward, v4.channel.k8s.io).

Each message is one byte for the channel, followed by data: 0 carries the bytes both ways, 1 why the
node cannot connect. Both begin with two bytes for the port. The official client's `portforward`
polls and copies in Python threads of its own; this is one thread for each connection as well, but it
waits for data.
"""

from __future__ import annotations

import asyncio
import socket
import threading
from typing import Any

from schedulers.kubernetes.client import Client
from schedulers.kubernetes.exec import PROTOCOL

DATA, ERROR = 0, 1
PART = 64 << 10
MOST = 16 << 20  # bytes of one message


def connect(wire: Client, path: str, port: int) -> socket.socket:
    """Return a socket that is connected to a port of the pod at `path`. Raises OSError."""
    ours, theirs = socket.socketpair()
    opened: list[BaseException | None] = []
    ready = threading.Event()

    def run() -> None:
        try:
            asyncio.run(_forward(wire, f"{path}/portforward?ports={port}", theirs, ready))
        except Exception as error:
            opened.append(error)
        finally:
            theirs.close()
            ready.set()

    threading.Thread(target=run, name="kubernetes-forward", daemon=True).start()
    ready.wait()
    if opened:
        ours.close()
        raise OSError(str(opened[0])) from opened[0]
    return ours


async def _forward(wire: Client, path: str, sock: socket.socket, ready: threading.Event) -> None:
    """Pass bytes until one side ends; the protocol cannot close one direction alone."""
    from websockets.exceptions import ConnectionClosed

    async with await _open(wire, path) as websocket:
        sock.setblocking(False)
        reader, writer = await asyncio.open_connection(sock=sock)
        ready.set()

        async def send() -> None:
            while data := await reader.read(PART):
                await websocket.send(bytes([DATA]) + data)

        async def receive() -> None:
            started: set[int] = set()
            async for message in websocket:
                channel, data = message[0], message[1:]
                if channel not in started:  # the number of the port
                    started.add(channel)
                elif channel == DATA:
                    writer.write(data)
                    await writer.drain()
                else:
                    return  # the node could not connect, or lost the connection

        tasks = [asyncio.ensure_future(one()) for one in (send, receive)]
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in tasks:
                task.cancel()
            done = await asyncio.gather(*tasks, return_exceptions=True)
            writer.close()
        for error in done:
            if isinstance(error, Exception) and not isinstance(error, ConnectionClosed | OSError):
                raise error


async def _open(wire: Client, path: str) -> Any:
    from websockets.asyncio.client import connect as open_websocket
    from websockets.typing import Subprotocol

    from schedulers.kubernetes.transport import CONNECT

    access = wire.access
    return await open_websocket(
        f"ws{access.server.removeprefix('http')}{path}",
        ssl=access.tls(),
        additional_headers={"Authorization": bearer} if (bearer := access.bearer()) else {},
        max_size=MOST,
        proxy=None,
        subprotocols=[Subprotocol(PROTOCOL)],
        open_timeout=CONNECT,
        close_timeout=1,
        compression=None,
        server_hostname=access.server_name or None,
    )
