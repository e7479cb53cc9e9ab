"""Forward local connections to a port of a job, each over a websocket."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING

from muster.errors import NotFound
from muster.websocket import NotOpened, connect

if TYPE_CHECKING:
    from muster.shapes.jobs import JobPortShape

_TIMEOUT = 30  # seconds


class Forwarder:
    """A local port whose connections lead to the port of a job.

    `url` is the `program_url` of the port. `warn` gets one sentence for a connection that failed.
    """

    def __init__(self, url: str, token: str, warn: Callable[[str], None]):
        self._url, self._token, self._warn = url, token, warn

    async def listen(self, port: int, host: str = "127.0.0.1") -> asyncio.Server:
        """Return the local server; port 0 chooses one. Raises OSError."""
        return await asyncio.start_server(self._accept, host, port)

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            async with asyncio.timeout(_TIMEOUT):
                inside = await connect(self._url, self._token)
        except (OSError, NotOpened) as error:
            self._warn(str(error) or "The gateway does not answer.")
            writer.close()
        else:
            await inside.carry(reader, writer)


def port_named(ports: list[JobPortShape], name: str) -> JobPortShape:
    """Return the port of a job with this name or number. Raises NotFound."""
    for port in ports:
        if name in (port["name"], str(port["port"])):
            return port
    known = ", ".join(f"{port['name']} ({port['port']})" for port in ports) or "none"
    raise NotFound(
        f"The job has no port {name}. Its ports: {known}. Add `ports: [{name}]` to its spec."
    )
