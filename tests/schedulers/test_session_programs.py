"""The programs of sessions as a node runs them: the terminal with real shells, and the guard."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest
from websockets.exceptions import InvalidStatus
from websockets.sync.client import ClientConnection, connect

from schedulers.programs import GUARD, TERMINAL, source_of
from tests.rig.processes import free_port

HAS_SECRET = {"Authorization": "token of-the-session"}


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., int]]:
    """Return a function that starts a program and returns its port."""
    begun: list[subprocess.Popen[bytes]] = []
    (tmp_path / "secret").write_text("of-the-session\n")
    (tmp_path / "terminal.html").write_text("<p>the page")

    def begin(name: str, *words: str) -> int:
        port, program = free_port(), tmp_path / name
        program.write_bytes(source_of(name))
        argv = [sys.executable, "-I", str(program), str(port), str(tmp_path / "secret")]
        env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "SHELL": "/bin/sh"}
        env["MUSTER_APP_TOKEN_FILE"] = str(tmp_path / "secret")
        script = "\n".join((*words, 'exec "$@"'))
        arguments = [*argv, str(tmp_path / "socket")] if words else argv
        begun.append(
            subprocess.Popen(
                ["/bin/bash", "-c", script, "bash", *arguments], env=env, start_new_session=True
            )
        )
        return port

    yield begin
    for process in begun:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def asked(port: int, path: str = "/", headers: dict[str, str] | None = None) -> httpx.Response:
    """Ask until the program listens."""
    until = time.monotonic() + 20
    while True:
        try:
            return httpx.get(f"http://127.0.0.1:{port}{path}", headers=headers)
        except httpx.ConnectError:
            assert time.monotonic() < until
            time.sleep(0.02)


def read_until(shell: ClientConnection, text: str) -> str:
    parts = [""]
    while text not in parts[-1]:
        part = shell.recv(10)
        parts.append(part if isinstance(part, str) else part.decode())
        if text in "".join(parts[-2:]):
            break
    return "".join(parts)


def test_terminal_keeps_its_shell_for_whoever_comes_back(start):
    port = start(TERMINAL)
    assert asked(port).status_code == 403
    assert asked(port, headers={"Authorization": "token of-another"}).status_code == 403
    assert asked(port, headers=HAS_SECRET).text == "<p>the page"
    url = f"ws://127.0.0.1:{port}/ws?shell=1"
    with pytest.raises(InvalidStatus, match="403"):
        connect(url)
    with connect(url, additional_headers=HAS_SECRET, compression=None) as shell:
        shell.send(json.dumps({"size": [91, 37]}))
        shell.send(b"kept=$((6*7)); stty size; test -t 0 && echo on-a-tty\n")
        assert "37 91" in read_until(shell, "\non-a-tty")
    assert asked(port, "/status", HAS_SECRET).json()["shells"] == 1
    with connect(url, additional_headers=HAS_SECRET, compression=None) as shell:
        assert "37 91" in read_until(shell, "37 91"), "the last output is sent again"
        shell.send(b"echo still-$kept; exit 3\n")
        assert "still-42" in read_until(shell, '{"ended": 3}')
    assert asked(port, "/status", HAS_SECRET).json()["shells"] == 0


def test_who_looks_at_a_terminal_sees_all_and_changes_nothing(start):
    port = start(TERMINAL)
    assert asked(port, headers=HAS_SECRET).status_code == 200
    url, looks = f"ws://127.0.0.1:{port}/ws?shell=1", HAS_SECRET | {"X-Muster-Access": "read"}
    with pytest.raises(InvalidStatus, match="404"):
        connect(url, additional_headers=looks)
    with (
        connect(url, additional_headers=HAS_SECRET) as shell,
        connect(url, additional_headers=looks) as reader,
    ):
        assert json.loads(reader.recv(10)) == {"look": [80, 24]}
        shell.send(json.dumps({"size": [100, 30]}))
        read_until(reader, '{"look": [100, 30]}')
        reader.send(json.dumps({"size": [20, 5]}))
        reader.send(b"echo $((1 + 8)) of the reader\n")
        shell.send(b"stty size; echo $((6 * 7)) is said\n")
        seen = read_until(reader, "42 is said")
        assert "30 100" in seen and "of the reader" not in seen


def test_terminal_waits_for_a_slow_page_and_loses_nothing(start):
    port = start(TERMINAL)
    asked(port)
    url = f"ws://127.0.0.1:{port}/ws?shell=big"
    with connect(url, additional_headers=HAS_SECRET, compression=None, max_size=None) as shell:
        shell.send(b"stty -echo; seq 200000; echo the-end\n")
        time.sleep(0.5)  # nobody reads
        text = read_until(shell, "\nthe-end")
    numbers = [line.strip() for line in text.splitlines() if line.strip().isdecimal()]
    assert numbers == [str(n) for n in range(1, 200_001)]


APP = """
import socket, sys
inside = socket.socket(socket.AF_UNIX)
inside.bind(sys.argv[1])
inside.listen()
while True:
    one = inside.accept()[0]
    one.recv(4096)
    one.sendall(b"HTTP/1.1 200 OK\\r\\nContent-Length: 5\\r\\nConnection: close\\r\\n\\r\\ninner")
    one.close()
"""


def test_guard_passes_only_who_has_the_secret(start, tmp_path):
    (tmp_path / "app.py").write_text(APP)
    port = start(GUARD, f"{sys.executable} {tmp_path}/app.py {tmp_path}/socket &")
    assert asked(port).status_code == 403
    assert asked(port, headers={"Authorization": "token of-another"}).status_code == 403
    assert asked(port, headers=HAS_SECRET).text == "inner"
    with socket.create_connection(("127.0.0.1", port)) as raw:
        raw.sendall(b"GET / HTTP/1.1\r\nX: Authorization: token of-the-session\r\n\r\n")
        assert raw.recv(100).startswith(b"HTTP/1.1 403")


def test_guard_ends_with_its_app(start, tmp_path):
    port = start(GUARD, "(sleep 0.3; exit 7) &")
    with pytest.raises(httpx.ConnectError):
        httpx.get(f"http://127.0.0.1:{port}/")
