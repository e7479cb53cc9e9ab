"""Follow TensorBoard event files inside a job and send their scalars to its run.

For jobs whose output folder the portal cannot open, such as those in Kubernetes. Offsets are kept
beside the files, written after the portal has stored the points; the portal ignores points that it
has already. So nothing is lost or doubled if the command is started again.
"""

from __future__ import annotations

import json
import math
import os
import stat
import time
import urllib.error
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

from muster import event_files
from muster.training import BATCH, RETRIED, Place
from muster.wording import number_word

STATE = ".muster-tensorboard.json"
BUDGET = 1 << 20  # bytes of a file that are read at once
TRIES = 8  # of a request; the pauses before them are 2 minutes together


class Rejected(Exception):
    """The portal does not take these points."""


class Sync:
    """The event files below a folder; `say` prints warnings."""

    def __init__(self, folder: Path, place: Place, say: Callable[[str], None]):
        self.folder, self.place, self.say = folder, place, say
        self.offsets = self._stored_offsets()

    def send_new(self) -> int:
        """Send what is new in all files and return the number of points.

        Raises OSError if the portal cannot be reached for too long.
        """
        return sum(self._send_file(path) for path in _paths(self.folder))

    def _send_file(self, path: str) -> int:
        sent, file = 0, _opened(self.folder / path)
        if file is None:
            return 0
        with file:
            if os.fstat(file.fileno()).st_size < self.offsets.get(path, 0):
                self.offsets[path] = 0  # another file has this name now
            while (offset := self.offsets.get(path, 0)) >= 0:
                try:
                    scalars, end = event_files.read(file, offset, BUDGET)
                    self._send_points([_point(path, scalar) for scalar in scalars])
                except (event_files.Corrupt, Rejected) as error:
                    self.say(f"{path} is not read any further: {error}")
                    scalars, end = [], -1
                if end == offset:
                    break
                sent += len(scalars)
                self.offsets[path] = end
                self._keep_offsets()
        return sent

    def _send_points(self, points: list[dict[str, Any]]) -> None:
        for at in range(0, len(points), BATCH):
            self._send(*self.place.points(points[at : at + BATCH]))

    def _send(self, url: str, body: Any) -> None:
        """Send a request, repeated while the portal is away. Raises Rejected and OSError."""
        for tried in range(TRIES):
            try:
                self.place.send("POST", url, body)
                return
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

    def _stored_offsets(self) -> dict[str, int]:
        """Return the offsets of an earlier process for the same run."""
        try:
            stored = json.loads((self.folder / STATE).read_bytes())
            if stored["run"] == self.place.run:
                return {str(path): int(offset) for path, offset in stored["offsets"].items()}
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            pass  # none, or damaged: everything is sent again, which adds nothing
        return {}

    def _keep_offsets(self) -> None:
        aside = self.folder / f"{STATE}.new"
        try:
            aside.write_text(json.dumps({"run": self.place.run, "offsets": self.offsets}))
            os.replace(aside, self.folder / STATE)
        except OSError as error:
            self.say(f"offsets are not kept, so a restart sends everything again: {error}")


def _paths(folder: Path) -> Iterator[str]:
    """Yield the paths of event files below a folder."""
    for where, folders, names in os.walk(folder):
        folders.sort()
        for name in sorted(filter(event_files.NAME.match, names)):
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


def _point(path: str, scalar: event_files.Scalar) -> dict[str, Any]:
    value = scalar.value
    return {
        "name": event_files.metric_name(path, scalar.tag),
        "value": value if math.isfinite(value) else number_word(value),
        "step": scalar.step,
        "at": max(scalar.at_ms, 1),  # 0 means now
    }
