"""Find the processes of a job in /proc (see supervisor)."""

from __future__ import annotations

import os


def spawn(argv: list[str]) -> None:
    if os.fork() == 0:
        os.dup2(os.open(os.devnull, os.O_RDWR), 2)
        os.execvp(argv[0], argv)  # noqa: S606  argv, no shell


def kill(pid: int, number: int) -> None:
    try:
        os.kill(pid, number)
    except (ProcessLookupError, PermissionError):
        pass


def tree_of(pid: int) -> list[int]:
    """Return all descendants."""
    found, todo = [], [pid]
    while todo:
        parent = todo.pop()
        try:
            tasks = os.listdir(f"/proc/{parent}/task")
        except OSError:
            continue
        for task in tasks:
            try:
                with open(f"/proc/{parent}/task/{task}/children") as file:
                    children = [int(word) for word in file.read().split()]
            except OSError:
                continue
            found += children
            todo += children
    return found


def name_of(pid: int) -> str:
    try:
        with open(f"/proc/{pid}/comm") as file:
            return file.read().strip()
    except (OSError, ValueError):
        return ""


def leftovers(key: str, variable: str = "MUSTER_JOB_KEY") -> list[int]:
    """Return processes with the job's key in their environment, and their descendants.

    The first process of a job's PID namespace has the key, so all processes of the namespace are
    found.
    """
    mark, found = f"{variable}={key}\0".encode(), set()
    for name in os.listdir("/proc"):
        if name.isdigit() and int(name) not in found and int(name) != os.getpid():
            try:
                with open(f"/proc/{name}/environ", "rb") as file:
                    if mark in file.read() + b"\0":
                        found |= {int(name), *tree_of(int(name))}
            except OSError:
                pass
    return [pid for pid in found if start_time(pid)]


def memory_of(pid: int, born: str) -> int:
    """Return the resident bytes of a process tree; shared memory counts once per process."""
    total = 0
    for one in [pid, *tree_of(pid)]:
        try:
            with open(f"/proc/{one}/statm") as file:
                total += int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
        except (OSError, IndexError):
            pass
    return total


def start_time(pid: int) -> str:
    """Return the start time of a process in clock ticks since boot (field 22 of stat).

    Together with the PID it identifies a process uniquely. Empty if there is none, or for a zombie.
    """
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            words = file.read().rpartition(b")")[2].split()
    except OSError:
        return ""
    return "" if words[0] == b"Z" else words[19].decode()
