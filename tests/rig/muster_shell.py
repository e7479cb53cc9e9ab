"""`muster` for shell scripts of tests, at 50 ms a command: a server that has loaded it forks for each.

Starting Python and importing httpx takes half a second of CPU, and the guide has a hundred commands.
`muster` in PATH is a small program that passes its arguments, folder, variables and streams.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import traceback
from contextlib import suppress
from pathlib import Path

from tests.rig.environment import ROOT

_STREAMS = 3
_CLIENT = """#!{python} -IS
import json, os, socket, sys
server = socket.socket(socket.AF_UNIX)
server.connect({address!r})
given = json.dumps([sys.argv[1:], os.getcwd(), dict(os.environ)]).encode()
socket.send_fds(server, [len(given).to_bytes(4, "big")], [0, 1, 2])
server.sendall(given)
code = server.recv(1)
sys.exit(code[0] if code else 70)
"""


class MusterShell:
    """The folder `bin` with `muster`, and the server behind it."""

    def __init__(self, folder: Path) -> None:
        address = folder / "muster.sock"
        self.bin = folder / "bin"
        self.bin.mkdir()
        program = self.bin / "muster"
        program.write_text(_CLIENT.format(python=sys.executable, address=str(address)))
        program.chmod(0o755)
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.rig.muster_shell", str(address)],
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'client'}"},
            stdin=subprocess.PIPE,  # pipes all, so that no stream of a command is taken for a file
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        assert self.process.stdout
        assert self.process.stdout.readline() == b"ready\n"

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        assert self.process.stdin and self.process.stdout
        self.process.stdin.close()
        self.process.stdout.close()


def serve(address: str) -> None:
    """Load the client, then fork for each command."""
    from importlib import import_module

    for path in sorted((ROOT / "client/muster/commands").glob("[a-z]*.py")):
        import_module(f"muster.commands.{path.stem}")
    for name in (
        "muster.client",
        "muster.transport",
        "muster.following",
        "muster.cli",
        "rich.table",
    ):
        import_module(name)
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(address)
    listener.listen(16)
    print("ready", flush=True)
    while True:
        connection, _ = listener.accept()
        if not os.fork():
            listener.close()
            if not os.fork():  # a grandchild, whom nobody needs to wait for
                os._exit(_answer(connection))
            os._exit(0)
        connection.close()
        os.wait()


def _answer(connection: socket.socket) -> int:
    head, streams, _, _ = socket.recv_fds(connection, 4, _STREAMS)
    size, given = int.from_bytes(head, "big"), b""
    while len(given) < size:
        given += connection.recv(size - len(given))
    argv, folder, environment = json.loads(given)
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    code = 70
    try:
        from muster.cli import main

        main(argv)
    except SystemExit as ended:
        code = int(ended.code or 0)
    except BaseException:
        traceback.print_exc()
    sys.stdout.flush()
    sys.stderr.flush()
    with suppress(BrokenPipeError):  # the script was ended
        connection.send(bytes([code]))
    return 0


if __name__ == "__main__":
    serve(sys.argv[1])
