"""Start or adopt one local job, enforce its limits, and record how it ended.

Started by `python -I -S -c BOOT …/supervisor.py DIR`. One supervisor runs for each job, and its
imports are most of its cost, so it uses little of the standard library (`re`, which `json` imports,
doubles the cost of the interpreter). It may be killed at any moment: the job itself writes its log
and its exit code, and the next supervisor continues from the files in DIR:

    launch.json   what to run (written before anything starts; again when the time limit changes)
    pid           "PID STARTTIME" of the job's first process
    secret.json   variables and secrets until the start; afterwards in memory, in the folder `room`
    output.log    output of the job, written by the job itself
    exit          exit code of the job, written by a shell that wraps it
    cancel        cancellation request: grace period in seconds
    end.json      how the job ended (the last file written)
    NAME.new      space for each of these, preallocated before the start and written in place:
                  with a full disk jobs still start and stop, and their exit codes are known

The job runs as another user or in a sandbox (isolation.py). In this folder it owns only work, out,
script and output.log.
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

TYPE_CHECKING = False  # without importing typing
if TYPE_CHECKING:
    from typing import Any

    Json = dict[str, Any]
# The caller waits for the first process only. Imported as a module it is loaded from the bytecode
# cache.
BOOT = """\
import os, sys
if os.fork():
    os._exit(0)
os.setsid()
sys.path.append(os.path.dirname(os.path.dirname(sys.argv[1])))
from local import supervisor
os._exit(supervisor.main(sys.argv[2]))
"""

# The trap keeps the shell alive to record the exit code; its children get default signal handlers.
WRAPPER = """\
trap : TERM INT HUP USR1 USR2
"$@"
code=$?
printf '%s\n' "$code" 1<>"$0.new" && mv "$0.new" "$0"
exit "$code"
"""
# ends with its children: SIGTERM would end it first and lose the exit code
SANDBOX = "bwrap"
LOOK = 0.5  # seconds between checks of limits and of cancellation
ROOM = ("pid", "state.json", "exit", "cancel", "end.json")
SPARE_BYTES = 4096  # bytes of spaces, which are valid after JSON and numbers


def main(folder: str) -> int:
    os.chdir(folder)
    lock = os.open("supervisor.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return 0  # another supervisor is running
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
    """Fork the job's first process: a shell that runs the command and records its exit code.

    Only one process can create `pid`.
    """
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
            # it failed to become the job: record a code rather than an outside kill
            if os.path.exists("pid"):
                write("exit", "125")
            os._exit(125)
    os.close(ready_write)
    os.read(ready_read, 1)
    os.close(ready_read)


def claim_pid() -> int:
    """Create the pid file. Raises FileExistsError for all but the first caller."""
    os.link("pid.new", "pid")
    return os.open("pid", os.O_WRONLY)


def become(launch: Json) -> None:
    """Replace this process by the job.

    Output goes straight to the file, so no process can break a pipe by dying.
    """
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
    """Write the job's variables and secret files to a folder that only its user can read.

    The folder is deleted at the end of the job. Raises if it exists already, as it would not be
    ours.
    """
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
        os.chmod(launch["room"], 0o710)  # noqa: S103  the group contains the job's user only
    os.unlink("secret.json")


def drop_secrets(launch: Json) -> None:
    """Delete the secrets once nothing needs them."""
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
    """Watch the job until its first process ends, then record the end."""
    words = read("pid").split()
    if len(words) < 3:  # killed between creating and filling the file: nothing was started
        finish(None, signal.SIGKILL, "", launch, time.time())
        return
    pid, born, since = int(words[0]), words[1], float(words[2])
    stop_reason, peak, over, full, kill_at = "", 0, False, False, 0.0
    written, deadline = 0, 0.0
    alive = handle_of(pid, born)
    while alive is not None and not gone(alive, pid, born):
        now = time.time()
        if (at := os.stat("launch.json").st_mtime_ns) != written:
            written, limit = at, parse(read("launch.json"))["time_limit"]
            deadline = since + limit if limit else 0.0
        used = memory_of(pid, born)
        peak = max(peak, used)
        full = full or is_full()
        if launch["memory"] and used > launch["memory"] and not over:
            over, kill_at = True, now
        if not stop_reason and os.path.exists("cancel"):
            stop_reason = "cancel"
            kill_at = kill_at or now + float(read("cancel") or 30)
            end_all(pid, launch, signal.SIGTERM)
        if not stop_reason and deadline and now >= deadline:
            stop_reason, kill_at = "time", now + launch["grace"]
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
        stop_reason,
        launch,
        since,
        peak,
        over,
        found,
        full,
    )


def gone(alive: int, pid: int, born: str) -> bool:
    """Wait briefly for the end; returns whether the process ended."""
    if alive < 0:
        time.sleep(LOOK)
        return start_time(pid) != born
    poll = select.poll()
    poll.register(alive, select.POLLIN)
    if not poll.poll(LOOK * 1000):
        return False
    try:
        os.waitpid(pid, 0)  # a child must be reaped; an adopted process is not a child
    except ChildProcessError:
        pass
    return True


def handle_of(pid: int, born: str) -> int | None:
    """Return a pidfd, which becomes readable when the process ends.

    -1 if the kernel has no pidfd; None if the process is gone.
    """
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
    """Send a signal to the whole process tree of a job, or to its container."""
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
