"""A full disk under a running portal.

`Mounted` is a real one: a tmpfs of 64 MiB, mounted by root. `Limited` is its double where mounting
is not possible: RLIMIT_FSIZE of the portal's processes is one byte, so writes fail with EFBIG, as
they would with ENOSPC. It does not affect jobs and their supervisors.
"""

from __future__ import annotations

import os
import resource
import subprocess
from contextlib import suppress
from pathlib import Path

import psutil

from tests.rig.portal import Portal


class Mounted:
    """A disk of `size` bytes mounted at `home`."""

    def __init__(self, home: Path, size: int = 64 << 20) -> None:
        """Raise CalledProcessError if mounting is refused."""
        self._home = home
        home.mkdir(parents=True)
        subprocess.run(
            ["mount", "-t", "tmpfs", "-o", f"size={size},mode=700", "tmpfs", str(home)],
            check=True,
            capture_output=True,
        )

    def fill(self) -> None:
        """Fill the disk to the last byte."""
        with suppress(OSError), open(self._home / "filler", "ab", buffering=0) as file:
            for piece in (1 << 20, 4096, 1):
                with suppress(OSError):
                    while file.write(b"\0" * piece):
                        pass

    def free(self) -> None:
        (self._home / "filler").unlink()

    def close(self) -> None:
        subprocess.run(["umount", "--lazy", str(self._home)], check=True)


class Limited:
    """Forbid the portal's processes to write files."""

    def __init__(self, portal: Portal) -> None:
        self._portal = portal

    def fill(self) -> None:
        self._limit(1)

    def free(self) -> None:
        self._limit(resource.RLIM_INFINITY)

    def close(self) -> None:
        """Do nothing: there is nothing to clean up."""

    def _limit(self, size: int) -> None:
        assert self._portal.process is not None
        whole = psutil.Process(self._portal.process.pid)
        for process in (whole, *whole.children(recursive=True)):
            with suppress(psutil.NoSuchProcess, ProcessLookupError):
                if os.getpid() != process.pid:
                    resource.prlimit(
                        process.pid, resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY)
                    )


def small_disk(portal: Portal) -> Mounted | Limited:
    """Return a real disk if possible. Call it before the portal starts."""
    try:
        return Mounted(portal.home)
    except subprocess.CalledProcessError:
        return Limited(portal)
