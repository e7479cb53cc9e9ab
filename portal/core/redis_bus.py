"""Carry live frames between processes through one Redis stream per topic.

Redis is never the source of truth. Frames lost during an outage are reported as lost to
subscribers, who then read the rows or the log store again.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import Any

from portal.core.frames import Deliver, Frame
from portal.core.ids import uuid7
from portal.core.redis_outages import TIMEOUT, breaker

log = logging.getLogger(__name__)
# Entries kept per topic of events: enough to bridge a reader's reconnection.
MAX_LENGTH = 500
MAX_LENGTH_BYTES = (
    # Entries kept per topic of log data: entries are long, and offsets reveal gaps.
    64
)
# Seconds until an idle topic is deleted.
EXPIRES = 300
# Limits of frames and bytes that wait for Redis.
BUFFER, BUFFER_BYTES = 20_000, 16 << 20
# Entries of one topic per read.
READ = 200
# Seconds between retries during an outage.
PAUSE = 0.5
# Topics with viewers in any process, by the Unix time until which they count as watched.
WATCHED = "live-watched"
# Seconds for which a process trusts its copy, between renewals, and until a topic expires.
TRUSTED, RENEWED, UNWATCHED = 1.0, 20.0, 60.0
# A topic whose position in its stream is not known yet.
_NOWHERE = b"$"


class Outbox:
    """A bounded queue of frames to write; remembers which topics lost frames."""

    def __init__(self) -> None:
        self._frames: deque[Frame] = deque()
        self._size = 0
        self._lost: set[str] = set()
        self._changed = threading.Condition()
        self.dropped = 0

    def put(self, *frames: Frame) -> None:
        with self._changed:
            for frame in frames:
                if len(self._frames) >= BUFFER or self._size + len(frame.data) > BUFFER_BYTES:
                    self._drop([frame])
                else:
                    self._frames.append(frame)
                    self._size += len(frame.data)
            self._changed.notify()

    def take(self, most: int) -> list[Frame]:
        """Wait for frames; return loss reports first, then the oldest frames."""
        with self._changed:
            self._changed.wait_for(lambda: self._frames or self._lost)
            lost = [Frame(topic, b"", 0, 0, False, is_lost=True) for topic in self._lost]
            self._lost.clear()
            frames = [self._frames.popleft() for _ in range(min(most, len(self._frames)))]
            self._size -= sum(len(frame.data) for frame in frames)
            return lost + frames

    def lose(self, frames: Iterable[Frame]) -> None:
        with self._changed:
            self._drop(frames)

    def _drop(self, frames: Iterable[Frame]) -> None:
        for frame in frames:
            self._lost.add(frame.topic)
            self.dropped += not frame.is_lost


class Outage:
    """Log the start and the end of an outage once each."""

    def __init__(self, who: str):
        self._who, self._is_away = who, False

    def away(self, error: Exception) -> None:
        if not self._is_away:
            log.warning(
                "live %s: Redis is unavailable; viewers reload once it is back: %s",
                self._who,
                error,
            )
        self._is_away = True

    def back(self) -> None:
        if self._is_away:
            log.warning("live %s: Redis is available again", self._who)
        self._is_away = False


class RedisBus:
    """A bus with one writer thread (XADD) and one reader thread (XREAD), each with a connection.

    The reader blocks in XREAD. A new topic wakes it through an entry in the `wake` topic, a stream
    that only this process reads.
    """

    def __init__(self, url: str):
        self._url = url
        self._out = Outbox()
        self._lock = threading.Lock()
        self._wake_topic = f"wake:{uuid7().hex}"
        self._topics: dict[str, tuple[Deliver, ...]] = {self._wake_topic: ()}
        self._last: dict[str, bytes] = {self._wake_topic: _NOWHERE}
        self._threads: set[str] = set()
        self._is_closed = False
        self._wanted = threading.Event()
        self._watched: frozenset[str] | None = None  # unknown
        self._trusted_until = self._renewed_at = 0.0

    @property
    def dropped(self) -> int:
        """Number of frames dropped because Redis was unavailable or slow."""
        return self._out.dropped

    def publish(self, frame: Frame) -> None:
        self.publish_all([frame])

    def publish_all(self, frames: Sequence[Frame]) -> None:
        self._run("writer", self._write)
        self._out.put(*frames)

    def is_watched(self, topic: str) -> bool:
        return True

    def was_watched(self, topic: str) -> bool:
        if time.monotonic() >= self._trusted_until:
            self._trusted_until = time.monotonic() + TRUSTED
            self._watched = self._find_watched()
        return self._watched is None or topic in self._watched

    def _find_watched(self) -> frozenset[str] | None:
        """Return the topics with viewers in any process; None during an outage."""
        if not breaker.may_call():
            return None
        try:
            found = self._asking.zrangebyscore(WATCHED, time.time(), "+inf")
        except Exception:
            breaker.failed()
            return None
        breaker.succeeded()
        return frozenset(name.decode() for name in found)

    @cached_property
    def _asking(self) -> Any:
        return self._connection(TIMEOUT)

    def subscribe(self, topic: str, deliver: Deliver) -> bool:
        with self._lock:
            self._topics[topic] = (*self._topics.get(topic, ()), deliver)
            is_heard = self._last.setdefault(topic, _NOWHERE) != _NOWHERE
        if not is_heard:
            self._wanted.set()
            self._run("reader", self._read)
            self.publish(Frame(self._wake_topic, b"", 0, 0, False))
        return is_heard

    def unsubscribe(self, topic: str, deliver: Deliver) -> None:
        with self._lock:
            left = tuple(d for d in self._topics.get(topic, ()) if d != deliver)
            if left:
                self._topics[topic] = left
            else:
                self._topics.pop(topic, None)
                self._last.pop(topic, None)

    def close(self) -> None:
        """End both threads: the reader at once, the writer after what it has."""
        self._is_closed = True
        self._wanted.set()
        if self._threads:
            self.publish(Frame(self._wake_topic, b"", 0, 0, False))

    def _run(self, name: str, loop: Callable[[], None]) -> None:
        if name in self._threads:
            return
        with self._lock:
            if name in self._threads:
                return
            self._threads.add(name)
        threading.Thread(target=loop, name=f"streams-{name}", daemon=True).start()

    def _connection(self, seconds: float = 10) -> Any:
        import redis

        return redis.Redis.from_url(
            self._url, socket_connect_timeout=min(seconds, 2), socket_timeout=seconds
        )

    def _write(self) -> None:
        link, outage = self._connection(), Outage("writer")
        while not self._is_closed:
            batch = self._out.take(200)  # blocks while the queue is empty
            try:
                with link.pipeline(transaction=False) as pipe:
                    for frame in batch:
                        pipe.xadd(
                            f"live:{frame.topic}",
                            _fields(frame),
                            approximate=True,
                            maxlen=MAX_LENGTH_BYTES if frame.is_bytes else MAX_LENGTH,
                        )
                    for topic in {frame.topic for frame in batch}:
                        pipe.expire(f"live:{topic}", EXPIRES)
                    pipe.execute()
                outage.back()
            except Exception as error:
                self._out.lose(batch)
                outage.away(error)
                time.sleep(PAUSE)

    def _read(self) -> None:
        link, outage = self._connection(), Outage("reader")
        while not self._is_closed:
            try:
                self._read_once(link)
                outage.back()
            except Exception as error:
                with (
                    self._lock
                    # Redis may come back empty: start with new entries, and report a loss.
                ):
                    self._last = dict.fromkeys(self._topics, _NOWHERE)
                outage.away(error)
                time.sleep(PAUSE)

    def _read_once(self, link: Any) -> None:
        """Read all topics once, for at most a second."""
        with self._lock:
            wanted = dict(self._last)
        if len(wanted) == 1:  # only the one that wakes it
            self._wanted.wait(60)
            self._wanted.clear()
            return
        if unknown := [topic for topic, last in wanted.items() if last == _NOWHERE]:
            wanted |= self._find_ends(link, unknown)
        if unknown or time.monotonic() > self._renewed_at + RENEWED:
            self._renewed_at = time.monotonic()
            _watch(link, wanted)
        for name, entries in (
            link.xread({f"live:{t}": last for t, last in wanted.items()}, count=READ, block=1000)
            or ()
        ):
            topic = name.decode().removeprefix("live:")
            self._deliver(topic, entries)
            if len(entries) == READ and _is_trimmed(link, topic, wanted[topic]):
                self._report_loss(topic)

    def _find_ends(self, link: Any, topics: list[str]) -> dict[str, bytes]:
        """Return the current end of these streams, and report a loss to their subscribers."""
        with link.pipeline(transaction=False) as pipe:
            for topic in topics:
                pipe.xrevrange(f"live:{topic}", count=1)
            ends = [found[0][0] if found else b"0-0" for found in pipe.execute()]
        places = dict(zip(topics, ends, strict=True))
        with self._lock:
            self._last |= {topic: place for topic, place in places.items() if topic in self._last}
        for topic in topics:
            self._report_loss(topic)
        return places

    def _report_loss(self, topic: str) -> None:
        for deliver in self._topics.get(topic, ()):
            deliver(Frame(topic, b"", 0, 0, False, is_lost=True))

    def _deliver(self, topic: str, entries: list[tuple[bytes, dict[bytes, bytes]]]) -> None:
        with self._lock:
            if (
                self._last.get(topic, _NOWHERE) != _NOWHERE
                # Otherwise the topic was unsubscribed, or its position must be found again.
            ):
                self._last[topic] = entries[-1][0]
        for _, fields in entries:
            frame = _frame(topic, fields)
            for deliver in self._topics.get(topic, ()):
                deliver(frame)


def _fields(frame: Frame) -> dict[bytes, bytes | int]:
    return {
        b"d": frame.data,
        b"s": frame.seq,
        b"a": frame.at_ms,
        b"b": int(frame.is_bytes),
        b"l": int(frame.is_lost),
    }


def _frame(topic: str, fields: dict[bytes, bytes]) -> Frame:
    return Frame(
        topic,
        fields[b"d"],
        int(fields[b"s"]),
        int(fields[b"a"]),
        fields[b"b"] == b"1",
        fields.get(b"l") == b"1",
    )


def _watch(link: Any, topics: Iterable[str]) -> None:
    """Tell all processes that these topics have viewers."""
    now = time.time()
    with link.pipeline(transaction=False) as pipe:
        pipe.zadd(WATCHED, dict.fromkeys(topics, now + UNWATCHED))
        pipe.zremrangebyscore(WATCHED, "-inf", now)
        pipe.execute()


def _is_trimmed(link: Any, topic: str, mark: bytes) -> bool:
    """Return whether entries after the mark may have been trimmed before they were read."""
    first = link.xrange(f"live:{topic}", count=1)
    return bool(first) and mark != b"0-0" and _order(first[0][0]) > _order(mark)


def _order(mark: bytes) -> tuple[int, int]:
    high, _, low = mark.partition(b"-")
    return int(high), int(low)
