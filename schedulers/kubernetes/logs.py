"""A container's output, byte for byte, out of the log that its kubelet keeps in lines.

The kubelet writes each line with its time, and gives all lines from a whole second on. So after a read we remember the first line of the last
second that we saw, and where it began: the next read starts there, and leaves out what is known. When that line is not there any more, the
kubelet has turned its file over; then we go on after the last line that we saw.

A read is a request to the API server and one from it to the kubelet, whatever there is to read: so the log of what runs has a rest after each.
"""

from __future__ import annotations

import logging
import re
import threading
import time
from collections import OrderedDict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

log = logging.getLogger(__name__)
_STAMP = re.compile(rb"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.\d+)?(Z|[+-]\d\d:\d\d) ")
LONGEST_STAMP = 40
KNOWN = 4096  # containers whose place is remembered
SHORTEST_PAUSE, LONGEST_PAUSE = (
    0.1,
    0.5,
)  # seconds between two reads of one log, while its container runs
DUTY = 4  # times what a read took, at least


@dataclass(frozen=True)
class Place:
    """`since`: the second to ask from. `stamp`, `start`: its first line's time and offset. `last`, `end`: the same of the last line seen."""

    since: str = ""
    stamp: bytes = b""
    start: int = 0
    last: bytes = b""
    end: int = 0


@dataclass(frozen=True)
class Rest:
    """All its output up to `end` was read; who has that asks again at `until`. The pause grows while nothing comes."""

    end: int = -1
    pause: float = 0.0
    until: float = 0.0

    def after(self, end: int, came: int, took: float) -> Rest:
        """The next, after a read that came to `end` with `came` bytes and took so many seconds."""
        pause = min(LONGEST_PAUSE, max(SHORTEST_PAUSE, DUTY * took, 0 if came else self.pause * 2))
        return Rest(end, pause, time.monotonic() + pause)


class Places:
    """Where we are in each container's log. Kept in memory: without it a log is read from its beginning, with the same result."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._places: OrderedDict[str, Place] = OrderedDict()
        self._rests: OrderedDict[str, Rest] = OrderedDict()

    def rests(self, uid: str, after: int) -> bool:
        """Whether it was read to this offset just now."""
        with self._lock:
            rest = self._rests.get(uid, Rest())
        return rest.end == after and time.monotonic() < rest.until

    def rest(self, uid: str, end: int, came: int, took: float) -> None:
        with self._lock:
            self._rests[uid] = self._rests.get(uid, Rest()).after(end, came, took)
            self._rests.move_to_end(uid)
            while len(self._rests) > KNOWN:
                self._rests.popitem(last=False)

    def before(self, uid: str, after: int) -> Place:
        """The last known place that is not past this offset."""
        with self._lock:
            place = self._places.get(uid, Place())
        return place if place.start <= after else Place()

    def keep(self, uid: str, place: Place) -> None:
        with self._lock:
            self._places[uid] = place
            self._places.move_to_end(uid)
            while len(self._places) > KNOWN:
                self._places.popitem(last=False)


def take(chunks: Iterable[bytes], place: Place, after: int, limit: int) -> tuple[bytes, Place]:
    """At most `limit` bytes of output from offset `after` on, out of a log with times that was asked for from `place` on; and the new place."""
    found, at, now, is_first = bytearray(), place.start, place, True
    skips_to = b""
    for stamp, text in pieces(chunks):
        if stamp and is_first and place.stamp and stamp != place.stamp:
            log.warning(
                "The kubelet turned a log over before it was read to its end; what lies between %d and now may be missing.",
                after,
            )
            skips_to, at = place.last, after
        is_first = False
        if skips_to and (not stamp or stamp <= skips_to):
            continue
        skips_to = b""
        if stamp:
            second = _second(stamp)
            now = (
                Place(second, stamp, at, stamp, at)
                if second != now.since
                else Place(now.since, now.stamp, now.start, stamp, at)
            )
        room = limit - len(found)
        found += text[max(0, after - at) :][:room] if at + len(text) > after else b""
        at += len(text)
        if len(found) >= limit:
            break
    return bytes(found), now


def pieces(chunks: Iterable[bytes]) -> Iterator[tuple[bytes, bytes]]:
    """(time, bytes) of the log: the time where a line begins, empty where one goes on."""
    rest, is_start = b"", True
    for chunk in chunks:
        rest += chunk
        while rest:
            if not is_start:
                end = rest.find(b"\n") + 1
                yield b"", rest[: end or len(rest)]
                is_start, rest = end > 0, rest[end:] if end else b""
                continue
            if (
                (stamp := _STAMP.match(rest)) is None
                and len(rest) < LONGEST_STAMP
                and b"\n" not in rest
            ):
                break  # the time itself is not whole yet
            begin = stamp.end() if stamp else 0
            end = rest.find(b"\n", begin) + 1
            yield (stamp[0] if stamp else b""), rest[begin : end or len(rest)]
            is_start, rest = end > 0, rest[end:] if end else b""
    if rest:
        yield b"", rest


def _second(stamp: bytes) -> str:
    found = _STAMP.match(stamp)
    return (found[1] + found[2]).decode() if found else ""
