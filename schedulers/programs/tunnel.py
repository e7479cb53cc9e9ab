"""Let the portal reach ports of this job: keep a few connections to it open that it can use.

    tunnel.py SETTINGS

The settings are JSON: `url` of the gateway, `token` of the attempt, `ports` that may be reached. The
gateway writes `OPEN PORT` to a spare connection; this program connects to the port, answers `OK` or
why it cannot, and passes bytes both ways. Only what processes of this user serve is reached: others
may run on the same node. Runs until it is killed. Python 3.9, standard library only.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys

from muster.websocket import NotOpened, WebSocket, connect

SPARE = 3
TIMEOUT = 20  # seconds
LONGEST_PAUSE = 30.0  # seconds between two tries
LISTEN = "0A"
REFUSALS = (400, 401, 403)  # statuses: the job has ended for the gateway


class Tunnel:
    """The spare connections of one job."""

    def __init__(self, url: str, token: str, ports: list[int]):
        self.url, self.token, self.ports = (
            f"{url.rstrip('/')}/_apps/tunnel",
            token,
            frozenset(ports),
        )
        self.busy: set[asyncio.Task[None]] = set()

    async def keep(self) -> None:
        """Keep one spare connection; dial again when it was taken or lost. Ends if refused."""
        pause = 0.5
        while True:
            try:
                outside = await asyncio.wait_for(connect(self.url, self.token), TIMEOUT)
                pause = 0.5
                try:
                    line = await read_line(outside)
                except OSError:
                    outside.close()
                else:
                    task = asyncio.ensure_future(self.serve(line, outside))
                    self.busy.add(task)
                    task.add_done_callback(self.busy.discard)
                    continue
            except NotOpened as error:
                if error.status in REFUSALS:
                    return
            except (asyncio.TimeoutError, OSError, ValueError):  # noqa: UP041  Python 3.9
                pass
            await asyncio.sleep(pause)
            pause = min(pause * 2, LONGEST_PAUSE)

    async def serve(self, line: bytes, outside: WebSocket) -> None:
        """Connect a taken connection to the port that it asks for, until both sides end."""
        try:
            try:
                inside = await asyncio.wait_for(self.reach(line), TIMEOUT)
            except (asyncio.TimeoutError, OSError, ValueError, IndexError) as error:  # noqa: UP041  Python 3.9
                why = f"{error}".replace("\n", " ")[:150] or "the port does not answer"
                await outside.write(why.encode() + b"\n")
            else:
                await outside.write(b"OK\n")
                await outside.carry(*inside)
        except OSError:
            pass
        finally:
            outside.close()

    async def reach(self, line: bytes) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """Return a connection to the port that a line asks for. Raises OSError."""
        port = int(line.split()[1])
        if port not in self.ports:
            raise OSError(f"port {port} is not one of this job")
        return await asyncio.open_connection(address_of(port), port)


async def read_line(outside: WebSocket) -> bytes:
    """Return the line with which the gateway takes a connection. Raises OSError."""
    line = b""
    while not line.endswith(b"\n"):
        data = await outside.read()
        if not data:
            raise OSError("the gateway does not want it")
        line += data
    return line


def address_of(port: int) -> str:
    """Return the loopback address at which a process of this user listens. Raises OSError."""
    for table, address, anywhere in (
        ("tcp", "127.0.0.1", ("0100007F", "00000000")),
        ("tcp6", "::1", ("00000000000000000000000001000000", "0" * 32)),
    ):
        try:
            with open(f"/proc/net/{table}") as file:
                lines = file.read().splitlines()[1:]
        except OSError:
            continue
        for line in lines:
            words = line.split()
            host, _, number = words[1].partition(":")
            is_ours = words[3] == LISTEN and words[7] == str(os.getuid())
            if is_ours and int(number, 16) == port and host in anywhere:
                return address
    raise OSError(f"nothing in the job listens on port {port}")


async def run(tunnel: Tunnel) -> None:
    await asyncio.gather(*(tunnel.keep() for _ in range(SPARE)))


if __name__ == "__main__":
    with open(sys.argv[1]) as settings:
        asyncio.run(run(Tunnel(**json.load(settings))))
