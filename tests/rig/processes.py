"""Processes of the rig, which end with their parent and whose pids are in a file."""

from __future__ import annotations

import ctypes
import os
import pwd
import random
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

_PR_SET_PDEATHSIG = 1
_libc = ctypes.CDLL(None, use_errno=True)


class RigFailure(Exception):
    """A component could not be started; the message holds the end of its log.

    The suite fails then; it never skips tests.
    """


_PARTS = 8
_ENTROPY = random.SystemRandom()


def free_port() -> int:
    """Return a free port on loopback."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def free_ports(count: int) -> int:
    """Return the first of `count` consecutive free ports below the ephemeral range.

    Each process of the suite has a part of the range of its own, and its choice does not depend on
    the seed of a test: two rigs that start at a time would take the same ports otherwise.
    """
    worker = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw")) % _PARTS
    part = (32_768 - 10_240) // _PARTS
    begin = 10_240 + worker * part
    for _ in range(200):
        first = _ENTROPY.randrange(begin, begin + part - count)
        if all(_is_free(port) for port in range(first, first + count)):
            return first
    raise RigFailure(f"there are no {count} free ports in a row")


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
        return True


def is_listening(port: int) -> bool:
    with socket.socket() as probe:
        probe.settimeout(0.5)
        return probe.connect_ex(("127.0.0.1", port)) == 0


def wait_until(
    condition: Callable[[], object], what: str, seconds: float = 60, every: float = 0.02
) -> None:
    """Wait until `condition()` is true. Raises RigFailure with `what` after a timeout."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            raise RigFailure(f"{what}: not after {seconds:g} s")
        time.sleep(every)


def program(name: str, *places: str) -> str:
    """Return the path of a program in PATH or the given folders. Raises RigFailure."""
    path = shutil.which(name, path=os.pathsep.join([os.environ.get("PATH", ""), *places]))
    if path is None:
        raise RigFailure(f"{name} is not installed; make test names the packages")
    return path


def _die_with_parent(sig: int) -> Callable[[], None]:
    parent = os.getpid()

    def prepare() -> None:
        _libc.prctl(_PR_SET_PDEATHSIG, sig)
        if os.getppid() != parent:
            os.kill(os.getpid(), sig)

    return prepare


@dataclass
class Folder:
    """The temporary folder of a rig, with the file `pids`; `close()` stops and removes all."""

    path: Path = field(default_factory=lambda: Path(tempfile.mkdtemp(prefix="muster-rig-")))
    started: list[tuple[subprocess.Popen[bytes], int]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.path.chmod(0o755)

    def start(
        self,
        name: str,
        argv: Sequence[str],
        *,
        user: str | None = None,
        stop_by: int = signal.SIGTERM,
        env: Mapping[str, str] | None = None,
    ) -> subprocess.Popen[bytes]:
        """Start `argv` with output in `<name>.log`; it gets `stop_by` when this process ends."""
        with (self.path / f"{name}.log").open("ab") as log:
            process = subprocess.Popen(
                list(argv),
                cwd=self.path,
                user=user,
                group=pwd.getpwnam(user).pw_gid if user else None,
                extra_groups=[] if user else None,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env=dict(env) if env is not None else None,
                preexec_fn=_die_with_parent(stop_by),  # noqa: PLW1509  (one prctl call, nothing that a thread may hold)
            )
        self.started.append((process, stop_by))
        with (self.path / "pids").open("a") as pids:
            pids.write(f"{process.pid} {name}\n")
        return process

    def tail(self, name: str, size: int = 2000) -> str:
        path = self.path / f"{name}.log"
        return path.read_bytes()[-size:].decode(errors="replace") if path.exists() else ""

    def close(self, *, keep: bool = False) -> None:
        """Stop all processes; remove the folder unless it is to be kept."""
        for process, stop_by in reversed(self.started):
            if process.poll() is None:
                process.send_signal(stop_by)
        for process, _ in reversed(self.started):
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        if not keep:
            shutil.rmtree(self.path, ignore_errors=True)
