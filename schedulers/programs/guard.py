"""Guard an app that has no secret of its own: pass connections with the session's secret to its socket.

    guard.py PORT SECRET_FILE SOCKET

Listens on loopback, where neighbours on the node can connect, too. The first request of a connection
must bring `Authorization: token SECRET`, as the gateway sends it; then bytes pass both ways to the Unix
socket, which only this user can open. One connection serves one client of ours, so its later requests
need no check. Ends with the app that has the socket. Python 3.9, standard library only.
"""

from __future__ import annotations

import asyncio
import hmac
import os
import sys
import time

PART = 256 << 10
START = 120.0  # seconds until the app has its socket
REFUSAL = (
    b"HTTP/1.1 403 Forbidden\r\nContent-Type: text/plain\r\nContent-Length: 0\r\n"
    b"Connection: close\r\n\r\n"
)


class Guard:
    def __init__(self, secret: str, path: str):
        self.authorization, self.path = f"token {secret}".encode(), path

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Check the first head of a connection, and pass it on with all that follows."""
        try:
            head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), 30)
            if not self.is_allowed(head):
                writer.write(REFUSAL)
                return
            inside, out = await asyncio.open_unix_connection(self.path)
            out.write(head)
            await asyncio.gather(carry(reader, out), carry(inside, writer))
        except (OSError, EOFError, asyncio.TimeoutError, asyncio.LimitOverrunError):  # noqa: UP041
            pass
        finally:
            writer.close()

    def is_allowed(self, head: bytes) -> bool:
        for line in head.split(b"\r\n")[1:]:
            name, _, value = line.partition(b":")
            if name.strip().lower() == b"authorization":
                return hmac.compare_digest(value.strip(), self.authorization)
        return False


async def carry(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while data := await reader.read(PART):
            writer.write(data)
            await writer.drain()
    finally:
        writer.close()


def await_socket(path: str) -> None:
    """Wait until the app listens. Raises SystemExit if it ends before, or takes too long."""
    until = time.monotonic() + START
    while not os.path.exists(path):
        pid, status = os.waitpid(-1, os.WNOHANG)
        if pid or time.monotonic() > until:
            sys.exit(exit_code(status) if pid else "The app does not listen.")
        time.sleep(0.1)


def exit_code(status: int) -> int:
    return os.WEXITSTATUS(status) if os.WIFEXITED(status) else 128 + os.WTERMSIG(status)


async def run(port: int, secret: str, path: str) -> int:
    """Serve until the app ends, which the script has started before it became this program."""
    await asyncio.start_server(Guard(secret, path).serve, "127.0.0.1", port, limit=64 << 10)
    return exit_code((await asyncio.get_running_loop().run_in_executor(None, os.wait))[1])


if __name__ == "__main__":
    await_socket(sys.argv[3])
    with open(sys.argv[2]) as _secret:
        sys.exit(asyncio.run(run(int(sys.argv[1]), _secret.read().strip(), sys.argv[3])))
