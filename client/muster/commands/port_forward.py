"""`muster port-forward`: reach a port of a running job at a local one."""

from __future__ import annotations

import asyncio
import sys
from typing import Annotated

from typer import Argument, Option

from muster.errors import Conflict
from muster.forwarding import port_named
from muster.options import Commands
from muster.output import Session

COMMANDS = {"port-forward": ("app", 25, "Forward a local port to a port of a running job.")}
app = Commands(help="Forward a local port to a port of a running job.")


@app.command("port-forward")
def port_forward(
    session: Session,
    job: Annotated[str, Argument(metavar="JOB", help="Job number, such as 12, or id.")],
    port: Annotated[str, Argument(metavar="PORT", help="Number or name of a port of its spec.")],
    local: Annotated[
        int | None,
        Option("--local", "-l", min=0, max=65535, metavar="PORT", help="Default: the same number."),
    ] = None,
    address: Annotated[
        str, Option("--address", metavar="ADDRESS", help="Where to listen.")
    ] = "127.0.0.1",
) -> None:
    """Forward a local port to a port of a running job until Ctrl-C.

    muster port-forward 12 8888, then open http://127.0.0.1:8888. Any protocol over TCP works.
    """
    found = port_named(session.client.jobs.get(job).raw["ports"], port)
    wanted = found["port"] if local is None else local

    async def serve() -> None:
        forwarder = session.client.jobs.forwarder(
            found, lambda text: print(f"muster: {text}", file=sys.stderr)
        )
        try:
            server = await forwarder.listen(wanted, address)
        except OSError as error:
            raise Conflict(
                f"Port {wanted} of this machine cannot be used: {error.strerror or error}. Choose "
                "another one with --local, or --local 0 for any free one.",
                code="port_in_use",
            ) from error
        async with server:
            number = server.sockets[0].getsockname()[1]
            print(f"{address}:{number} -> job {job}, port {found['port']}", flush=True)
            await server.serve_forever()

    asyncio.run(serve())
