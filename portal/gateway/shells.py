"""Speak SSH with a client, and pass each of its channels on to the shell of a job.

Nothing runs here: a channel is a connection to `schedulers/programs/shell.py` in the job, whose frames
are described there. asyncssh does the protocol; it asks for a key or a certificate of the person whose
token has opened the connection.
"""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import asyncssh

from portal.core.errors import PortalError
from portal.gateway.channels import BUFFER, Channel
from portal.gateway.provider import ShellKeys

Dial = Callable[[], Awaitable[Channel]]
LOOPBACK = ("localhost", "127.0.0.1", "::1", "0.0.0.0", "")
CHANNELS = 64  # of one connection
_MOST_LINE, _MOST_FRAME = 4096, 1 << 20
_LOGIN, _ALIVE = 30, 30  # seconds to sign in; between two signs of life
_ANSWER = 25  # seconds in which a job says whether it can do what was asked
_signing_in: set[asyncio.Task[None]] = set()
_WINDOW = (
    256 << 10
)  # bytes of a shell or command that a client may send before the job has taken them
_SIGNALS = 16  # that wait for a job
_FAILED = 255  # exit code of what did not start, as that of ssh itself


class ShellError(OSError):
    """The shell of the job refuses, or does not answer."""


async def open_shell(
    keys: ShellKeys, secret: str, dial: Dial, on_input: Callable[[], object] = lambda: None
) -> Channel:
    """Return the client's end of an SSH server whose channels lead to what `dial` connects to."""
    ours, theirs = socket.socketpair()
    for sock in (ours, theirs):
        sock.setblocking(False)
    _, channel = await asyncio.get_running_loop().create_connection(Channel, sock=theirs)
    task = asyncio.ensure_future(
        _sign_in(ours, lambda: _Server(keys, secret, dial, on_input), keys)
    )
    _signing_in.add(task)
    task.add_done_callback(_signing_in.discard)
    return channel


async def _sign_in(sock: socket.socket, new_server: Callable[[], _Server], keys: ShellKeys) -> None:
    """Serve SSH on a connection; return when the client has signed in, or failed to."""
    try:
        await asyncssh.run_server(
            sock,
            server_factory=new_server,
            server_host_keys=[asyncssh.import_private_key(keys.host_key)],
            encoding=None,
            window=_WINDOW,
            sftp_factory=None,
            allow_scp=False,
            agent_forwarding=False,
            x11_forwarding=False,
            line_editor=False,
            password_auth=False,
            kbdint_auth=False,
            gss_host=None,
            login_timeout=_LOGIN,
            keepalive_interval=_ALIVE,
            compression_algs=["none"],
        )
    except (OSError, asyncssh.Error):
        sock.close()  # the client has left, or has no key that opens this


class _Server(asyncssh.SSHServer):
    """One connection of a client."""

    def __init__(self, keys: ShellKeys, secret: str, dial: Dial, on_input: Callable[[], object]):
        self._dial, self._secret, self._on_input = dial, secret, on_input
        self._authorities = _public(keys.authorities)
        self._keys = _public(keys.authorized)
        self._count = 0

    def begin_auth(self, username: str) -> bool:
        return True  # the name does not matter: the token has said who it is

    def public_key_auth_supported(self) -> bool:
        return True

    def validate_ca_key(self, username: str, key: asyncssh.SSHKey) -> bool:
        return key.public_data in self._authorities

    def validate_public_key(self, username: str, key: asyncssh.SSHKey) -> bool:
        return key.public_data in self._keys

    def session_requested(self) -> Any:
        return _Session(self._open, self._leave, self._on_input) if self._takes_one() else False

    def connection_requested(
        self, dest_host: str, dest_port: int, orig_host: str, orig_port: int
    ) -> Any:
        if dest_host not in LOOPBACK:
            raise asyncssh.ChannelOpenError(
                asyncssh.OPEN_ADMINISTRATIVELY_PROHIBITED,
                "Only ports of the session itself can be reached: use localhost.",
            )
        return self._connect(dest_port) if self._takes_one() else False

    def _takes_one(self) -> bool:
        if self._count >= CHANNELS:
            return False
        self._count += 1
        return True

    async def _connect(self, port: int) -> _Connection:
        try:
            inside = await self._open({"kind": "connect", "port": port})
            return _Connection(inside, self._leave)
        except (OSError, TimeoutError, PortalError) as error:
            self._leave()
            raise asyncssh.ChannelOpenError(asyncssh.OPEN_CONNECT_FAILED, str(error)) from error

    def _leave(self) -> None:
        self._count -= 1

    async def _open(self, about: dict[str, Any]) -> Channel:
        """Return a channel to the shell of the job. Raises OSError, PortalError."""
        channel = await self._dial()
        try:
            channel.write(json.dumps({**about, "secret": self._secret}).encode() + b"\n")
            async with asyncio.timeout(_ANSWER):
                line = await channel.read_until(b"\n", _MOST_LINE)
            if not line:
                raise ShellError("The session does not answer.")
            if error := json.loads(line).get("error"):
                raise ShellError(str(error))
        except (ValueError, AttributeError) as error:
            channel.abort()
            raise ShellError("What answers there is not the shell of the session.") from error
        except BaseException:
            channel.abort()
            raise
        return channel


class _Flow:
    """One SSH channel, and its connection to the shell of the job."""

    def __init__(self, on_end: Callable[[], None]) -> None:
        self._on_end = on_end
        self._chan: Any = None
        self._inside: Channel | None = None
        self._queue: list[bytes] = []
        self._size, self._is_paused = 0, False
        self._news, self._may_write = asyncio.Event(), asyncio.Event()
        self._may_write.set()
        self._tasks: list[asyncio.Task[None]] = []

    def connection_made(self, chan: Any) -> None:
        self._chan = chan

    def data_received(self, data: bytes, datatype: int | None) -> None:
        for start in range(0, len(data), _MOST_FRAME):
            self._put(b"I", data[start : start + _MOST_FRAME])

    def eof_received(self) -> bool:
        self._put(b"I", b"")
        return True  # the other direction continues

    def pause_writing(self) -> None:
        self._may_write.clear()

    def resume_writing(self) -> None:
        self._may_write.set()

    def connection_lost(self, error: Exception | None) -> None:
        self._may_write.set()
        for task in self._tasks:
            task.cancel()
        if self._inside is not None:
            self._inside.abort()
        self._on_end()

    def _start(self, *parts: Awaitable[None]) -> None:
        self._tasks += [asyncio.ensure_future(part) for part in parts]

    def _put(self, kind: bytes, data: bytes) -> None:
        self._queue.append(kind + len(data).to_bytes(4, "big") + data)
        self._size += len(data)
        if self._size > BUFFER and not self._is_paused:
            self._is_paused = True
            self._chan.pause_reading()
        self._news.set()

    async def _send(self, inside: Channel) -> None:
        """Pass on what the client sends."""
        try:
            while True:
                await self._news.wait()
                self._news.clear()
                queue, self._queue, self._size = self._queue, [], 0
                inside.write(b"".join(queue))
                await inside.drain()
                if self._is_paused:
                    self._is_paused = False
                    self._chan.resume_reading()
        except ConnectionError:
            pass

    async def _frames(self, inside: Channel) -> AsyncIterator[tuple[bytes, bytes]]:
        """Yield what the job sends, until the connection ends."""
        held = bytearray()
        while data := await inside.read():
            held += data
            while len(held) >= 5 and len(held) >= (end := 5 + _size(held)):
                yield bytes(held[:1]), bytes(held[5:end])
                del held[:end]
                await self._may_write.wait()


class _Session(_Flow, asyncssh.SSHServerSession[bytes]):
    """A shell, a command or a file transfer."""

    def __init__(
        self,
        open_: Callable[[dict[str, Any]], Awaitable[Channel]],
        on_end: Callable[[], None],
        on_input: Callable[[], object],
    ):
        super().__init__(on_end)
        self._open, self._about, self._on_input = open_, {"kind": "shell"}, on_input

    def data_received(self, data: bytes, datatype: int | None) -> None:
        self._on_input()  # of a person; signs of life of the client are no data
        super().data_received(data, datatype)

    def pty_requested(self, term_type: str, term_size: Any, term_modes: Any) -> bool:
        return True

    def shell_requested(self) -> bool:
        return True

    def exec_requested(self, command: str) -> bool:
        text = command.decode(errors="surrogateescape") if isinstance(command, bytes) else command
        self._about = {"kind": "exec", "command": text}
        return True

    def subsystem_requested(self, subsystem: str) -> bool:
        self._about = {"kind": "sftp"}
        return subsystem == "sftp"

    def session_started(self) -> None:
        self._start(self._run())

    def terminal_size_changed(self, width: int, height: int, pixwidth: int, pixheight: int) -> None:
        self._queue = [one for one in self._queue if not one.startswith(b"W")]
        self._put(b"W", json.dumps([width, height]).encode())

    def signal_received(self, signal: str) -> None:
        if sum(one.startswith(b"S") for one in self._queue) < _SIGNALS:
            self._put(b"S", signal.encode()[:20])

    def break_received(self, msec: int) -> bool:
        self._put(b"S", b"INT")
        return True

    async def _run(self) -> None:
        chan = self._chan
        kind = chan.get_terminal_type()
        columns, rows = chan.get_terminal_size()[:2]
        about = {
            **self._about,
            "terminal": [kind, columns or 80, rows or 24] if kind else None,
            "env": dict(chan.get_environment()),
        }
        try:
            inside = self._inside = await self._open(about)
        except (OSError, TimeoutError, PortalError) as error:
            chan.write_stderr(f"muster: {error}\r\n".encode())
            chan.exit(_FAILED)
            return
        self._start(self._send(inside))
        code, signal = _FAILED, ""
        try:
            async for letter, data in self._frames(inside):
                if letter == b"O":
                    chan.write(data)
                elif letter == b"R":
                    chan.write_stderr(data)
                elif letter == b"X":
                    end = json.loads(data)
                    code, signal = int(end.get("code", _FAILED)), str(end.get("signal", ""))
                    break
        except (OSError, ValueError, AttributeError, TypeError):
            pass  # the job has ended, or sends what no shell of ours does
        inside.abort()
        if chan.is_closing():
            return
        if signal:
            chan.exit_with_signal(signal)
        else:
            chan.exit(code & 0xFF)


class _Connection(_Flow, asyncssh.SSHTCPSession[bytes]):
    """A connection to a port of the job."""

    def __init__(self, inside: Channel, on_end: Callable[[], None]):
        super().__init__(on_end)
        self._inside = inside

    def session_started(self) -> None:
        assert self._inside is not None
        self._start(self._send(self._inside), self._receive(self._inside))

    async def _receive(self, inside: Channel) -> None:
        try:
            async for _, data in self._frames(inside):
                if not data:
                    self._chan.write_eof()
                else:
                    self._chan.write(data)
        except OSError:
            pass
        self._chan.close()


def _size(head: bytearray) -> int:
    """Return the size of a frame. Raises ShellError if the job sends one that is too long."""
    size = int.from_bytes(head[1:5], "big")
    if size > _MOST_FRAME:
        raise ShellError("The frame is too long.")
    return size


def _public(lines: tuple[str, ...]) -> frozenset[bytes]:
    return frozenset(asyncssh.import_public_key(line).public_data for line in lines)
