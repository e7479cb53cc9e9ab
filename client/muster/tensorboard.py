"""Follow TensorBoard event files inside a job and send their bytes to the portal, which reads them.

For jobs whose output folder the portal cannot open, such as those in Kubernetes. The portal knows how
far it has read each file, so nothing is lost or doubled if the command is started again.
"""

from __future__ import annotations

import os
import re
import stat
import time
import urllib.error
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO
from urllib.parse import urlencode

from muster.training import RETRIED, RunTarget

NAME = re.compile(r"events\.out\.tfevents\.")
PIECE = 12 << 20  # bytes of a request: more than the longest record that the portal reads
TRIES = 8  # of a request; the pauses before them are 2 minutes together
TIMEOUT = 60.0  # seconds
Json = dict[str, Any]


class Rejected(Exception):
    """The portal does not take this file."""


class Sync:
    """The event files below a folder; `say` prints warnings."""

    def __init__(self, folder: Path, place: RunTarget, say: Callable[[str], None]):
        self.folder, self.place, self.say = folder, place, say
        self.offsets: dict[str, int] = {}  # of the next byte to send; -1: the file is rejected

    def send_new(self) -> int:
        """Send what is new in all files and return the number of points.

        Raises OSError if the portal cannot be reached for too long.
        """
        return sum(self._send_file(path) for path in _paths(self.folder))

    def _send_file(self, path: str) -> int:
        points, file = 0, _opened(self.folder / path)
        if file is None:
            return 0
        with file:
            size = os.fstat(file.fileno()).st_size
            try:
                if path not in self.offsets or size < self.offsets[path]:
                    self.offsets[path] = self._send(path, 0, size, b"")["offset"]
                while 0 <= self.offsets[path] < size:
                    offset = self.offsets[path]
                    file.seek(offset)
                    answer = self._send(path, offset, size, file.read(min(PIECE, size - offset)))
                    points += answer["points"]
                    self.offsets[path] = answer["offset"]
                    if answer["skipped"]:
                        self.say(
                            f"{path}: {answer['skipped']:,} bytes are damaged and were skipped"
                        )
                    if answer["offset"] == offset:
                        break  # the rest is still being written
            except Rejected as error:
                self.say(f"{path} is not read any further: {error}")
                self.offsets[path] = -1
        return points

    def _send(self, path: str, offset: int, size: int, data: bytes) -> Json:
        """Send bytes, repeatedly while the portal is away. Raises Rejected and OSError."""
        query = urlencode({"path": path, "offset": offset, "size": size})
        url = f"{self.place.api}/jobs/{self.place.job}/event-files?{query}"
        for tried in range(TRIES):
            try:
                return self.place.send("POST", url, data, timeout=TIMEOUT)
            except urllib.error.HTTPError as error:
                if error.code not in RETRIED:
                    text = error.read(300).decode(errors="replace")
                    raise Rejected(f"the portal answered {error.code}: {text}") from None
                if tried == TRIES - 1:
                    raise
            except OSError:
                if tried == TRIES - 1:
                    raise
            time.sleep(min(2**tried, 60))
        raise AssertionError


def _paths(folder: Path) -> Iterator[str]:
    """Yield the paths of event files below a folder."""
    for where, folders, names in os.walk(folder):
        folders.sort()
        for name in sorted(filter(NAME.match, names)):
            path = (Path(where) / name).relative_to(folder)
            yield path.as_posix().encode(errors="replace").decode()


def _opened(path: Path) -> BinaryIO | None:
    """Open a regular file; None for others, and for one that is gone."""
    try:
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    except OSError:
        return None
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        return None
    return os.fdopen(handle, "rb")
