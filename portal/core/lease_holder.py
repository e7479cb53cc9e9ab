"""Name this process as a lease holder, so that others on its host can detect its end."""

from __future__ import annotations

import hashlib
import itertools
import os
import socket
from functools import lru_cache
from pathlib import Path
from uuid import UUID, uuid4

# Bits; a pid has at most 22.
_PID, _BORN, _ONCE = 22, 36, 16
_counter = itertools.count()


def new_holder() -> str:
    """Return a holder name of the form `host:where:pid:born:once`.

    `where` identifies the boot of this host and the pid namespace. `born` is the start time of the
    process, which makes the pid unique. `once` distinguishes several holders in one process.
    """
    pid = os.getpid()
    return f"{socket.gethostname()[:30]}:{_where(pid)}:{pid}:{_start_ticks(pid)}:{uuid4().hex[:8]}"


def new_lease() -> UUID:
    """Return a version 8 UUID that identifies the holder without a row of its own.

    Returns a random UUID if the process cannot be identified.
    """
    pid = os.getpid()
    where, born = _where(pid), _start_ticks(pid)
    if not where or not born or int(born) >> _BORN:
        return uuid4()
    rest = (pid << _BORN | int(born)) << _ONCE | next(_counter) % (1 << _ONCE)
    return UUID(
        int=int(where, 16) << 80 | 8 << 76 | (rest >> 62) << 64 | 2 << 62 | rest & (1 << 62) - 1
    )


def is_dead(holder: str | UUID) -> bool:
    """Return True only if the holder ran on this host and has certainly ended."""
    where, pid, born = _parse_lease(holder) if isinstance(holder, UUID) else _parse_holder(holder)
    if not where or not born or where != _where(os.getpid()):
        return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    except OSError:
        pass  # the process exists: compare its start time
    return (now := _start_ticks(pid)) != "" and now != born


def _parse_holder(holder: str) -> tuple[str, int, str]:
    words = holder.rsplit(":", 4)
    return (
        (words[1], int(words[2]), words[3])
        if len(words) == 5 and words[2].isdigit()
        else ("", 0, "")
    )


def _parse_lease(lease: UUID) -> tuple[str, int, str]:
    if lease.version != 8:
        return "", 0, ""
    rest = (lease.int >> 64 & 0xFFF) << 62 | lease.int & (1 << 62) - 1
    return f"{lease.int >> 80:012x}", rest >> _BORN + _ONCE, str(rest >> _ONCE & (1 << _BORN) - 1)


@lru_cache(maxsize=1)  # cached per process: a child may have another pid namespace
def _where(pid: int) -> str:
    """Return twelve hexadecimal digits, or "" if the kernel does not expose the data."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        spaces = [str(Path(f"/proc/self/ns/{name}").readlink()) for name in ("pid", "time")]
    except OSError:
        return ""
    return hashlib.sha256(f"{socket.gethostname()} {boot} {spaces}".encode()).hexdigest()[:12]


def _start_ticks(pid: int) -> str:
    """Return the start time of the process in clock ticks since boot, or "" if unknown."""
    try:
        return Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()[19].decode()
    except (OSError, IndexError):
        return ""
