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
import socket
import ssl
import sys
from base64 import b64encode
from urllib.parse import unquote, urlsplit
from urllib.request import getproxies, proxy_bypass

SPARE = 3
PART = 256 << 10
TIMEOUT = 20  # seconds
LONGEST_PAUSE = 30.0  # seconds between two tries
LISTEN = "0A"
Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class TunnelRefusal(Exception):
    """The gateway does not want this tunnel: the job has ended for it."""


class Tunnel:
    """The spare connections of one job."""

    def __init__(self, url: str, token: str, ports: list[int]):
        self.parts, self.token, self.ports = urlsplit(url), token, frozenset(ports)
        self.is_secure = self.parts.scheme == "https"
        self.host = self.parts.hostname or ""
        self.port = self.parts.port or (443 if self.is_secure else 80)
        scheme = self.parts.scheme
        self.proxy = "" if proxy_bypass(self.host) else getproxies().get(scheme, "")
        self.busy: set[asyncio.Task[None]] = set()

    async def keep(self) -> None:
        """Keep one spare connection; dial again when it was taken or lost. Ends if refused."""
        pause = 0.5
        while True:
            try:
                streams = await asyncio.wait_for(self.dial(), TIMEOUT)
                pause = 0.5
                line = await streams[0].readline()
                if line:
                    task = asyncio.ensure_future(self.serve(line, streams))
                    self.busy.add(task)
                    task.add_done_callback(self.busy.discard)
                    continue
                streams[1].close()
            except TunnelRefusal:
                return
            except (TimeoutError, OSError, ValueError, asyncio.IncompleteReadError):
                pass
            await asyncio.sleep(pause)
            pause = min(pause * 2, LONGEST_PAUSE)

    async def dial(self) -> Streams:
        """Return a connection that the gateway has taken. Raises OSError, TunnelRefusal."""
        reader, writer = await self.connect()
        path = self.parts.path.rstrip("/") + "/_apps/tunnel"
        writer.write(
            (
                f"GET {path} HTTP/1.1\r\nHost: {self.parts.netloc}\r\nConnection: Upgrade\r\n"
                f"Upgrade: muster-tcp\r\nAuthorization: Bearer {self.token}\r\n\r\n"
            ).encode()
        )
        status = await head(reader)
        if status == 101:
            return reader, writer
        writer.close()
        if status in (400, 401, 403):
            raise TunnelRefusal
        raise OSError(f"the gateway answered {status}")

    async def connect(self) -> Streams:
        context = ssl.create_default_context() if self.is_secure else None
        if not self.proxy:
            return await asyncio.open_connection(self.host, self.port, ssl=context)
        sock = await asyncio.get_running_loop().run_in_executor(None, self.through_proxy)
        name = self.host if context else None
        return await asyncio.open_connection(sock=sock, ssl=context, server_hostname=name)

    def through_proxy(self) -> socket.socket:
        """Return a connection that a proxy has made to the gateway. Raises OSError."""
        proxy = urlsplit(self.proxy if "://" in self.proxy else f"http://{self.proxy}")
        sock = socket.create_connection((proxy.hostname or "", proxy.port or 80), TIMEOUT)
        where, user = f"{self.host}:{self.port}", ""
        if proxy.username:
            pair = f"{unquote(proxy.username)}:{unquote(proxy.password or '')}"
            user = f"Proxy-Authorization: Basic {b64encode(pair.encode()).decode()}\r\n"
        sock.sendall(f"CONNECT {where} HTTP/1.1\r\nHost: {where}\r\n{user}\r\n".encode())
        data = b""
        while not data.endswith(b"\r\n\r\n"):  # byte by byte: what follows is the gateway's
            byte = sock.recv(1)
            if not byte or len(data) > PART:
                raise OSError("the proxy closed the connection")
            data += byte
        if data.split(b" ", 2)[1] != b"200":
            raise OSError("the proxy refused")
        sock.setblocking(False)
        return sock

    async def serve(self, line: bytes, outside: Streams) -> None:
        """Connect a taken connection to the port that it asks for, until one side ends."""
        try:
            port = int(line.split()[1])
            try:
                if port not in self.ports:
                    raise OSError(f"port {port} is not one of this job")
                inside = await asyncio.wait_for(
                    asyncio.open_connection(address_of(port), port), TIMEOUT
                )
            except (TimeoutError, OSError) as error:
                outside[1].write(f"{error}".replace("\n", " ")[:150].encode() + b"\n")
                return
            outside[1].write(b"OK\n")
            try:
                await asyncio.gather(copy(outside[0], inside[1]), copy(inside[0], outside[1]))
            finally:
                inside[1].close()
        except (OSError, ValueError, IndexError):
            pass
        finally:
            outside[1].close()


async def head(reader: asyncio.StreamReader) -> int:
    """Return the status of an answer, without a body."""
    data = await reader.readuntil(b"\r\n\r\n")
    return int(data.split(b" ", 2)[1])


async def copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while True:
        data = await reader.read(PART)
        if not data:
            break
        writer.write(data)
        await writer.drain()
    if writer.can_write_eof():
        writer.write_eof()
    else:
        writer.close()


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
