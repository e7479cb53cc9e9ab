"""Part of the double of Kubernetes: forward a port of a pod over a websocket (v4.channel.k8s.io).

As in a network of its own, only what processes of the container serve is reached.
"""

from __future__ import annotations

import socket
import struct
import threading
from collections.abc import Callable
from contextlib import closing, suppress
from typing import Any, BinaryIO

from schedulers.local import ports, processes
from tests.rig.kubernetes_container import Container
from tests.rig.kubernetes_exec import BINARY, CLOSE, frame

DATA, ERROR = b"\0", b"\1"


def run(container: Container, port: int, received: BinaryIO, send: Callable[[bytes], Any]) -> None:
    """Pass bytes until one side ends."""
    for channel in (DATA, ERROR):
        send(frame(BINARY, channel + struct.pack("<H", port)))
    name, _, value = container.mark.partition("=")
    host = ports.listens(port, processes.leftovers(value, name))
    if not host:
        send(frame(BINARY, ERROR + b"failed to connect: connection refused"))
        send(frame(CLOSE, struct.pack("!H", 1000)))
        return
    with closing(socket.create_connection((host, port), 5)) as sock:
        thread = threading.Thread(target=_answer, args=(sock, send))
        thread.start()
        with suppress(OSError):
            while data := _message(received):
                sock.sendall(data[1:])
        with suppress(OSError):
            sock.shutdown(socket.SHUT_RDWR)
        thread.join()


def _answer(sock: socket.socket, send: Callable[[bytes], Any]) -> None:
    with suppress(OSError):
        while data := sock.recv(1 << 14):
            send(frame(BINARY, DATA + data))
        send(frame(CLOSE, struct.pack("!H", 1000)))


def _message(received: BinaryIO) -> bytes:
    """Return the payload of the next masked frame, or b"" at the end."""
    head = received.read(2)
    if len(head) < 2 or head[0] & 0x0F == CLOSE & 0x0F:
        return b""
    size = head[1] & 0x7F
    if size > 125:
        wide = 2 if size == 126 else 8
        size = int.from_bytes(received.read(wide), "big")
    mask, data = received.read(4), received.read(size)
    key = int.from_bytes((mask * (size // 4 + 1))[:size], "big")
    return (int.from_bytes(data, "big") ^ key).to_bytes(size, "big")
