"""Run Slurm's commands locally or on a login host over SSH.

Always as an argv, never as shell text built from input.
"""

from __future__ import annotations

import os
import pwd
import re
import shlex
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from portal.core.messages import Message
from schedulers.contract import Unavailable
from schedulers.slurm.errors import failure

PATH = "/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin:/opt/slurm/bin"


def surroundings(path: str, conf: str) -> dict[str, str]:
    """Return the whole environment of a Slurm command, and so what jobs inherit.

    Times are printed in Unix seconds.
    """
    env = {
        "PATH": f"{path}:{PATH}" if path else PATH,
        "LC_ALL": "C.UTF-8",
        "TZ": "UTC",
        "SLURM_TIME_FORMAT": "%s",
    }
    return {**env, "SLURM_CONF": conf} if conf else env


@dataclass(frozen=True)
class LocalTransport:
    """Runs commands on this machine."""

    env: Mapping[str, str]
    timeout: float = 8

    def run(self, argv: Sequence[str], given: bytes = b"", timeout: float = 0) -> bytes:
        """Return the output of a command. Raises Rejected or Unavailable with its error message."""
        code, out, err = self.run_all(argv, given, timeout)
        if code:
            raise failure((err or out).decode(errors="replace"))
        return out

    def run_all(
        self, argv: Sequence[str], given: bytes = b"", timeout: float = 0, user: str | None = None
    ) -> tuple[int, bytes, bytes]:
        """Return exit code, output and errors.

        Raises Unavailable if the command could not be started or did not end.
        """
        try:
            done = subprocess.run(
                argv,
                input=given,
                env=dict(self.env),
                capture_output=True,
                timeout=timeout or self.timeout,
                check=False,
                cwd="/",
                user=user,
                group=pwd.getpwnam(user).pw_gid if user else None,
                extra_groups=[] if user else None,
            )
        except subprocess.TimeoutExpired as error:
            raise Unavailable(
                Message(
                    "{x} did not answer within {x2} s.",
                    x=argv[0],
                    x2=f"{timeout or self.timeout:g}",
                )
            ) from error
        except FileNotFoundError as error:
            raise Unavailable(
                Message(
                    "{x} is not installed on this machine, or not in PATH. Enter the directory of "
                    "Slurm's commands.",
                    x=argv[0],
                ),
                "bin",
            ) from error
        except (OSError, KeyError) as error:
            raise Unavailable(f"{argv[0]} cannot be started: {error}") from error
        return done.returncode, done.stdout, done.stderr


@dataclass(frozen=True)
class LoginHost:
    """A login host with Slurm's commands.

    `key` and `known_hosts` are texts, which ssh reads from memory.
    """

    host: str
    user: str
    port: int
    key: str = field(repr=False)
    known_hosts: str = ""


@dataclass(frozen=True)
class SshTransport:
    """Runs commands over SSH, without prompts, forwarding or passwords."""

    login: LoginHost
    env: Mapping[str, str]
    timeout: float = 12

    def run(self, argv: Sequence[str], given: bytes = b"", timeout: float = 0) -> bytes:
        code, out, err = self.run_all(argv, given, timeout)
        if code == 255:
            raise ssh_trouble(self.login.host, err.decode(errors="replace").strip()[:300])
        if code:
            raise failure((err or out).decode(errors="replace"))
        return out

    def run_all(
        self, argv: Sequence[str], given: bytes = b"", timeout: float = 0, user: str | None = None
    ) -> tuple[int, bytes, bytes]:
        clean = ["env", "-i", *(f"{name}={value}" for name, value in self.env.items()), *argv]
        key, known = _in_memory(self.login.key), _in_memory(self.login.known_hosts)
        try:
            return LocalTransport({"PATH": PATH}, self.timeout).run_all(
                self._ssh(key, known, shlex.join(clean)), given, timeout
            )
        finally:
            os.close(key)
            os.close(known)

    def _ssh(self, key: int, known: int, command: str) -> list[str]:
        options = [
            "BatchMode=yes",
            "IdentitiesOnly=yes",
            "StrictHostKeyChecking=yes",
            "ClearAllForwardings=yes",
            "ForwardAgent=no",
            f"ConnectTimeout={min(self.timeout, 10):g}",
            f"UserKnownHostsFile={_path(known)}",
            "GlobalKnownHostsFile=/dev/null",
        ]
        return [
            "ssh",
            "-F",
            "/dev/null",
            "-i",
            _path(key),
            "-p",
            str(self.login.port),
            *(word for o in options for word in ("-o", o)),
            "-l",
            self.login.user,
            "--",
            self.login.host,
            command,
        ]


# What ssh says, the option at fault, and what to do
_SSH = (
    (
        r"host key verification failed|no .* host key is known|no matching host key",
        "ssh_known_hosts",
        Message(
            "The host key of {host} is another one. Enter the line that ssh-keyscan {host} prints."
        ),
    ),
    (
        r"could not resolve",
        "ssh_host",
        Message("The login host {host} is unknown to DNS. Check its name."),
    ),
    (
        r"permission denied",
        "ssh_key",
        Message(
            "{host} rejected the key. Add its public key to authorized_keys of the SSH user, or "
            "correct the user."
        ),
    ),
    (
        r"invalid format|error in libcrypto|passphrase|load key",
        "ssh_key",
        Message("The SSH key can't be read. Paste all of a private key without a passphrase."),
    ),
    (
        r"connection refused|timed out|no route|closed by remote|connection reset",
        "ssh_host",
        Message("{host} does not answer over SSH. Check the host, its SSH port and the firewall."),
    ),
)


def ssh_trouble(host: str, said: str) -> Unavailable:
    """Return what a failure of ssh itself means; later patterns may also be in earlier messages."""
    for pattern, option, text in _SSH:
        if re.search(pattern, said, re.IGNORECASE):
            return Unavailable(
                Message("{why} ({said})", why=text.format(host=host), said=said), option
            )
    return Unavailable(f"The login host {host} cannot be reached: {said}", "ssh_host")


def _in_memory(text: str) -> int:
    file = os.memfd_create("muster", os.MFD_CLOEXEC)
    os.fchmod(file, 0o600)
    os.write(file, (text.strip() + "\n").encode())
    return file


def _path(file: int) -> str:
    return f"/proc/{os.getpid()}/fd/{file}"
