"""The name of this process as a holder of leases, from which another process of the same machine can prove that it is dead."""

from __future__ import annotations

import hashlib
import os
import socket
from functools import lru_cache
from pathlib import Path
from uuid import uuid4


def new_holder() -> str:
    """`host:where:pid:born:once`. `where` is this boot of this host and the space its pids are counted in; `born` is when the
    process began, which with the pid names it for ever; `once` tells several holders in one process apart."""
    pid = os.getpid()
    return f"{socket.gethostname()[:30]}:{_where(pid)}:{pid}:{_born(pid)}:{uuid4().hex[:8]}"


def is_dead(holder: str) -> bool:
    """True only when the holder's process was here and is certainly gone. What ran elsewhere, or cannot be told, may live."""
    words = holder.rsplit(":", 4)
    if len(words) != 5 or not words[2].isdigit() or not words[1] or words[1] != _where(os.getpid()):
        return False
    pid, born = int(words[2]), words[3]
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    except OSError:
        pass                                    # somebody else's by now, or still: its beginning tells
    return bool(born) and (now := _born(pid)) != "" and now != born


@lru_cache(maxsize=1)                           # anew in a child: unsharing would show only there
def _where(pid: int) -> str:
    """Empty where the kernel does not say."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        spaces = [Path(f"/proc/self/ns/{name}").readlink() for name in ("pid", "time")]
    except OSError:
        return ""
    return hashlib.sha256(f"{socket.gethostname()} {boot} {spaces}".encode()).hexdigest()[:16]


def _born(pid: int) -> str:
    """Clock ticks from boot to the start of the process; empty where the kernel does not say."""
    try:
        return Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()[19].decode()
    except (OSError, IndexError):
        return ""
