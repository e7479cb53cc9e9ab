"""Forward local connections to a port of a job: bytes of TCP over one HTTP upgrade each."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Callable
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from muster.errors import MusterError, NotFound

if TYPE_CHECKING:
    from muster.shapes.jobs import JobPortShape

_PROTOCOL = "muster-tcp"
_HEAD = 64 << 10
_PART = 256 << 10
_TIMEOUT = 30  # seconds


class Forwarder:
    """A local port whose connections lead to the port of a job.

    `url` is the `program_url` of the port. `warn` gets one sentence for a connection that failed.
    """

    def __init__(self, url: str, token: str, warn: Callable[[str], None]):
        parts = urlsplit(url)
        self._host, self._path = parts.hostname or "", parts.path
        self._port = parts.port or (443 if parts.scheme == "https" else 80)
        self._netloc, self._token, self._warn = parts.netloc, token, warn
        self._context = ssl.create_default_context() if parts.scheme == "https" else None

    async def listen(self, port: int, host: str = "127.0.0.1") -> asyncio.Server:
        """Return the local server; port 0 chooses one. Raises OSError."""
        return await asyncio.start_server(self._accept, host, port)

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            async with asyncio.timeout(_TIMEOUT):
                inside = await self.connect()
        except (OSError, MusterError, asyncio.IncompleteReadError) as error:
            self._warn(str(error) or "The gateway does not answer.")
            writer.close()
            return
        try:
            await asyncio.gather(_copy(reader, inside[1]), _copy(inside[0], writer))
        except OSError:
            pass  # one side has left; the other one is closed as well
        finally:
            writer.close()
            inside[1].close()

    async def connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """Open one connection to the port of the job. Raises MusterError, OSError."""
        reader, writer = await asyncio.open_connection(
            self._host, self._port, ssl=self._context, limit=_PART
        )
        writer.write(
            f"GET {self._path} HTTP/1.1\r\nHost: {self._netloc}\r\nConnection: Upgrade\r\n"
            f"Upgrade: {_PROTOCOL}\r\nAuthorization: Bearer {self._token}\r\n\r\n".encode()
        )
        head = await reader.readuntil(b"\r\n\r\n")
        status = head.split(b" ", 2)[1]
        if status != b"101":
            text = (await reader.read(_HEAD)).decode(errors="replace").strip()
            writer.close()
            raise MusterError(text or f"The gateway answered {status.decode()}.")
        return reader, writer


def port_named(ports: list[JobPortShape], name: str) -> JobPortShape:
    """Return the port of a job with this name or number. Raises NotFound."""
    for port in ports:
        if name in (port["name"], str(port["port"])):
            return port
    known = ", ".join(f"{port['name']} ({port['port']})" for port in ports) or "none"
    raise NotFound(
        f"The job has no port {name}. Its ports: {known}. Add `ports: [{name}]` to its spec."
    )


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while data := await reader.read(_PART):
        writer.write(data)
        await writer.drain()
    if writer.can_write_eof():
        writer.write_eof()
