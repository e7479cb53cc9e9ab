"""Read a container's output byte by byte from the line-based log of its kubelet.

The kubelet stores each line with its time and returns lines from a whole second on. So each read
remembers the first line of the last second and its offset; the next read starts there and skips
what is known. If that line is gone, the kubelet has rotated its file, and reading continues after
the last line seen. A log whose position is not known is read from its beginning, which the start
program marks: without the mark that part is gone, and what is left counts as new. Each read costs a
request to the API server and one to the kubelet, even without new output, so logs of running
containers are read with pauses.
"""

from __future__ import annotations

import logging
import re
import threading
import time
from collections import OrderedDict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from schedulers.kubernetes.entrypoint import LOG_BEGINS

log = logging.getLogger(__name__)
_STAMP = re.compile(rb"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.\d+)?(Z|[+-]\d\d:\d\d) ")
LONGEST_STAMP = 40
MARK = f"{LOG_BEGINS}\n".encode()
KNOWN = 4096  # containers whose position is remembered
# seconds between two reads of the log of a running container
SHORTEST_PAUSE, LONGEST_PAUSE = (
    0.1,
    0.5,
)
DUTY = 4  # the pause is at least this multiple of the duration of a read


@dataclass(frozen=True)
class LogPosition:
    """A position in a log.

    `since`: the second to read from. `stamp`, `start`: time and offset of its first line. `last`,
    `end`: the same of the last line seen.
    """

    since: str = ""
    stamp: bytes = b""
    start: int = 0
    last: bytes = b""
    end: int = 0


@dataclass(frozen=True)
class ReadPause:
    """A pause: all output up to `end` was read, and the next read is due at `until`.

    The pause grows while there is no output.
    """

    end: int = -1
    pause: float = 0.0
    until: float = 0.0

    def after(self, end: int, came: int, took: float) -> ReadPause:
        """Return the pause after a read that got `came` bytes up to `end`.

        The read took `took` seconds.
        """
        pause = min(LONGEST_PAUSE, max(SHORTEST_PAUSE, DUTY * took, 0 if came else self.pause * 2))
        return ReadPause(end, pause, time.monotonic() + pause)


class LogPositions:
    """The positions in all logs.

    Kept in memory; without a position a log is read from its beginning, with the same result unless
    the kubelet has rotated its file.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._places: OrderedDict[str, LogPosition] = OrderedDict()
        self._rests: OrderedDict[str, ReadPause] = OrderedDict()

    def rests(self, uid: str, after: int) -> bool:
        """Return whether the log was just read up to this offset."""
        with self._lock:
            rest = self._rests.get(uid, ReadPause())
        return rest.end == after and time.monotonic() < rest.until

    def rest(self, uid: str, end: int, came: int, took: float) -> None:
        with self._lock:
            self._rests[uid] = self._rests.get(uid, ReadPause()).after(end, came, took)
            self._rests.move_to_end(uid)
            while len(self._rests) > KNOWN:
                self._rests.popitem(last=False)

    def before(self, uid: str, after: int) -> LogPosition:
        """Return the last known position at or before this offset."""
        with self._lock:
            place = self._places.get(uid, LogPosition())
        return place if place.start <= after else LogPosition()

    def keep(self, uid: str, place: LogPosition) -> None:
        with self._lock:
            self._places[uid] = place
            self._places.move_to_end(uid)
            while len(self._places) > KNOWN:
                self._places.popitem(last=False)


def take(
    chunks: Iterable[bytes],
    place: LogPosition,
    after: int,
    limit: int,
    *,
    is_marked: bool = False,
    has_run: bool = False,
) -> tuple[bytes, LogPosition, bool]:
    """Return up to `limit` bytes of output from offset `after`, the new position, and a doubt.

    `chunks` is the log with timestamps from `place` on, `is_marked` whether it began with the mark,
    `has_run` whether its container has ended. The doubt: whether lines may be missing, because the
    kubelet has rotated its file.
    """
    found, at, now, is_first, may_lack = bytearray(), place.start, place, True, False
    skips_to = b""
    for stamp, text in pieces(chunks):
        if stamp and is_first and place.stamp and stamp != place.stamp:
            log.warning(
                "The kubelet turned a log over before it was read to its end; what lies between "
                "%d and now may be missing.",
                after,
            )
            skips_to, at, may_lack = place.last, after, stamp > place.last
        if is_first and is_marked and not place.start and text == MARK:
            text = b""
        elif is_first and is_marked and not place.stamp:
            at, may_lack = after, True
        is_first = False
        if skips_to and (not stamp or stamp <= skips_to):
            continue
        skips_to = b""
        if stamp:
            second = _second(stamp)
            now = (
                LogPosition(second, stamp, at, stamp, at)
                if second != now.since
                else LogPosition(now.since, now.stamp, now.start, stamp, at)
            )
        free = limit - len(found)
        found += text[max(0, after - at) :][:free] if at + len(text) > after else b""
        at += len(text)
        if len(found) >= limit:
            break
    if is_first and is_marked and not place.stamp:
        may_lack = after > 0 or has_run  # not even the mark is left
    return bytes(found), now, may_lack


def last_bytes(chunks: Iterable[bytes], most: int) -> bytes:
    """Return the end of the output in a log, at most so many bytes."""
    kept = bytearray()
    for number, (_, text) in enumerate(pieces(chunks)):
        if number or text != MARK:
            kept += text
            del kept[:-most]
    return bytes(kept)


def _with_whole_first_line(chunks: Iterable[bytes]) -> Iterator[bytes]:
    first = b""
    for chunk in chunks:
        first += chunk
        if b"\n" in first or len(first) > LONGEST_STAMP + len(MARK):
            yield first
            first = b""
            yield from chunks
    if first:
        yield first


def pieces(chunks: Iterable[bytes]) -> Iterator[tuple[bytes, bytes]]:
    """Yield (time, bytes); the time is empty if the bytes continue a line.

    A line without a time is no output but the kubelet's: "unable to retrieve container logs for …".
    """
    rest, is_start, is_output = b"", True, True
    for chunk in _with_whole_first_line(iter(chunks)):
        rest += chunk
        while rest:
            stamp = _STAMP.match(rest) if is_start else None
            if is_start and not stamp and len(rest) < LONGEST_STAMP and b"\n" not in rest:
                break  # the timestamp itself is incomplete
            if is_start:
                is_output = stamp is not None
            begin = stamp.end() if stamp else 0
            end = rest.find(b"\n", begin) + 1
            if is_output:
                yield (stamp[0] if stamp else b""), rest[begin : end or len(rest)]
            else:
                log.info("The kubelet says: %s", rest[: end or len(rest)][:200])
            is_start, rest = end > 0, rest[end:] if end else b""


def _second(stamp: bytes) -> str:
    found = _STAMP.match(stamp)
    return (found[1] + found[2]).decode() if found else ""
