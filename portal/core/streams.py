"""What happens now, to whoever watches now. Nothing here is the truth: logs are in their store, states in their rows; a viewer
that misses something reads it again from there.

`publish` never raises and never blocks. Embedded: straight to the hubs of this process. Server: a Redis stream per topic,
written by one background thread in batches; while Redis is away what is published is dropped and counted. Whoever may have
missed something is told so by a frame with `is_lost`, as soon as there is a way to tell.
"""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any

import orjson
from django.conf import settings

from portal.core.frames import Bus, Deliver, Frame
from portal.core.redis_bus import RedisBus

log = logging.getLogger(__name__)
MAX_FRAME = (
    64 << 10
)  # bytes; of a longer piece of a log only its coming is told, and viewers read it from the store


def publish(
    topic: str, data: bytes | dict[str, Any], *, seq: int | None = None, at_ms: int | None = None
) -> None:
    """Tell whoever watches the topic. Bytes need `seq`, their offset."""
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
        log.exception("a publication to %s was lost", topic)


def publish_all(news: Iterable[tuple[Sequence[str], dict[str, Any]]]) -> None:
    """Each of these to all of its topics, at once: what several topics get is written as JSON once, and the writer is woken once."""
    try:
        written = [(topics, raw) for topics, data in news if (raw := _written(topics, data))]
        bus().publish_all(
            [Frame(topic, raw, 0, 0, False) for topics, raw in written for topic in topics]
        )
    except Exception:
        log.exception("publications were lost")


def _written(topics: Sequence[str], data: dict[str, Any]) -> bytes:
    """As JSON; nothing where it cannot be: those beside it are perhaps another organization's, and go on."""
    try:
        return orjson.dumps(data, default=str)
    except TypeError:
        log.exception("a publication to %s was lost", ", ".join(topics))
        return b""


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

    def publish_all(self, frames: Sequence[Frame]) -> None:
        for frame in frames:
            self.publish(frame)

    def is_watched(self, topic: str) -> bool:
        return topic in self._topics

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


os.register_at_fork(after_in_child=bus.cache_clear)  # its threads stay with the parent
