"""Run commands, terminals, file transfers and connections of people in a job, for the portal's SSH.

    shell.py PORT SECRET_FILE PID

Listens on loopback, where neighbours on the node can connect, too. A connection is one channel of SSH.
It begins with a line of JSON: `secret`, `kind` (`shell`, `exec`, `sftp` or `connect`), `command`, `env`,
`terminal` (`[type, columns, rows]`, or null) and `port`. The answer is a line as well: `{}`, or
`{"error": …}`. Then both sides send frames: a letter, four bytes of size, and the data. To the program:
I (input; none is its end), W (size of the window) and S (a signal). From it: O and R (output and errors;
none is the end of a connection), and X (`{"code": 0}` or `{"signal": "TERM"}`), which is the last one.

A request of HTTP is for the terminal of the job in a browser (`terminal.py` beside this file).

Whatever the program starts is in the job: its environment, limits, files and network. Ends with the
process PID, the script of the job. Python 3.9, standard library only.
"""

from __future__ import annotations

import asyncio
import fcntl
import hmac
import importlib
import json
import os
import pwd
import signal
import struct
import sys
import termios
from collections.abc import Awaitable
from typing import Any

PART = 64 << 10
MOST = 1 << 20  # bytes of a frame
LINE = 512 << 10
START = 20.0  # seconds to say what is wanted, and to connect
LAST = 0.5  # seconds in which a terminal still writes after its shell has ended
SFTP = (
    "/usr/lib/openssh/sftp-server",
    "/usr/libexec/openssh/sftp-server",
    "/usr/lib/ssh/sftp-server",
)
OWN = ("MUSTER_SHELL_TOKEN_FILE",)  # variables that people do not need


class Peer:
    """The portal's end of a connection."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter):
        self.reader, self.writer = reader, writer

    async def send(self, kind: bytes, data: bytes) -> None:
        self.writer.write(kind + len(data).to_bytes(4, "big") + data)
        await self.writer.drain()

    async def receive(self) -> tuple[bytes, bytes]:
        """Return the kind and the data of the next frame. Raises OSError, EOFError."""
        head = await self.reader.readexactly(5)
        size = int.from_bytes(head[1:], "big")
        if size > MOST:
            raise OSError("the frame is too long")
        return head[:1], await self.reader.readexactly(size)

    async def answer(self, about: dict[str, str]) -> None:
        self.writer.write(json.dumps(about).encode() + b"\n")
        await self.writer.drain()

    async def copy(self, kind: bytes, source: asyncio.StreamReader) -> None:
        """Send what a program writes until it stops."""
        while data := await source.read(PART):
            await self.send(kind, data)


class Terminal(asyncio.StreamReaderProtocol):
    """The output of a terminal, which ends with EIO after its last program."""

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(None)


class Program:
    """A program that a person has started."""

    def __init__(self, process: asyncio.subprocess.Process, terminal: int, peer: Peer):
        self.process, self.terminal, self.peer = process, terminal, peer
        self.input: asyncio.StreamWriter | None = process.stdin
        self.outputs: list[Awaitable[None]] = []
        self.source: asyncio.BaseTransport | None = None  # of a terminal

    async def open(self) -> None:
        """Take hold of its output."""
        if self.terminal < 0:
            assert self.process.stdout
            assert self.process.stderr
            self.outputs = [
                self.peer.copy(b"O", self.process.stdout),
                self.peer.copy(b"R", self.process.stderr),
            ]
            return
        loop, reader = asyncio.get_running_loop(), asyncio.StreamReader()
        self.source, _ = await loop.connect_read_pipe(
            lambda: Terminal(reader), os.fdopen(os.dup(self.terminal), "rb", 0)
        )
        transport, protocol = await loop.connect_write_pipe(
            lambda: asyncio.StreamReaderProtocol(asyncio.StreamReader()),
            os.fdopen(os.dup(self.terminal), "wb", 0),
        )
        self.input = asyncio.StreamWriter(transport, protocol, None, loop)
        self.outputs = [self.peer.copy(b"O", reader)]

    async def follow(self) -> None:
        """Pass on what the portal sends, until it leaves. Raises OSError, EOFError."""
        while True:
            kind, data = await self.peer.receive()
            if kind == b"I":
                await self.take(data)
            elif kind == b"W" and self.terminal >= 0:
                columns, rows = json.loads(data)
                resize(self.terminal, columns, rows)
            elif kind == b"S":
                number = getattr(signal, f"SIG{data.decode('ascii', 'replace')}", None)
                if isinstance(number, signal.Signals):
                    self.signal(number)

    async def take(self, data: bytes) -> None:
        if self.input is None or self.input.is_closing():
            return
        try:
            if data:
                self.input.write(data)
                await self.input.drain()
            elif self.terminal < 0:
                self.input.close()
            else:
                self.input.write(b"\x04")  # the end of input of a terminal
        except OSError:
            pass  # it reads no more

    def signal(self, number: int) -> None:
        try:
            os.killpg(self.process.pid, number)
        except OSError:
            pass

    async def run(self) -> dict[str, Any]:
        """Return how the program ended, after its output."""
        outputs = asyncio.gather(*self.outputs)
        if self.terminal < 0:
            await outputs
            code = await self.process.wait()
        else:
            code = await self.process.wait()
            await asyncio.wait([outputs], timeout=LAST)
            outputs.cancel()
        return {"code": code} if code >= 0 else {"signal": signal.Signals(-code).name[3:]}


class Server:
    """The shell of one job."""

    def __init__(self, secret: str, browsers: Any):
        self.secret, self.browsers = secret.encode(), browsers
        self.programs: set[Program] = set()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve one channel."""
        peer = Peer(reader, writer)
        try:
            line = await asyncio.wait_for(reader.readline(), START)
            if line.startswith(b"GET "):
                await self.browsers.serve(reader, writer, line)
                return
            about = json.loads(line)
            if not hmac.compare_digest(str(about.get("secret", "")).encode(), self.secret):
                await peer.answer({"error": "This port is for the portal."})
            elif about["kind"] == "connect":
                await connect(peer, int(about["port"]))
            else:
                await self.start(peer, about)
        except (OSError, EOFError, ValueError, KeyError, TypeError, asyncio.TimeoutError):  # noqa: UP041
            pass
        finally:
            writer.close()

    async def start(self, peer: Peer, about: dict[str, Any]) -> None:
        try:
            program = await started(peer, about)
        except OSError as error:
            await peer.answer({"error": f"It cannot be started: {error.strerror or error}."})
            return
        await peer.answer({})
        self.programs.add(program)
        following = asyncio.ensure_future(program.follow())
        running = asyncio.ensure_future(program.run())
        try:
            await asyncio.wait([following, running], return_when=asyncio.FIRST_COMPLETED)
            if running.done():
                await peer.send(b"X", json.dumps(running.result()).encode())
        finally:
            for task in (following, running):
                task.cancel()
            await asyncio.gather(following, running, return_exceptions=True)
            program.signal(signal.SIGHUP)
            if program.input is not None:
                program.input.close()
            if program.source is not None:
                program.source.close()
                os.close(program.terminal)
            self.programs.discard(program)

    def end(self) -> None:
        self.browsers.end()
        for program in self.programs:
            program.signal(signal.SIGHUP)


async def started(peer: Peer, about: dict[str, Any]) -> Program:
    """Start what a channel asks for. Raises OSError."""
    words = words_of(about["kind"], str(about.get("command") or ""))
    env = {name: value for name, value in os.environ.items() if name not in OWN}
    given = about.get("env") or {}
    env.update(
        {str(k): str(v) for k, v in given.items() if k == "LANG" or str(k).startswith("LC_")}
    )
    env["SHELL"] = shell_of_user()
    own: dict[str, Any] = {"env": env, "start_new_session": True}
    terminal = about.get("terminal")
    if not terminal:
        pipe = asyncio.subprocess.PIPE
        process = await asyncio.create_subprocess_exec(
            *words, stdin=pipe, stdout=pipe, stderr=pipe, **own
        )
        program = Program(process, -1, peer)
    else:
        kind, columns, rows = terminal
        env["TERM"] = str(kind) or "xterm"
        if not has_name():  # bash would write "I have no name!"
            env["PROMPT_COMMAND"] = "PS1='\\w\\$ '; unset PROMPT_COMMAND"
        outer, inner = os.openpty()
        try:
            resize(outer, columns, rows)
            process = await asyncio.create_subprocess_exec(
                *words, stdin=inner, stdout=inner, stderr=inner, preexec_fn=control, **own
            )
        except BaseException:
            os.close(outer)
            raise
        finally:
            os.close(inner)
        program = Program(process, outer, peer)
    await program.open()
    return program


async def connect(peer: Peer, port: int) -> None:
    """Connect to a port of the job itself, and pass bytes until both sides have ended."""
    try:
        inside = await asyncio.wait_for(reach(port), START)
    except (OSError, asyncio.TimeoutError):  # noqa: UP041
        await peer.answer({"error": f"Nothing answers on port {port} of the session."})
        return
    await peer.answer({})
    reader, writer = inside

    async def inward() -> None:
        while True:
            kind, data = await peer.receive()
            if kind == b"I" and not data:
                writer.write_eof()
                return
            if kind == b"I":
                writer.write(data)
                await writer.drain()

    async def outward() -> None:
        await peer.copy(b"O", reader)
        await peer.send(b"O", b"")

    tasks = [asyncio.ensure_future(inward()), asyncio.ensure_future(outward())]
    try:
        await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        writer.close()


async def reach(port: int) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    try:
        return await asyncio.open_connection("127.0.0.1", port)
    except OSError:
        return await asyncio.open_connection("::1", port)


def words_of(kind: str, command: str) -> list[str]:
    """Return the program that a channel starts, with its arguments."""
    if kind == "sftp":
        found = next((path for path in SFTP if os.access(path, os.X_OK)), None)
        own = os.path.join(os.path.dirname(os.path.abspath(__file__)), "sftp.py")
        return [found] if found else [sys.executable, "-I", "-S", own]
    return [shell_of_user(), "-c", command] if kind == "exec" else [shell_of_user()]


def begin_at_home() -> None:
    """Make the home folder of the session that of what people start, and begin there."""
    home = os.environ.get("MUSTER_WORKSPACE_HOME", "")
    if os.path.isdir(home):
        os.environ["HOME"] = home
    work = os.environ.get("MUSTER_WORKSPACE_WORK", "")
    folder = next((one for one in (home, work) if os.path.isdir(one)), None)
    if folder:
        os.chdir(folder)


def resize(terminal: int, columns: Any, rows: Any) -> None:
    size = [min(max(int(one), 1), 1000) for one in (rows, columns)]
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", *size, 0, 0))


def control() -> None:
    """Make the terminal on standard input that of this process and its children."""
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


def has_name() -> bool:
    try:
        return bool(pwd.getpwuid(os.getuid()).pw_name)
    except KeyError:
        return False


def shell_of_user() -> str:
    """Return the login shell, or the first that exists."""
    try:
        own = pwd.getpwuid(os.getuid()).pw_shell
    except KeyError:
        own = ""
    useless = ("nologin", "false", "sync")
    names = (own, "/bin/bash", "/bin/sh")
    return next(
        one for one in names if os.access(one, os.X_OK) and os.path.basename(one) not in useless
    )


async def run(port: int, secret: str, pid: int) -> None:
    """Serve until SIGTERM, or until the script of the job has ended; then the programs hang up."""
    terminal = importlib.import_module("terminal")
    mark = f"MUSTER_SHELL_TOKEN_FILE={os.environ.get('MUSTER_SHELL_TOKEN_FILE', '')}".encode()
    browsers = terminal.Server(secret, terminal.page(), terminal.Programs(mark))
    server, stop = Server(secret, browsers), asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    listening = await asyncio.start_server(server.serve, "127.0.0.1", port, limit=LINE)
    while not stop.is_set() and is_alive(pid):
        try:
            await asyncio.wait_for(stop.wait(), 0.5)
        except asyncio.TimeoutError:  # noqa: UP041
            pass
    server.end()
    listening.close()


def is_alive(pid: int) -> bool:
    """Return whether a process runs; a zombie does not."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return file.read().rpartition(b")")[2].split()[0] != b"Z"
    except (OSError, IndexError):
        return False


if __name__ == "__main__":
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    begin_at_home()
    with open(sys.argv[2]) as _secret:
        asyncio.run(run(int(sys.argv[1]), _secret.read().strip(), int(sys.argv[3])))
