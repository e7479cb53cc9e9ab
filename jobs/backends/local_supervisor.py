"""The small program that stands by one local job: it starts it, or adopts it, watches its limits, and writes down how it ended.

Run as `python -I -S supervisor.py DIR`; standard library only. It may be killed at any moment: the job writes its log and its
exit code by itself, and the next supervisor goes on from the files in DIR.

    launch.json   what to run (written before anything starts)      pid     "PID STARTTIME" of the job's first process
    output.log    the job's output, written by the job itself       exit    its exit code, written by its own shell
    cancel        "ask to end": seconds of grace                    end.json how it ended (the last file written)
    NAME.new      room for each of these, taken before anything starts and written in place: a job whose disk is full still
                  starts, ends and is stopped as it should, and its exit code is known
"""

from __future__ import annotations

import fcntl
import json
import os
import select
import signal
import sys
import time
from typing import Any

# The trap keeps the shell alive to write the code down; its children get the signals' defaults back.
WRAPPER = """\
trap : TERM INT HUP USR1 USR2
"$@"
code=$?
printf '%s\n' "$code" 1<>"$MUSTER_EXIT.new" && mv "$MUSTER_EXIT.new" "$MUSTER_EXIT"
exit "$code"
"""
Json = dict[str, Any]
LOOK = 0.5          # seconds between looks at limits and at the wish to end
ROOM = ("pid", "state.json", "exit", "cancel", "end.json")
ROOM_SIZE = 4096    # bytes of spaces, which JSON and numbers may have behind them
FULL = 64 << 10     # bytes: a disk with less is full


def main(folder: str) -> int:
    os.chdir(folder)
    lock = os.open("supervisor.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return 0                                    # another one stands by already
    if os.path.exists("end.json"):
        return 0
    launch = json.loads(read("launch.json"))
    if not os.path.exists("pid"):
        if os.path.exists("cancel"):
            finish(None, None, "cancel", {}, time.time())
            return 0
        start(launch)
    watch(launch)
    return 0


def start(launch: Json) -> None:
    """Fork the job's first process: a shell that runs the command and records its exit code. Only one can create `pid`."""
    ready_read, ready_write = os.pipe()
    if os.fork() == 0:
        try:
            os.setsid()
            made = claim_pid()
            os.write(made, f"{os.getpid()} {start_time(os.getpid())} {time.time()}".encode())
            os.close(made)
            write("state.json", json.dumps({"key": launch["key"], "pid": os.getpid(), "started": int(start_time(os.getpid())),
                                            "gpus": launch["gpus"]}))
            os.write(ready_write, b"1")
            become(launch)
        except FileExistsError:
            os._exit(0)
        except BaseException as error:
            os.write(2, f"muster: {error}\n".encode())
            os._exit(125)
    os.close(ready_write)
    os.read(ready_read, 1)
    os.close(ready_read)


def claim_pid() -> int:
    """Raises FileExistsError for all but the first."""
    os.link("pid.new", "pid")
    return os.open("pid", os.O_WRONLY)


def become(launch: Json) -> None:
    """Turn into the job. Its output goes straight into the file, so that nobody's death can break a pipe."""
    output = os.open("output.log", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(output, 1)
    os.dup2(output, 2)
    for number in range(1, signal.NSIG):
        if number not in (signal.SIGKILL, signal.SIGSTOP, 32, 33):
            try:
                signal.signal(number, signal.SIG_DFL)
            except (OSError, ValueError):
                pass
    if launch["affinity"]:
        os.sched_setaffinity(0, launch["affinity"])
    env = dict(launch["env"], MUSTER_EXIT=os.path.abspath("exit"))
    os.chdir("work")
    os.closerange(3, 256)
    os.execve("/bin/sh", ["sh", "-c", WRAPPER, "sh", *launch["argv"]], env)  # noqa: S606  that is the point


def watch(launch: Json) -> None:
    """Until the job's first process is gone; then write down how it ended."""
    words = read("pid").split()
    if len(words) < 3:                              # killed between making the file and filling it: nothing was started
        finish(None, signal.SIGKILL, "", launch, time.time())
        return
    pid, born, since = int(words[0]), words[1], float(words[2])
    asked, peak, over, full, kill_at = "", 0, False, False, 0.0
    deadline = since + launch["time_limit"] if launch["time_limit"] else 0.0
    alive = handle_of(pid, born)
    while alive is not None and not gone(alive, pid, born):
        now = time.time()
        used = memory_of(pid, born)
        peak = max(peak, used)
        full = full or is_full()
        if launch["memory"] and used > launch["memory"] and not over:
            over, kill_at = True, now
        if not asked and os.path.exists("cancel"):
            asked = "cancel"
            kill_at = kill_at or now + float(read("cancel") or 30)
            end_all(pid, launch, signal.SIGTERM)
        if not asked and deadline and now >= deadline:
            asked, kill_at = "time", now + launch["grace"]
            end_all(pid, launch, signal.SIGTERM)
        if kill_at and now >= kill_at:
            end_all(pid, launch, signal.SIGKILL)
    left = leftovers(launch["key"])
    for other in left:
        kill(other, signal.SIGKILL)
    finish(exit_code(), None if exit_code() is not None else signal.SIGKILL, asked, launch, since, peak, over, len(left), full)


def gone(alive: int, pid: int, born: str) -> bool:
    """Wait a little for the end; True when it came."""
    if alive < 0:
        time.sleep(LOOK)
        return start_time(pid) != born
    poll = select.poll()
    poll.register(alive, select.POLLIN)
    if not poll.poll(LOOK * 1000):
        return False
    try:
        os.waitpid(pid, 0)                          # ours; an adopted one is not, and needs no burial
    except ChildProcessError:
        pass
    return True


def handle_of(pid: int, born: str) -> int | None:
    """A descriptor that becomes readable when it ends; -1 where the kernel has none; None when it is gone already."""
    if start_time(pid) != born:
        return None
    try:
        handle = os.pidfd_open(pid)
    except ProcessLookupError:
        return None
    except OSError:
        return -1
    return handle if start_time(pid) == born else None


def end_all(pid: int, launch: Json, number: int) -> None:
    """To the job's whole tree, wherever it went; in a container, to the container."""
    if launch["container"]:
        if number == signal.SIGTERM or not os.path.exists("exit"):
            spawn([*launch["container"], "kill", "--signal", str(int(number)), launch["key"]])
        if number == signal.SIGTERM:
            return
    for other in {pid, *tree_of(pid), *leftovers(launch["key"])}:
        if other != pid or number == signal.SIGKILL:
            kill(other, number)
    if number == signal.SIGTERM:
        kill(pid, number)


def spawn(argv: list[str]) -> None:
    if os.fork() == 0:
        os.dup2(os.open(os.devnull, os.O_RDWR), 2)
        os.execvp(argv[0], argv)  # noqa: S606  argv, no shell


def kill(pid: int, number: int) -> None:
    try:
        os.kill(pid, number)
    except (ProcessLookupError, PermissionError):
        pass


def finish(code: int | None, number: int | None, asked: str, launch: Json, since: float, peak: int = 0, over: bool = False,
           left: int = 0, full: bool = False) -> None:
    write("end.json", json.dumps({"exit_code": code, "signal": number, "asked": asked, "started": since, "finished": time.time(),
                                  "peak": peak, "over_memory": over, "left": left, "boot": boot_id(),
                                  "disk_full": full}))


def exit_code() -> int | None:
    try:
        return int(read("exit"))
    except (FileNotFoundError, ValueError):
        return None


def tree_of(pid: int) -> list[int]:
    """All descendants."""
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


def leftovers(key: str) -> list[int]:
    """Processes that carry the job's key in their environment: also those that left its tree and session."""
    mark, found = b"MUSTER_JOB_KEY=" + key.encode() + b"\0", []
    for name in os.listdir("/proc"):
        if name.isdigit() and int(name) != os.getpid():
            try:
                with open(f"/proc/{name}/environ", "rb") as file:
                    if mark in file.read() + b"\0":
                        found.append(int(name))
            except OSError:
                pass
    return found


def memory_of(pid: int, born: str) -> int:
    """Resident bytes of the tree; where processes share much, the sum counts that more than once."""
    total = 0
    for one in [pid, *tree_of(pid)]:
        try:
            with open(f"/proc/{one}/statm") as file:
                total += int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
        except (OSError, IndexError):
            pass
    return total


def start_time(pid: int) -> str:
    """Field 22 of stat, clock ticks since boot: with the pid it names a process for ever. Empty for none, or a zombie."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            words = file.read().rpartition(b")")[2].split()
    except OSError:
        return ""
    return "" if words[0] == b"Z" else words[19].decode()


def boot_id() -> str:
    return read("/proc/sys/kernel/random/boot_id").strip()


def read(path: str) -> str:
    with open(path) as file:
        return file.read()


def is_full() -> bool:
    """Whether the disk below the job's folder takes no more from us."""
    disk = os.statvfs(".")
    return (disk.f_bfree if os.geteuid() == 0 else disk.f_bavail) * disk.f_frsize < FULL


def write(path: str, text: str) -> None:
    """Whole or not at all, also after a power cut; in the room that was taken for it, if there is any."""
    new = os.open(path + ".new", os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        data = text.encode()
        while data:
            data = data[os.write(new, data):]
        os.ftruncate(new, os.lseek(new, 0, os.SEEK_CUR))
        os.fsync(new)
    finally:
        os.close(new)
    os.replace(path + ".new", path)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
