"""What happens now, to whoever watches now. Nothing here is the truth: logs are in their store, states in their rows; a viewer
that misses something reads it again from there.

`publish` never raises and never blocks. Embedded: straight to the hubs of this process. Server: a Redis stream per topic,
written by one background thread in batches; while Redis is away what is published is dropped and counted.
"""

from __future__ import annotations

import logging
import queue
import threading
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any, Protocol

import orjson
from django.conf import settings

log = logging.getLogger(__name__)
MAX_LENGTH = 500              # entries kept of a topic: enough to bridge a reader's reconnection
EXPIRES = 300                 # seconds after which a silent topic is forgotten
BUFFER = 20_000               # frames that may wait for Redis


@dataclass(frozen=True)
class Frame:
    """One publication. `data` bytes are a log's, with `seq` its offset; JSON otherwise. `at_ms` Unix milliseconds."""

    topic: str
    data: bytes
    seq: int
    at_ms: int
    is_bytes: bool


Deliver = Callable[[Frame], None]


class Bus(Protocol):
    """How frames get from publishers to hubs."""

    def publish(self, frame: Frame) -> None: ...
    def is_watched(self, topic: str) -> bool: ...
    def subscribe(self, topic: str, deliver: Deliver) -> None: ...
    def unsubscribe(self, topic: str, deliver: Deliver) -> None: ...


def publish(topic: str, data: bytes | dict[str, Any], *, seq: int | None = None, at_ms: int | None = None) -> None:
    """Tell whoever watches the topic. Bytes need `seq`, their offset."""
    try:
        bus().publish(Frame(topic, data if isinstance(data, bytes) else orjson.dumps(data, default=str), seq or 0, at_ms or 0,
                            isinstance(data, bytes)))
    except Exception:
        log.exception("a publication to %s was lost", topic)


def is_watched(topic: str) -> bool:
    """False only when certainly nobody in this process watches and publishing would reach nobody."""
    return bus().is_watched(topic)


@cache
def bus() -> Bus:
    """The bus of this process."""
    return RedisBus(settings.MUSTER_REDIS_URL) if settings.MUSTER_REDIS_URL else LocalBus()


class LocalBus:
    """Within one process: publishing calls the hubs, which only queue."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._topics: dict[str, tuple[Deliver, ...]] = {}

    def publish(self, frame: Frame) -> None:
        for deliver in self._topics.get(frame.topic, ()):
            deliver(frame)

    def is_watched(self, topic: str) -> bool:
        return topic in self._topics

    def subscribe(self, topic: str, deliver: Deliver) -> None:
        with self._lock:
            self._topics[topic] = (*self._topics.get(topic, ()), deliver)

    def unsubscribe(self, topic: str, deliver: Deliver) -> None:
        with self._lock:
            left = tuple(d for d in self._topics.get(topic, ()) if d != deliver)
            if left:
                self._topics[topic] = left
            else:
                self._topics.pop(topic, None)


class RedisBus:
    """Across processes: XADD by one writer thread, XREAD by one reader thread, each with a connection of its own."""

    def __init__(self, url: str):
        self._url = url
        self._out: queue.Queue[Frame] = queue.Queue(BUFFER)
        self._lock = threading.Lock()
        self._topics: dict[str, tuple[Deliver, ...]] = {}
        self._last: dict[str, bytes] = {}
        self._threads: set[str] = set()
        self._changed = threading.Event()
        self.dropped = 0

    def publish(self, frame: Frame) -> None:
        self._run("writer", self._write)
        try:
            self._out.put_nowait(frame)
        except queue.Full:
            self.dropped += 1

    def is_watched(self, topic: str) -> bool:
        return True

    def subscribe(self, topic: str, deliver: Deliver) -> None:
        with self._lock:
            self._topics[topic] = (*self._topics.get(topic, ()), deliver)
            self._last.setdefault(topic, b"$")
        self._changed.set()
        self._run("reader", self._read)

    def unsubscribe(self, topic: str, deliver: Deliver) -> None:
        with self._lock:
            left = tuple(d for d in self._topics.get(topic, ()) if d != deliver)
            if left:
                self._topics[topic] = left
            else:
                self._topics.pop(topic, None)
                self._last.pop(topic, None)

    def _run(self, name: str, loop: Callable[[], None]) -> None:
        with self._lock:
            if name in self._threads:
                return
            self._threads.add(name)
        threading.Thread(target=loop, name=f"streams-{name}", daemon=True).start()

    def _connection(self) -> Any:
        import redis

        return redis.Redis.from_url(self._url, socket_connect_timeout=2, socket_timeout=10)

    def _write(self) -> None:
        link = self._connection()
        while True:
            batch = [self._out.get()]          # waits here while there is nothing to tell
            while len(batch) < 200 and not self._out.empty():
                batch.append(self._out.get_nowait())
            try:
                with link.pipeline(transaction=False) as pipe:
                    for f in batch:
                        pipe.xadd(f"live:{f.topic}", {b"d": f.data, b"s": f.seq, b"a": f.at_ms, b"b": int(f.is_bytes)},
                                  maxlen=MAX_LENGTH, approximate=True)
                    for topic in {f.topic for f in batch}:
                        pipe.expire(f"live:{topic}", EXPIRES)
                    pipe.execute()
            except Exception as error:
                self.dropped += len(batch)
                log.warning("Redis is away, %d live frames were dropped: %s", len(batch), error)
                self._changed.wait(0.5)

    def _read(self) -> None:
        link = self._connection()
        while True:
            try:
                self._read_once(link)
            except Exception as error:
                log.warning("live reader: %s", error)
                with self._lock:              # Redis may come back empty: begin with what comes next
                    self._last = dict.fromkeys(self._topics, b"$")
                self._changed.wait(0.5)
                self._changed.clear()

    def _read_once(self, link: Any) -> None:
        """One XREAD over all topics; it blocks briefly, so that new topics are heard soon."""
        with self._lock:
            wanted = dict(self._last)
        if not wanted:
            self._changed.wait(1.0)
            self._changed.clear()
            return
        for topic in [t for t, last in wanted.items() if last == b"$"]:
            found = link.xrevrange(f"live:{topic}", count=1)          # a fixed place to go on from, or frames fall between two reads
            self._move(topic, found[0][0] if found else b"0-0")
            wanted[topic] = self._last.get(topic, b"0-0")
        for name, entries in link.xread({f"live:{t}": last for t, last in wanted.items()}, count=200, block=100) or ():
            topic = name.decode().removeprefix("live:")
            for mark, fields in entries:
                self._hand_out(topic, mark, fields)

    def _move(self, topic: str, mark: bytes) -> None:
        with self._lock:
            if topic in self._last:
                self._last[topic] = mark

    def _hand_out(self, topic: str, mark: bytes, fields: dict[bytes, bytes]) -> None:
        self._move(topic, mark)
        frame = Frame(topic, fields[b"d"], int(fields[b"s"]), int(fields[b"a"]), fields[b"b"] == b"1")
        for deliver in self._topics.get(topic, ()):
            deliver(frame)
