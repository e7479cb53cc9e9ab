"""Allow only one portal per MUSTER_HOME."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

from portal.process.words import Refusal


class HomeLock:
    """A lock held until the process ends for any reason. The file holds the pid."""

    def __init__(self, home: Path) -> None:
        self._path = home / "portal.lock"
        self._fd = -1

    def take(self) -> None:
        """Acquire the lock. Raises Refusal if another portal uses the same home."""
        fd = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = os.read(fd, 32).decode(errors="replace").strip() or "unknown"
            os.close(fd)
            raise Refusal(
                f"Another portal (process {holder}) already runs on {self._path.parent}.\n"
                f"Stop it first (kill {holder}), or use another home: MUSTER_HOME=./var2 make run"
            ) from None
        os.ftruncate(fd, 0)
        os.write(fd, f"{os.getpid()}\n".encode())
        self._fd = fd

    def release(self) -> None:
        """Release the lock explicitly, because forked children share it until they end."""
        if self._fd >= 0:
            fcntl.flock(self._fd, fcntl.LOCK_UN)
            os.close(self._fd)
            self._fd = -1

    def forget(self) -> None:
        """Close our copy in a forked child, so that the lock ends with the parent."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1
