"""A CONNECT proxy on loopback for clients that resolve names themselves, such as obstore.

The proxy resolves a host once, checks its addresses as `portal.core.outbound` does, and connects to
one that passed. TLS stays between the client and the host. Depends on no Django.
"""

from __future__ import annotations

import hmac
import secrets
import socket
import threading
from base64 import b64encode
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from portal.core import addresses

_CONNECTING = 10.0  # seconds
_LONGEST_HEAD, _PIECE = 8192, 64 << 10  # bytes


@contextmanager
def checked_proxy() -> Iterator[str]:
    """Run a proxy inside the block and yield its address, which holds its password."""
    password = secrets.token_urlsafe(24)
    expected = b"basic " + b64encode(f"muster:{password}".encode())
    with socket.create_server(("127.0.0.1", 0), backlog=64) as server:
        port = server.getsockname()[1]
        threading.Thread(
            target=_accept, args=(server, expected), name="outbound-proxy", daemon=True
        ).start()
        try:
            yield f"http://muster:{password}@127.0.0.1:{port}"
        finally:
            with suppress(OSError):
                server.shutdown(socket.SHUT_RDWR)  # wakes `accept`


def _accept(server: socket.socket, expected: bytes) -> None:
    while True:
        try:
            client, _address = server.accept()
        except OSError:  # closed
            return
        threading.Thread(
            target=_serve, args=(client, expected), name="outbound-tunnel", daemon=True
        ).start()


def _serve(client: socket.socket, expected: bytes) -> None:
    with client, suppress(OSError, ValueError):
        client.settimeout(_CONNECTING)
        host, port, password = _read_head(client)
        if not hmac.compare_digest(password, expected):
            client.sendall(b"HTTP/1.1 407 Proxy Authentication Required\r\n\r\n")
            return
        try:
            server = addresses.connect(host, port, is_trusted=False, seconds=_CONNECTING)
        except addresses.AddressNotAllowed:
            client.sendall(b"HTTP/1.1 403 Address Not Allowed\r\n\r\n")
            return
        except OSError:
            client.sendall(b"HTTP/1.1 502 No Connection\r\n\r\n")
            return
        with server:
            client.sendall(b"HTTP/1.1 200 Connected\r\n\r\n")
            back = threading.Thread(target=_copy, args=(server, client), daemon=True)
            back.start()
            _copy(client, server)
            back.join()


def _read_head(client: socket.socket) -> tuple[str, int, bytes]:
    """Return host, port and credentials of a CONNECT request. Raises ValueError, OSError."""
    head = b""
    while b"\r\n\r\n" not in head:
        data = client.recv(1024)
        head += data
        if not data or len(head) > _LONGEST_HEAD:
            raise ValueError
    first, *lines = head.split(b"\r\n")
    method, target, _version = first.decode("ascii").split(" ")
    host, _colon, port = target.rpartition(":")
    if method != "CONNECT" or not host:
        raise ValueError
    for line in lines:
        field, _, value = line.partition(b":")
        if field.lower() == b"proxy-authorization":
            kind, _space, password = value.strip().partition(b" ")
            return host.strip("[]"), int(port), kind.lower() + b" " + password
    return host.strip("[]"), int(port), b""


def _copy(source: socket.socket, target: socket.socket) -> None:
    """Copy until one side closes. The client has timeouts of its own."""
    source.settimeout(None)
    source.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    with suppress(OSError):
        while data := source.recv(_PIECE):
            target.sendall(data)
    with suppress(OSError):
        target.shutdown(socket.SHUT_WR)
