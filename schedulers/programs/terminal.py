"""Serve a terminal in the browser: shells on ptys, over a websocket.

    terminal.py PORT SECRET_FILE

Listens on loopback. Every request must bring `Authorization: token SECRET`, which the gateway adds for
those whom it lets in. `GET /` is the page (`terminal.html` beside this file), `GET /status` counts the
shells and says whether what was started in them uses the CPU, and a websocket at `/ws?shell=NAME` is one
of them. A shell lives on while nobody looks, and its last output is sent again to whoever comes back.
Binary messages are bytes of the terminal, text messages are JSON: `{"size": [columns, rows]}` from the
page, `{"ended": code}` to it. Whoever only looks, as the gateway says by `X-Muster-Access: read`, sends
nothing and gets the size as `{"look": [columns, rows]}`. Python 3.9, standard library only.
"""

from __future__ import annotations

import asyncio
import fcntl
import hmac
import json
import os
import pty
import pwd
import signal
import struct
import sys
import termios
import time
from base64 import b64encode
from collections.abc import Callable
from hashlib import sha1
from urllib.parse import parse_qs, urlsplit

from muster.websocket import BINARY, CLOSE, CONTINUATION, PING, PONG, masked

TEXT = 1
KEPT = 256 << 10  # bytes of output that are sent again
MOST = 1 << 20  # bytes of a message, and of output that waits for a slow browser
SHELLS = 20
BUSY = 0.01  # of a core: what waits, such as `sleep` or an editor, uses less
BEAT = 30.0  # seconds between two pings
_GUID = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"


class Programs:
    """The CPU time of all processes of this job that has the terminal, however they were started."""

    def __init__(self, mark: bytes, clock: Callable[[], float] = time.monotonic):
        self._mark, self._clock = mark, clock
        self._used, self._at, self._busy = self._read(), clock(), False

    def are_busy(self) -> bool:
        """Return whether they used the CPU since the last question, or at least a second."""
        elapsed = self._clock() - self._at
        if elapsed >= 1:
            used = self._read()
            grown = sum(ticks - self._used.get(one, 0) for one, ticks in used.items())
            self._used, self._at = used, self._at + elapsed
            self._busy = grown / os.sysconf("SC_CLK_TCK") / elapsed >= BUSY
        return self._busy

    def _read(self) -> dict[tuple[str, str], int]:
        """Return the clock ticks of each process, by its number and its start."""
        found = {}
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{pid}/environ", "rb") as environ:
                    if int(pid) == os.getpid() or self._mark not in environ.read().split(b"\0"):
                        continue
                with open(f"/proc/{pid}/stat") as stat:
                    facts = stat.read().rpartition(")")[2].split()
                found[pid, facts[19]] = sum(map(int, facts[11:15]))
            except OSError:
                continue
        return found


class Viewer:
    """The websocket of one page. `is_reader`: it only looks."""

    def __init__(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, is_reader: bool = False
    ):
        self.reader, self.writer, self.is_reader = reader, writer, is_reader

    @property
    def is_slow(self) -> bool:
        return self.writer.transport.get_write_buffer_size() > MOST

    def send(self, kind: int, data: bytes) -> None:
        size = len(data)
        if size < 126:
            head = bytes((0x80 | kind, size))
        elif size < 1 << 16:
            head = bytes((0x80 | kind, 126)) + size.to_bytes(2, "big")
        else:
            head = bytes((0x80 | kind, 127)) + size.to_bytes(8, "big")
        if not self.writer.is_closing():
            self.writer.write(head + data)

    def tell(self, about: dict[str, object]) -> None:
        self.send(TEXT, json.dumps(about).encode())

    async def receive(self) -> tuple[int, bytes]:
        """Return the kind and the data of the next frame. Raises OSError, EOFError."""
        first, size = await self.reader.readexactly(2)
        size &= 0x7F
        if size > 125:
            size = int.from_bytes(await self.reader.readexactly(2 if size == 126 else 8), "big")
        if size > MOST:
            raise OSError("the message is too long")
        key = await self.reader.readexactly(4)
        return first & 0x0F, masked(await self.reader.readexactly(size), key)


class Shell:
    """A shell on a pty. `on_end` is called once, after its last output."""

    def __init__(self, on_end: Callable[[], object]):
        self.viewers: set[Viewer] = set()
        self._on_end = on_end
        self._kept, self._pending = bytearray(), bytearray()
        self._size = [80, 24]
        self._loop = asyncio.get_running_loop()
        self.pid, self._pty = pty.fork()
        if self.pid == 0:
            program = shell_of_user()
            os.environ["TERM"], os.environ["COLORTERM"] = "xterm-256color", "truecolor"
            if not has_name():  # bash would write "I have no name!"
                os.environ["PROMPT_COMMAND"] = "PS1='\\w\\$ '; unset PROMPT_COMMAND"
            try:
                os.execvp(program, [program])  # noqa: S606  the shell of the person
            finally:
                os._exit(127)
        os.set_blocking(self._pty, False)
        self._loop.add_reader(self._pty, self._read)

    def add(self, viewer: Viewer) -> None:
        if viewer.is_reader:
            viewer.tell({"look": self._size})
        if self._kept:
            viewer.send(BINARY, bytes(self._kept))
        self.viewers.add(viewer)

    def write(self, data: bytes) -> None:
        self._pending += data
        self._flush()

    def resize(self, columns: int, rows: int) -> None:
        self._size = [min(columns, 1000), min(rows, 1000)]
        fcntl.ioctl(self._pty, termios.TIOCSWINSZ, struct.pack("HHHH", *self._size[::-1], 0, 0))
        for viewer in self.viewers:
            if viewer.is_reader:
                viewer.tell({"look": self._size})

    def end(self) -> None:
        os.killpg(self.pid, signal.SIGHUP)

    def _flush(self) -> None:
        try:
            del self._pending[: os.write(self._pty, self._pending)]
        except BlockingIOError:
            pass
        except OSError:
            self._pending.clear()
        if self._pending:
            self._loop.add_writer(self._pty, self._flush)
        else:
            self._loop.remove_writer(self._pty)

    def _read(self) -> None:
        try:
            data = os.read(self._pty, 64 << 10)
        except BlockingIOError:
            return
        except OSError:  # the last process with the terminal has ended
            data = b""
        if not data:
            self._ended()
            return
        self._kept += data
        del self._kept[:-KEPT]
        for viewer in self.viewers:
            viewer.send(BINARY, data)
        for viewer in [one for one in self.viewers if one.is_reader and one.is_slow]:
            self.viewers.discard(viewer)  # who only looks delays nobody
            viewer.writer.transport.abort()
        if any(viewer.is_slow for viewer in self.viewers):
            self._loop.remove_reader(self._pty)
            self._waiting = asyncio.ensure_future(self._wait())

    async def _wait(self) -> None:
        """Read on when all pages have what was read."""
        for viewer in list(self.viewers):
            try:
                await viewer.writer.drain()
            except OSError:
                self.viewers.discard(viewer)
        self._loop.add_reader(self._pty, self._read)

    def _ended(self) -> None:
        self._loop.remove_reader(self._pty)
        self._loop.remove_writer(self._pty)
        os.close(self._pty)
        status = os.waitpid(self.pid, 0)[1]
        code = os.WEXITSTATUS(status) if os.WIFEXITED(status) else 128 + os.WTERMSIG(status)
        for viewer in self.viewers:
            viewer.tell({"ended": code})
        self._on_end()


class Server:
    """The terminal of one job."""

    def __init__(self, secret: str, page: bytes, programs: Programs):
        self._authorization, self._page = f"token {secret}".encode(), page
        self._programs = programs
        self._shells: dict[str, Shell] = {}

    async def serve(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, line: bytes = b""
    ) -> None:
        """Answer one request, of which `line` has been read."""
        try:
            first, headers = read_head(line + await reader.readuntil(b"\r\n\r\n"))
            given = headers.get("authorization", "").encode("latin1")
            target = urlsplit(first[1])
            if not hmac.compare_digest(given, self._authorization):
                answer(
                    writer, 403, "text/plain", b"Open the terminal from the page of its session.\n"
                )
            elif target.path == "/ws" and "sec-websocket-key" in headers:
                name = parse_qs(target.query).get("shell", ["1"])[0][:40]
                viewer = Viewer(reader, writer, headers.get("x-muster-access") == "read")
                await self._open(name, viewer, headers["sec-websocket-key"])
            elif target.path == "/status":
                about = {"shells": len(self._shells), "busy": self._programs.are_busy()}
                answer(writer, 200, "application/json", json.dumps(about).encode())
            elif target.path == "/":
                answer(writer, 200, "text/html; charset=utf-8", self._page)
            else:
                answer(writer, 404, "text/plain", b"There is nothing here.\n")
        except (OSError, EOFError, ValueError, asyncio.LimitOverrunError):
            pass
        finally:
            writer.close()

    async def _open(self, name: str, viewer: Viewer, key: str) -> None:
        writer = viewer.writer
        if name not in self._shells and viewer.is_reader:
            answer(writer, 404, "text/plain", b"This shell is not open.\n")
            return
        if name not in self._shells and len(self._shells) >= SHELLS:
            answer(writer, 429, "text/plain", b"Too many shells are open.\n")
            return
        accept = b64encode(sha1(key.encode() + _GUID).digest()).decode()  # noqa: S324
        writer.write(
            "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            f"Sec-WebSocket-Accept: {accept}\r\n\r\n".encode()
        )
        shell = self._shells.get(name)
        if shell is None:
            shell = self._shells[name] = Shell(lambda: self._shells.pop(name, None))
        shell.add(viewer)
        beats = asyncio.ensure_future(beat(viewer))
        try:
            await follow(viewer, shell)
        finally:
            beats.cancel()
            shell.viewers.discard(viewer)

    def end(self) -> None:
        for shell in self._shells.values():
            shell.end()


async def follow(viewer: Viewer, shell: Shell) -> None:
    """Pass what a page sends to its shell, until the page leaves."""
    last = BINARY
    while True:
        kind, data = await viewer.receive()
        if kind == CLOSE:
            viewer.send(CLOSE, b"")
            return
        if kind == PING:
            viewer.send(PONG, data)
            continue
        last = last if kind == CONTINUATION else kind
        if viewer.is_reader:
            continue
        if last == BINARY:
            shell.write(data)
        elif last == TEXT:
            columns, rows = json.loads(data)["size"]
            shell.resize(max(int(columns), 1), max(int(rows), 1))


async def beat(viewer: Viewer) -> None:
    """Ping, since proxies close connections on which nothing happens."""
    while True:
        await asyncio.sleep(BEAT)
        viewer.send(PING, b"")


def read_head(data: bytes) -> tuple[list[str], dict[str, str]]:
    """Return the words of the first line, and the headers by name. Raises ValueError."""
    first, *lines = data.decode("latin1").split("\r\n")
    words = first.split(" ")
    if len(words) != 3 or words[0] != "GET":
        raise ValueError("not a GET request")
    pairs = (line.partition(":") for line in lines if line)
    return words, {name.lower(): value.strip() for name, _, value in pairs}


def answer(writer: asyncio.StreamWriter, status: int, kind: str, body: bytes) -> None:
    head = (
        f"HTTP/1.1 {status} {'OK' if status == 200 else 'Refused'}\r\nContent-Type: {kind}\r\n"
        f"Content-Length: {len(body)}\r\nCache-Control: no-store\r\nConnection: close\r\n\r\n"
    )
    writer.write(head.encode() + body)


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
    names = (own, "/bin/bash", "/bin/sh")
    useless = ("nologin", "false", "sync")
    return next(
        one for one in names if os.access(one, os.X_OK) and os.path.basename(one) not in useless
    )


async def run(port: int, secret: str, page: bytes, mark: bytes) -> None:
    """Serve until SIGTERM; then the shells hang up."""
    server, stop = Server(secret, page, Programs(mark)), asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    listening = await asyncio.start_server(server.serve, "127.0.0.1", port, limit=64 << 10)
    print(f"The terminal listens on port {port}.", flush=True)
    await stop.wait()
    server.end()
    listening.close()


def page() -> bytes:
    """Return the page, which is beside this program."""
    folder = os.path.dirname(os.path.abspath(__file__))
    with open(os.path.join(folder, "terminal.html"), "rb") as file:
        return file.read()


if __name__ == "__main__":
    with open(sys.argv[2]) as _secret:
        _mark = f"MUSTER_APP_TOKEN_FILE={sys.argv[2]}".encode()
        asyncio.run(run(int(sys.argv[1]), _secret.read().strip(), page(), _mark))
