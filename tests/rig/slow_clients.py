"""Slow clients for the tests of limits, bounded in number and time, only on loopback."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

KINDS = ("head", "body", "login", "reader")
MOST, LONGEST = 1000, 300.0  # connections; seconds
_PAUSE = 1.0


def _opening(kind: str, port: int, path: str, token: str) -> bytes:
    """Return what such a client sends at once; one byte per second follows, except from readers."""
    host = f"Host: 127.0.0.1:{port}\r\n"
    form = "Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 5000\r\n\r\na"
    return {
        "head": f"GET / HTTP/1.1\r\n{host}X-A: ",
        "body": f"POST /identity/o/api/token HTTP/1.1\r\n{host}{form}",
        "login": f"POST /accounts/login/ HTTP/1.1\r\n{host}{form}",
        "reader": f"GET {path} HTTP/1.1\r\n{host}Authorization: Bearer {token}\r\n\r\n",
    }[kind].encode()


@contextmanager
def slow_clients(
    port: int, kind: str, count: int, *, path: str = "/", token: str = "", seconds: float = 60
) -> Iterator[list[socket.socket]]:
    """Open `count` connections of one kind to 127.0.0.1 and yield their sockets.

    They end with the block or after `seconds`.
    """
    assert count <= MOST and seconds <= LONGEST
    opening, made, stop = _opening(kind, port, path, token), [], threading.Event()
    try:
        for _ in range(count):
            sock = socket.socket()
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            made.append(sock)
            sock.settimeout(10)
            sock.connect(("127.0.0.1", port))
            sock.sendall(opening)
        dripping = threading.Thread(
            target=_drip, args=([] if kind == "reader" else made, stop, seconds), daemon=True
        )
        dripping.start()
        yield made
    finally:
        stop.set()
        for sock in made:
            sock.close()


def _drip(sockets: list[socket.socket], stop: threading.Event, seconds: float) -> None:
    for _ in range(int(seconds / _PAUSE)):
        if stop.wait(_PAUSE):
            return
        for sock in sockets:
            with suppress(OSError):  # closed by the server
                sock.send(b"a")
