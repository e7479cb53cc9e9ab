"""Carry the bytes of a TCP connection over a websocket (RFC 6455), to the gateway of a portal.

Binary messages carry them; an empty one says that no more come in its direction. A connection that
ends without one was cut. Muster sends this file to the nodes of jobs as well, where it is part of
programs/tunnel.py: Python 3.9, standard library only.
"""

from __future__ import annotations

import asyncio
import os
import socket
import ssl
from base64 import b64encode
from hashlib import sha1
from urllib.parse import unquote, urlsplit
from urllib.request import getproxies, proxy_bypass

PROTOCOL = "muster-tcp"  # as Sec-WebSocket-Protocol
CONTINUATION, BINARY, CLOSE, PING, PONG = 0, 2, 8, 9, 10
PART = 256 << 10
BEAT = 30.0  # seconds between two pings: proxies close connections on which nothing happens
TIMEOUT = 20.0  # seconds to connect to a proxy
_GUID = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"


class NotOpened(Exception):
    """The gateway, or something before it, has answered with `status` instead."""

    def __init__(self, status: int, text: str):
        super().__init__(text or f"The gateway answered {status}.")
        self.status = status


class WebSocket:
    """The client's end of a websocket. It pings the gateway, and ends if that is silent."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter):
        self._reader, self._writer = reader, writer
        self._is_encrypted = writer.get_extra_info("ssl_object") is not None
        self._left = self._size = 0  # bytes of this frame to come; of this message so far
        self._is_last = True  # frame of its message
        self._is_heard, self._is_waiting = False, False
        self._beats = asyncio.ensure_future(self._beat())

    async def read(self) -> bytes:
        """Return what comes next, or b"" after all. Raises OSError if the connection was cut."""
        try:
            while not self._left:
                is_last, kind, size = await self._head()
                if kind in (CONTINUATION, BINARY):
                    self._size = size + (self._size if kind == CONTINUATION else 0)
                    self._left = size
                    if is_last and not self._size:
                        return b""
                else:
                    data = await self._reader.readexactly(size)
                    if kind == CLOSE:
                        raise ConnectionResetError("The gateway has ended the connection.")
                    if kind == PING:
                        self._send(PONG, data)
            data = await self._reader.read(min(self._left, PART))
        except asyncio.IncompleteReadError:
            data = b""
        if not data:
            raise ConnectionResetError("The connection was interrupted.")
        self._left -= len(data)
        return data

    async def write(self, data: bytes) -> None:
        """Send some bytes; none to say that no more come."""
        self._send(BINARY, data)
        await self._writer.drain()

    async def carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Pass bytes between this websocket and a connection until both directions have ended."""
        try:
            await asyncio.gather(self._carry_in(reader), self._carry_out(writer))
        except OSError:
            pass  # one side has left; the other one is closed as well
        finally:
            writer.close()
            self.close()

    def close(self) -> None:
        self._beats.cancel()
        if not self._writer.is_closing():
            self._send(CLOSE, b"")
            self._writer.close()

    async def _carry_in(self, reader: asyncio.StreamReader) -> None:
        is_open = True
        while is_open:
            data = await reader.read(PART)
            await self.write(data)
            is_open = bool(data)

    async def _carry_out(self, writer: asyncio.StreamWriter) -> None:
        while data := await self.read():
            writer.write(data)
            await writer.drain()
        writer.write_eof()

    async def _head(self) -> tuple[bool, int, int]:
        """Return whether the next frame is the last of its message, its kind and its size."""
        self._is_waiting = True
        first, size = await self._reader.readexactly(2)
        self._is_heard, self._is_waiting = True, False
        if size > 125:
            size = int.from_bytes(await self._reader.readexactly(2 if size == 126 else 8), "big")
        return bool(first & 0x80), first & 0x0F, size

    def _send(self, kind: int, data: bytes) -> None:
        # Masks keep proxies from taking the bytes for HTTP. None reads what is encrypted.
        size, key = len(data), bytes(4) if self._is_encrypted else os.urandom(4)
        if size < 126:
            head = bytes((0x80 | kind, 0x80 | size))
        elif size < 1 << 16:
            head = bytes((0x80 | kind, 0x80 | 126)) + size.to_bytes(2, "big")
        else:
            head = bytes((0x80 | kind, 0x80 | 127)) + size.to_bytes(8, "big")
        self._writer.write(head + key + (masked(data, key) if any(key) else data))

    async def _beat(self) -> None:
        while True:
            await asyncio.sleep(BEAT)
            if self._is_waiting and not self._is_heard:
                self._writer.transport.abort()
            self._is_heard = False
            self._send(PING, b"")


def masked(data: bytes, key: bytes) -> bytes:
    """Return the bytes of a frame as clients send them; as one number, which is fast."""
    size = len(data)
    mask = (key * (size // 4 + 1))[:size]
    return (int.from_bytes(data, "little") ^ int.from_bytes(mask, "little")).to_bytes(
        size, "little"
    )


async def connect(url: str, token: str) -> WebSocket:
    """Open a websocket to the gateway at `url`, through the proxy of the environment, if any.

    Raises OSError, and NotOpened if it is refused.
    """
    parts = urlsplit(url)
    is_secure, host = parts.scheme == "https", parts.hostname or ""
    port = parts.port or (443 if is_secure else 80)
    context = ssl.create_default_context() if is_secure else None
    proxy = "" if proxy_bypass(host) else getproxies().get(parts.scheme, "")
    if proxy:
        loop = asyncio.get_running_loop()
        sock = await loop.run_in_executor(None, _through, proxy, f"{host}:{port}")
        name = host if context else None
        reader, writer = await asyncio.open_connection(sock=sock, ssl=context, server_hostname=name)
    else:
        reader, writer = await asyncio.open_connection(host, port, ssl=context)
    try:
        await _upgrade(reader, writer, parts.path, parts.netloc, token)
    except (asyncio.IncompleteReadError, asyncio.LimitOverrunError) as error:
        writer.close()
        raise ConnectionResetError("The gateway closed the connection.") from error
    except BaseException:
        writer.close()
        raise
    return WebSocket(reader, writer)


async def _upgrade(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, path: str, host: str, token: str
) -> None:
    key = b64encode(os.urandom(16)).decode()
    writer.write(
        (
            f"GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: Upgrade\r\n"
            f"Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {key}\r\n"
            f"Sec-WebSocket-Protocol: {PROTOCOL}\r\nAuthorization: Bearer {token}\r\n\r\n"
        ).encode()
    )
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin1")
    status = int(head.split(" ", 2)[1])
    if status != 101:
        raise NotOpened(status, (await reader.read(PART)).decode(errors="replace").strip()[:500])
    accepted = b64encode(sha1((key + _GUID).encode()).digest()).decode()  # noqa: S324
    if accepted not in head or PROTOCOL not in head:
        raise NotOpened(status, "What answers there is not the gateway of a portal.")


def _through(proxy: str, where: str) -> socket.socket:
    """Return a connection that a proxy has made. Raises OSError."""
    parts = urlsplit(proxy if "://" in proxy else f"http://{proxy}")
    sock = socket.create_connection((parts.hostname or "", parts.port or 80), TIMEOUT)
    user = ""
    if parts.username:
        pair = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
        user = f"Proxy-Authorization: Basic {b64encode(pair.encode()).decode()}\r\n"
    sock.sendall(f"CONNECT {where} HTTP/1.1\r\nHost: {where}\r\n{user}\r\n".encode())
    data = b""
    while not data.endswith(b"\r\n\r\n"):  # byte by byte: what follows is the gateway's
        byte = sock.recv(1)
        if not byte or len(data) > PART:
            sock.close()
            raise OSError("the proxy closed the connection")
        data += byte
    if data.split(b" ", 2)[1] != b"200":
        sock.close()
        raise OSError("the proxy refused")
    sock.setblocking(False)
    return sock
