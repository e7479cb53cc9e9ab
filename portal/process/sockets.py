"""Listening sockets of a start; without Django, because the gateway uses them, too."""

from __future__ import annotations

import errno
import socket
import time
from pathlib import Path

from portal.process.words import Refusal

_PORT_TIMEOUT = 3.0  # seconds
_UNSENT = 256 << 10  # bytes


def listen(host: str, port: int) -> socket.socket:
    """Return the listening socket. Raises Refusal.

    Waits while the port is in use: the processes of a killed portal need a moment to exit.
    """
    deadline = time.monotonic() + _PORT_TIMEOUT
    while True:
        try:
            return _bind(host, port)
        except OSError as error:
            if error.errno != errno.EADDRINUSE or time.monotonic() > deadline:
                raise Refusal(
                    f"Port {port} on {host} cannot be used: "
                    f"{(error.strerror or str(error)).lower()}.\n"
                    f"Choose another: MUSTER_PORT={port + 1 if port < 65535 else 8000} make run"
                ) from None
        time.sleep(0.1)


def _bind(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # asyncio sets TCP_NODELAY only if the protocol is given.
    sock = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    # Connections inherit it: the kernel buffers no more for a slow reader than is on its way.
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NOTSENT_LOWAT, _UNSENT)
    try:
        sock.bind((host, port))
    except OSError:
        sock.close()
        raise
    sock.listen(2048)
    return sock


def listen_unix(path: Path) -> socket.socket:
    """Return a listening Unix socket that only this user may connect to."""
    path.unlink(missing_ok=True)
    sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    sock.bind(str(path))
    path.chmod(0o600)
    sock.listen(2048)
    return sock
