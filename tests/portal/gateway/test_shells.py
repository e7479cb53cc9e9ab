"""SSH with the real OpenSSH client, through the gateway's server, to the program that runs in jobs."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from uuid import UUID

import pytest

from jobs.ports.ssh import certificate_for, keys_of
from portal.gateway.channels import Channel
from portal.gateway.provider import ShellKeys
from portal.gateway.shells import open_shell
from schedulers.programs import SHELL, TERMINAL, source_of
from tests.rig.processes import free_port, wait_until
from workspaces.access.actors import Actor

BEN, EVE = UUID(int=1), UUID(int=2)
SECRET = "of the job"


@pytest.fixture
def shell(tmp_path: Path) -> Iterator[int]:
    """Return the port of the program of a job."""
    port, secret = free_port(), tmp_path / "secret"
    secret.write_text(SECRET)
    for name in (SHELL, TERMINAL):
        (tmp_path / name).write_bytes(source_of(name))
    (tmp_path / "terminal.html").write_text("<p>the terminal")
    script = subprocess.Popen(["sleep", "60"])
    words = [sys.executable, "-I", "-S", str(tmp_path / SHELL)]
    process = subprocess.Popen([*words, str(port), str(secret), str(script.pid)], cwd=tmp_path)
    wait_until(lambda: _answers(port), "the shell listens", 30)
    yield port
    script.kill()
    script.wait()
    assert process.wait(10) == 0  # it ends with the script of its job


def _answers(port: int) -> bool:
    return bool(asyncio.run(_said(port, b"{}\n")))


async def _said(port: int, line: bytes) -> bytes:
    try:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
    except OSError:
        return b""
    writer.write(line)
    answer = await reader.readline()
    writer.close()
    return answer


@pytest.fixture
def key(tmp_path: Path) -> Path:
    """Return a key of Ben, with a certificate, and the portal's key beside it."""
    key = tmp_path / "key"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key], check=True)
    public = key.with_suffix(".pub").read_text()
    made = certificate_for(actor=Actor(BEN, "ben@atlas.example"), public_key=public)
    (tmp_path / "key-cert.pub").write_text(made["certificate"])
    (tmp_path / "known").write_text(f"muster {made['host_key']}\n")
    return key


async def ssh(
    shell: int, key: Path, *words: str, stdin: bytes = b"", keys: ShellKeys | None = None
) -> tuple[int, bytes, bytes]:
    """Run the OpenSSH client against a server for Ben; return code, output and errors."""
    loop = asyncio.get_running_loop()

    async def dial() -> Channel:
        return (await loop.create_connection(Channel, "127.0.0.1", shell))[1]

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        inside = await open_shell(keys or keys_of(BEN), SECRET, dial)

        async def out() -> None:
            while data := await inside.read():
                writer.write(data)
                await writer.drain()
            writer.close()

        task = asyncio.ensure_future(out())
        while data := await reader.read(1 << 16):
            inside.write(data)
            await inside.drain()
        inside.abort()
        await task

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    options = (
        *("-F", "none", "-p", str(port), "-i", str(key), "-o", "HostKeyAlias=muster"),
        *("-o", f"UserKnownHostsFile={key.parent}/known", "-o", "BatchMode=yes", *words),
    )
    process = await asyncio.create_subprocess_exec(
        "ssh", *options, stdin=-1, stdout=-1, stderr=-1, cwd=key.parent
    )
    async with server:
        output, errors = await asyncio.wait_for(process.communicate(stdin), 50)
    assert process.returncode is not None
    return process.returncode, output, errors


HOST = "job@127.0.0.1"


async def test_openssh_client_runs_commands_where_the_program_is(shell: int, key: Path):
    script = "pwd; cat; echo bad >&2; exit 3"
    code, output, errors = await ssh(shell, key, HOST, script, stdin=b"x" * (3 << 20))
    assert (code, output[-3:]) == (3, b"xxx")
    assert output == f"{key.parent}\n".encode() + b"x" * (3 << 20)
    assert errors == b"bad\n"
    code, output, _ = await ssh(shell, key, "-tt", HOST, "tty; echo $TERM; stty -echo; kill -9 $$")
    assert code == 255
    assert output.startswith(b"/dev/pts/")


async def test_connections_lead_into_the_job_only(shell: int, key: Path):
    given = f'{{"secret": "{SECRET}", "kind": "shell"}}\n'.encode()
    code, output, _ = await ssh(shell, key, "-W", f"localhost:{shell}", HOST, stdin=given)
    assert (code, output[:3]) == (0, b"{}\n")
    code, _, errors = await ssh(shell, key, "-W", "10.0.0.1:80", HOST)
    assert code == 255
    assert b"Only ports of the session itself can be reached" in errors


async def test_certificate_of_another_person_is_refused(shell: int, key: Path):
    code, output, errors = await ssh(shell, key, HOST, "true", keys=keys_of(EVE))
    assert (code, output) == (255, b"")
    assert b"Permission denied (publickey)" in errors
    page = f"GET / HTTP/1.1\r\nAuthorization: token {SECRET}\r\n\r\n".encode()
    assert b" 200 " in await _said(shell, page)
    assert b" 403 " in await _said(shell, page.replace(b"job", b"guest"))
    assert b"This port is for the portal" in await _said(shell, b'{"kind": "shell"}\n')
