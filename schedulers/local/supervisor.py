"""The small program that stands by one local job: it starts it, or adopts it, watches its limits, and writes down how it ended.

Started by `python -I -S -c BOOT …/supervisor.py DIR`; standard library only, and of that little: one starts for each job, and what
it imports is most of what it costs (`re`, which `json` wants, is twice the interpreter). It may be killed at any moment: the job writes its
log and its exit code by itself, and the next supervisor goes on from the files in DIR.

    launch.json   what to run (written before anything starts)      pid     "PID STARTTIME" of the job's first process
    secret.json   its variables and secrets, until it starts: then they lie in memory, in the folder `room`
    output.log    the job's output, written by the job itself       exit    its exit code, written by a shell of ours around it
    cancel        "ask to end": seconds of grace                    end.json how it ended (the last file written)
The job runs as another user or in a sandbox (local_isolation); of this folder only work, out, script and output.log are its own.

    NAME.new      room for each of these, taken before anything starts and written in place: a job whose disk is full still
                  starts, ends and is stopped as it should, and its exit code is known
"""

from __future__ import annotations

import _signal as signal  # type: ignore[import-not-found]  # the numbers without the enums
import fcntl
import os
import select
import time

from .files import boot_id, dump, is_full, parse, read, write
from .processes import (
    kill,
    leftovers,
    memory_of,
    name_of,
    spawn,
    start_time,
    tree_of,
)

TYPE_CHECKING = False  # typing is one of those
if TYPE_CHECKING:
    from typing import Any

    Json = dict[str, Any]
# Whoever starts it waits for the first process only. As a module it comes from the cache, compiled.
BOOT = """\
import os, sys
if os.fork():
    os._exit(0)
os.setsid()
sys.path.append(os.path.dirname(os.path.dirname(sys.argv[1])))
from local import supervisor
os._exit(supervisor.main(sys.argv[2]))
"""

# The trap keeps the shell alive to write the code down; its children get the signals' defaults back.
WRAPPER = """\
trap : TERM INT HUP USR1 USR2
"$@"
code=$?
printf '%s\n' "$code" 1<>"$0.new" && mv "$0.new" "$0"
exit "$code"
"""
SANDBOX = (
    "bwrap"  # ends with what runs in it: a polite signal would end it first, and lose the exit code
)
LOOK = 0.5  # seconds between looks at limits and at the wish to end
ROOM = ("pid", "state.json", "exit", "cancel", "end.json")
ROOM_SIZE = 4096  # bytes of spaces, which JSON and numbers may have behind them


def main(folder: str) -> int:
    os.chdir(folder)
    lock = os.open("supervisor.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return 0  # another one stands by already
    if os.path.exists("end.json"):
        return 0
    launch = parse(read("launch.json"))
    if not os.path.exists("pid"):
        if os.path.exists("cancel"):
            finish(None, None, "cancel", launch, time.time())
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
            try:
                made = claim_pid()
            except FileExistsError:
                os._exit(0)
            os.write(made, f"{os.getpid()} {start_time(os.getpid())} {time.time()}".encode())
            os.close(made)
            write(
                "state.json",
                dump(
                    {
                        "key": launch["key"],
                        "pid": os.getpid(),
                        "started": int(start_time(os.getpid())),
                        "gpus": launch["gpus"],
                    }
                ),
            )
            os.write(ready_write, b"1")
            become(launch)
        except BaseException as error:
            os.write(2, f"muster: {error}\n".encode())
            if os.path.exists(
                "pid"
            ):  # it did not become the job: a code and not a kill from outside
                write("exit", "125")
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
    keep_secrets(launch)
    result = os.path.abspath("exit")
    os.chdir("work")
    os.closerange(3, 256)
    os.execve("/bin/sh", ["sh", "-c", WRAPPER, result, *launch["argv"]], launch["host"])  # noqa: S606  that is the point


def keep_secrets(launch: Json) -> None:
    """Its variables and the files of its secrets, in a folder that its user may read and nobody but us may change; gone with its end. A
    folder that is there is not ours: that raises."""
    given, uid = parse(read("secret.json")), launch["uid"]
    os.mkdir(launch["room"], 0o700)
    lines = [
        "export " + name + "='" + value.replace("'", "'\\''") + "'\n"
        for name, value in given["env"].items()
    ]
    for name, value in [(".env", "".join(lines)), *given["files"].items()]:
        file = os.open(
            launch["room"] + "/" + name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o400
        )
        data = value.encode(errors="surrogateescape")
        while data:
            data = data[os.write(file, data) :]
        if uid:
            os.fchown(file, uid, uid)
        os.close(file)
    if uid:
        os.chown(launch["room"], 0, uid)
        os.chmod(launch["room"], 0o710)  # noqa: S103  the group is the job's user alone
    os.unlink("secret.json")


def drop_secrets(launch: Json) -> None:
    """Nobody needs the values any more."""
    for path in [
        "secret.json",
        *(launch["room"] + "/" + name for name in (".env", *launch["files"])),
    ]:
        try:
            os.unlink(path)
        except OSError:
            pass
    try:
        os.rmdir(launch["room"])
    except OSError:
        pass


def watch(launch: Json) -> None:
    """Until the job's first process is gone; then write down how it ended."""
    words = read("pid").split()
    if len(words) < 3:  # killed between making the file and filling it: nothing was started
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
    found = len([other for other in left if name_of(other) != SANDBOX])
    for other in left:
        kill(other, signal.SIGKILL)
    finish(
        exit_code(),
        None if exit_code() is not None else signal.SIGKILL,
        asked,
        launch,
        since,
        peak,
        over,
        found,
        full,
    )


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
        os.waitpid(pid, 0)  # ours; an adopted one is not, and needs no burial
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
        if number == signal.SIGKILL or (other != pid and name_of(other) != SANDBOX):
            kill(other, number)
    if number == signal.SIGTERM:
        kill(pid, number)


def finish(
    code: int | None,
    number: int | None,
    asked: str,
    launch: Json,
    since: float,
    peak: int = 0,
    over: bool = False,
    left: int = 0,
    full: bool = False,
) -> None:
    drop_secrets(launch)
    write(
        "end.json",
        dump(
            {
                "exit_code": code,
                "signal": number,
                "asked": asked,
                "started": since,
                "finished": time.time(),
                "peak": peak,
                "over_memory": over,
                "left": left,
                "boot": boot_id(),
                "disk_full": full,
            }
        ),
    )


def exit_code() -> int | None:
    try:
        return int(read("exit"))
    except (FileNotFoundError, ValueError):
        return None
