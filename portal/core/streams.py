"""Publish live updates to current viewers.

Nothing published is the source of truth: logs are in their store, states in their rows, and a
viewer that misses something reads it from there.

`publish` never raises and never blocks. In embedded mode it calls the hubs of this process. In
server mode a background thread writes batches to one Redis stream per topic; while Redis is
unavailable, frames are dropped and counted. Viewers that may have missed something get a frame with
`is_lost` as soon as possible.
"""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any

import orjson
from django.conf import settings

from portal.core.frames import Bus, Deliver, Frame
from portal.core.redis_bus import RedisBus

log = logging.getLogger(__name__)
# Bytes. For a longer piece of a log only its arrival is published; viewers read it from the store.
MAX_FRAME = 64 << 10


def publish(
    topic: str, data: bytes | Mapping[str, Any], *, seq: int | None = None, at_ms: int | None = None
) -> None:
    """Publish to the viewers of a topic. Bytes need `seq`, their offset in the log."""
    try:
        is_bytes = isinstance(data, bytes)
        raw = data if isinstance(data, bytes) else orjson.dumps(data, default=str)
        bus().publish(
            Frame(
                topic,
                b"" if is_bytes and len(raw) > MAX_FRAME else raw,
                seq or 0,
                at_ms or 0,
                is_bytes,
            )
        )
    except Exception:
        log.exception("could not publish to %s", topic)


def publish_all(news: Iterable[tuple[Sequence[str], Mapping[str, Any]]]) -> None:
    """Publish each message to all of its topics, encoding it once and waking the writer once."""
    try:
        written = [(topics, raw) for topics, data in news if (raw := _written(topics, data))]
        bus().publish_all(
            [Frame(topic, raw, 0, 0, False) for topics, raw in written for topic in topics]
        )
    except Exception:
        log.exception("could not publish")


def _written(topics: Sequence[str], data: Mapping[str, Any]) -> bytes:
    """Return the message as JSON, or b"" on failure: the other messages must still go out."""
    try:
        return orjson.dumps(data, default=str)
    except TypeError:
        log.exception("could not publish to %s", ", ".join(topics))
        return b""


def is_watched(topic: str) -> bool:
    """Return False only if nobody can be subscribed to the topic."""
    return bus().is_watched(topic)


def was_watched(topic: str) -> bool:
    """Return False if nobody was subscribed to the topic a second ago.

    For samples of thousands of machines: a viewer may miss those of its first second.
    """
    return bus().was_watched(topic)


@cache
def bus() -> Bus:
    """Return the bus of this process."""
    return RedisBus(settings.MUSTER_REDIS_URL) if settings.MUSTER_REDIS_URL else LocalBus()


class LocalBus:
    """A bus within one process: publishing calls the hubs, which only enqueue."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._topics: dict[str, tuple[Deliver, ...]] = {}

    def publish(self, frame: Frame) -> None:
        for deliver in self._topics.get(frame.topic, ()):
            deliver(frame)

    def publish_all(self, frames: Sequence[Frame]) -> None:
        for frame in frames:
            self.publish(frame)

    def is_watched(self, topic: str) -> bool:
        return topic in self._topics

    was_watched = is_watched

    def subscribe(self, topic: str, deliver: Deliver) -> bool:
        with self._lock:
            self._topics[topic] = (*self._topics.get(topic, ()), deliver)
        return True

    def unsubscribe(self, topic: str, deliver: Deliver) -> None:
        with self._lock:
            left = tuple(d for d in self._topics.get(topic, ()) if d != deliver)
            if left:
                self._topics[topic] = left
            else:
                self._topics.pop(topic, None)


os.register_at_fork(after_in_child=bus.cache_clear)  # threads do not survive a fork
