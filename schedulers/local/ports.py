"""Find out whether a process of a job listens on a port: local jobs share those of the machine."""

from __future__ import annotations

import os
from collections.abc import Iterable

_LISTEN = "0A"


def listens(port: int, pids: Iterable[int]) -> str:
    """Return the loopback address at which one of the processes listens, or ""."""
    sockets = _listeners(port)
    if not sockets:
        return ""
    for pid in pids:
        try:
            names = os.listdir(f"/proc/{pid}/fd")
        except OSError:
            continue
        for name in names:
            try:
                target = os.readlink(f"/proc/{pid}/fd/{name}")
            except OSError:
                continue
            if target in sockets:
                return sockets[target]
    return ""


def _listeners(port: int) -> dict[str, str]:
    """Return the listening sockets of a port as links in /proc name them, with an address of each."""
    found = {}
    for table, address, anywhere in (
        ("tcp", "127.0.0.1", ("0100007F", "00000000")),
        ("tcp6", "::1", ("00000000000000000000000001000000", "0" * 32)),
    ):
        try:
            with open(f"/proc/net/{table}") as file:
                lines = file.read().splitlines()[1:]
        except OSError:
            continue
        for line in lines:
            words = line.split()
            host, _, number = words[1].partition(":")
            if words[3] == _LISTEN and int(number, 16) == port and host in anywhere:
                found[f"socket:[{words[9]}]"] = address
    return found
