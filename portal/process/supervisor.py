"""The parent of the server stack: loads everything once, forks components and restarts them.

Forking from one loaded and frozen parent shares most memory pages (figures in docs/design/run.md)
and makes restarts take milliseconds. The parent serves nothing and stays single-threaded.
"""

from __future__ import annotations

import ctypes
import logging
import os
import signal
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

logger = logging.getLogger(__name__)
_PR_SET_PDEATHSIG, _PR_SET_NAME = 1, 15
_SIGNALS = {signal.SIGCHLD, signal.SIGTERM, signal.SIGINT, signal.SIGHUP}
# Seconds; a component that ran for _STEADY is restarted at once.
_FIRST_PAUSE, _LONGEST_PAUSE, _STEADY_SECONDS = (
    0.05,
    10.0,
    3.0,
)
_GRACE = 15.0  # seconds between SIGTERM and SIGKILL


@dataclass
class SupervisedPart:
    """A component and its restart state; `due` is when it may start again (monotonic)."""

    name: str
    entry: Callable[[], None]
    pid: int = 0
    born: float = 0.0
    pause: float = _FIRST_PAUSE
    due: float = 0.0


class Supervisor:
    """Run components until SIGTERM or SIGINT; writes `run_folder/<part>.pid`."""

    def __init__(self, entries: Mapping[str, Callable[[], None]], run_folder: Path) -> None:
        self._parts = [SupervisedPart(name, entry) for name, entry in entries.items()]
        self._folder = run_folder
        self._stopping = False

    def start(self, *names: str) -> None:
        """Start the components with these names, or all that are not running."""
        signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)
        self._folder.mkdir(mode=0o700, exist_ok=True)
        for part in self._parts:
            if not part.pid and (part.name in names or not names):
                self._spawn(part)

    def tick(self, longest: float = 3600.0) -> bool:
        """Wait up to `longest` seconds for an event and handle it; return False to stop."""
        now = time.monotonic()
        waiting = [part.due - now for part in self._parts if not part.pid]
        got = signal.sigtimedwait(_SIGNALS, max(0.0, min([longest, *waiting])))
        if got and got.si_signo != signal.SIGCHLD:
            return False
        self._reap()
        for part in self._parts:
            if not part.pid and part.due <= time.monotonic():
                self._spawn(part)
        return True

    def stop(self) -> None:
        """Stop all components: SIGTERM, then SIGKILL after a grace period."""
        self._stopping = True
        self._signal_all(signal.SIGTERM)
        deadline = time.monotonic() + _GRACE
        while any(part.pid for part in self._parts) and time.monotonic() < deadline:
            signal.sigtimedwait({signal.SIGCHLD}, 0.2)
            self._reap()
        self._signal_all(signal.SIGKILL)
        for part in self._parts:
            if part.pid:
                os.waitpid(part.pid, 0)
            (self._folder / f"{part.name}.pid").unlink(missing_ok=True)

    def _spawn(self, part: SupervisedPart) -> None:
        sys.stdout.flush()
        sys.stderr.flush()
        parent, pid = os.getpid(), os.fork()
        if pid == 0:
            run_child(part.name, part.entry, parent)
        part.pid, part.born = pid, time.monotonic()
        fresh = self._folder / f"{part.name}.pid.new"
        fresh.write_text(f"{pid}\n")
        fresh.replace(self._folder / f"{part.name}.pid")  # atomic

    def _reap(self) -> None:
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            with suppress(ProcessLookupError):
                os.killpg(pid, signal.SIGKILL)  # the workers of nginx survive its main process
            for part in self._parts:
                if part.pid == pid:
                    self._handle_exit(part, status)

    def _handle_exit(self, part: SupervisedPart, status: int) -> None:
        lived = time.monotonic() - part.born
        part.pid = 0
        if self._stopping:
            return
        part.pause = (
            _FIRST_PAUSE if lived >= _STEADY_SECONDS else min(part.pause * 2, _LONGEST_PAUSE)
        )
        part.due = time.monotonic() + part.pause
        logger.warning(
            "%s ended (%s) after %.1f s; restarting in %.2f s",
            part.name,
            _exit_text(status),
            lived,
            part.pause,
        )

    def _signal_all(self, number: int) -> None:
        for part in self._parts:
            if part.pid:
                os.kill(part.pid, number)


def run_child(name: str, entry: Callable[[], None], parent: int) -> None:
    """Run a component in the forked child; never returns.

    Resets signals, sets the process name, and ends with the parent.
    """
    code = 1
    try:
        libc = ctypes.CDLL(None)
        libc.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
        libc.prctl(_PR_SET_NAME, f"muster-{name}".encode()[:15])
        for number in _SIGNALS:
            signal.signal(number, signal.SIG_DFL)
        # Ctrl-C reaches the whole process group, and the parent decides. Jobs would inherit
        # SIG_IGN.
        signal.signal(signal.SIGINT, lambda *_: None)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _SIGNALS)
        if os.getppid() == parent:
            entry()
        code = 0
    except SystemExit as stop:
        code = stop.code if isinstance(stop.code, int) else 1
    except BaseException:
        logger.exception("%s failed", name)
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def _exit_text(status: int) -> str:
    code = os.waitstatus_to_exitcode(status)
    return f"killed by {signal.Signals(-code).name}" if code < 0 else f"exit {code}"
