"""SSH to sessions and jobs, through the gateway of the portal: keys, certificates and OpenSSH's settings.

What OpenSSH reads is in a folder of the portal below that of the settings: a key of this machine, its
certificate, which the portal signs for some minutes, and the portal's own key.
"""

from __future__ import annotations

import asyncio
import os
import shlex
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from muster import settings
from muster.errors import Conflict, InvalidInput, NotFound
from muster.websocket import NotOpened, connect

if TYPE_CHECKING:
    from muster.client import Client
    from muster.shapes.jobs import JobPortShape

PREFIX = "session-"
FRESH = 180.0  # seconds in which a certificate is not fetched again; it is valid for five minutes
_TIMEOUT = 30  # seconds


class Ssh:
    """SSH with one portal."""

    def __init__(self, client: Client):
        self._client = client
        self.host = urlsplit(client.settings.url).netloc.replace(":", "-")
        self.folder = settings.path().parent / "ssh" / self.host

    def port_of(self, which: str) -> JobPortShape:
        """Return the port for SSH of a session, or of a job. Raises NotFound, Conflict."""
        name = which.removeprefix(PREFIX).removeprefix("job-")
        number: str | int = name
        try:
            number = self._client.sessions.get(name)["job"]["number"]
        except NotFound:
            if not name.isdigit():
                raise
        job = self._client.jobs.get(number)
        port = next((one for one in job.raw["ports"] if one["protocol"] == "ssh"), None)
        if port is None:
            raise NotFound(
                f"Job {number} has no port for SSH. Add `ports: [{{name: ssh, protocol: ssh}}]` to its "
                "spec; a session that is older than this feature gets one when it is started again."
            )
        if job.raw["state"] != "running":
            raise Conflict(f"{which} does not run: its job is {job.raw['state']}.")
        return port

    def renew(self) -> None:
        """Make a key of this machine, once, and fetch a certificate unless there is a fresh one."""
        key, made = self.folder / "key", self.folder / "key-cert.pub"
        if not key.exists():
            self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            words = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "muster", "-f", str(key)]
            run_tool(words)
        try:
            if time.time() - made.stat().st_mtime < FRESH:
                return
        except OSError:
            pass
        public = key.with_suffix(".pub").read_text()
        answer = self._client.send("POST", "ssh-certificates", {"public_key": public})
        known = f"{self.alias} {answer['host_key']}\n"
        for name, text in (("key-cert.pub", f"{answer['certificate']}\n"), ("known_hosts", known)):
            part = self.folder / f"{name}.{os.getpid()}"
            part.write_text(text)
            part.replace(self.folder / name)

    @property
    def alias(self) -> str:
        return f"muster-{self.host}"

    def options(self) -> dict[str, str]:
        """Return the options of OpenSSH, as in its configuration file."""
        name = shlex.quote
        return {
            "ProxyCommand": f"{self.command()} ssh --stdio '%n'",
            "HostKeyAlias": self.alias,
            "UserKnownHostsFile": name(str(self.folder / "known_hosts")),
            "StrictHostKeyChecking": "yes",
            "IdentityFile": name(str(self.folder / "key")),
            "CertificateFile": name(str(self.folder / "key-cert.pub")),
            "ServerAliveInterval": "30",
            "User": "muster",
        }

    def command(self) -> str:
        """Return how this program is started again, for the same portal and organization."""
        client = self._client
        words = [sys.executable, "-m", "muster", "--url", client.settings.url]
        return shlex.join([*words, "--org", client.settings.org] if client.settings.org else words)

    def words(self, which: str, more: Sequence[str]) -> list[str]:
        """Return the command that connects to a session with OpenSSH."""
        url = self.port_of(which)["program_url"]  # says in words why it cannot be reached
        self.renew()
        own = self.options() | {"ProxyCommand": f"{self.command()} ssh --stdio {shlex.quote(url)}"}
        given = [part for pair in own.items() for part in ("-o", "=".join(pair))]
        options, rest = ssh_options(more)
        return ["ssh", *given, *options, f"{PREFIX}{which.removeprefix(PREFIX)}", *rest]

    def write_config(self) -> tuple[Path, Path]:
        """Enter `ssh session-12` into ~/.ssh/config, and return it and the file that it includes."""
        self.renew()
        own, user = settings.path().parent / "ssh" / "config", Path.home() / ".ssh" / "config"
        lines = [
            f"Host {PREFIX}*",
            *(f"    {one} {value}" for one, value in self.options().items()),
        ]
        # The certificate is read before ProxyCommand could fetch it.
        renew = f'Match originalhost {PREFIX}* exec "{self.command()} ssh --renew"'
        own.write_text("\n".join([renew, *lines]) + "\n")
        include = f'Include "{own}"'
        text = user.read_text() if user.exists() else ""
        if include not in text.splitlines():
            user.parent.mkdir(mode=0o700, exist_ok=True)
            part = user.with_name(f"config.{os.getpid()}")
            part.touch(0o600)
            part.write_text(f"{include}\n\n{text}" if text else f"{include}\n")
            part.replace(user)  # Include is only for all hosts before the first Host
        return user, own


def ssh_options(words: Sequence[str]) -> tuple[list[str], list[str]]:
    """Split what follows a session into options of ssh, and the command."""
    with_value = "BbcDEeFIiJLlmOopQRSWw"
    options: list[str] = []
    rest = list(words)
    while rest and rest[0].startswith("-") and len(rest[0]) > 1:
        word = rest.pop(0)
        if word == "--":
            break
        options.append(word)
        if word[-1] in with_value and len(word) == 2 and rest:
            options.append(rest.pop(0))
    return options, rest


def run_tool(words: Sequence[str]) -> None:
    try:
        subprocess.run(words, check=True, capture_output=True)
    except FileNotFoundError as error:
        raise InvalidInput(
            f"{words[0]} is not installed here. Install the OpenSSH client."
        ) from error
    except subprocess.CalledProcessError as error:
        raise InvalidInput(error.stderr.decode(errors="replace").strip()) from error


async def carry_stdio(url: str, token: str) -> None:
    """Pass bytes between the gateway and standard input and output. Raises Conflict."""
    try:
        async with asyncio.timeout(_TIMEOUT):
            inside = await connect(url, token)
    except (OSError, NotOpened) as error:
        raise Conflict(str(error) or "The gateway does not answer.") from error
    loop, reader = asyncio.get_running_loop(), asyncio.StreamReader()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin.buffer)
    sink, protocol = await loop.connect_write_pipe(
        lambda: asyncio.StreamReaderProtocol(asyncio.StreamReader()), sys.stdout.buffer
    )
    await inside.carry(reader, _Output(sink, protocol, None, loop))


class _Output(asyncio.StreamWriter):
    """Standard output, whose end is its close."""

    def write_eof(self) -> None:
        self.close()
