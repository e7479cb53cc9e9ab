"""Kill leftover processes of the rig: `python -m tests.rig.keeper MARK`.

On SIGTERM it kills every process with MARK in its environment, and all descendants. slurmd leaves
its jobs behind when it dies, and daemons that change their user no longer get PR_SET_PDEATHSIG.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from tests.rig.processes import Folder

VARIABLE = "MUSTER_RIG_MARK"
SECONDS = 8


def start_keeper(folder: Folder, mark: str, name: str) -> subprocess.Popen[bytes]:
    """Start a keeper that ends with the folder or with its parent."""
    root = Path(__file__).resolve().parents[2]
    environment = {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": str(root),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    return folder.start(name, [sys.executable, "-m", "tests.rig.keeper", mark], env=environment)


def marked(mark: str) -> set[int]:
    """Return the pids of the processes with the mark and of their descendants."""
    needle = f"{VARIABLE}={mark}\0".encode()
    found: set[int] = set()
    parents: dict[int, int] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                stat = (entry / "stat").read_text()
                environment = (entry / "environ").read_bytes()
            except OSError:  # it ended meanwhile
                continue
            state, parent = stat.rpartition(")")[2].split()[:2]
            if state == "Z":
                continue
            pid = int(entry.name)
            parents[pid] = int(parent)
            if needle in environment + b"\0":
                found.add(pid)
    while more := {pid for pid, parent in parents.items() if parent in found and pid not in found}:
        found |= more
    return found - {os.getpid()}


def kill_marked(mark: str) -> None:
    """Kill them until none is left, for at most SECONDS."""
    deadline = time.monotonic() + SECONDS
    while (pids := marked(mark)) and time.monotonic() < deadline:
        for pid in pids:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:  # it ended together with another
                continue
        time.sleep(0.02)


def main(mark: str) -> None:
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
    signal.sigwait({signal.SIGTERM})
    kill_marked(mark)


if __name__ == "__main__":
    main(sys.argv[1])
