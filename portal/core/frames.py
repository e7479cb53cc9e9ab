"""What is told to live viewers, and the way it takes from who tells it to who watches."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True)
class Frame:
    """One publication. `data` bytes are a log's, with `seq` its offset; JSON otherwise. `at_ms` Unix milliseconds.
    `is_lost`: no publication, but the news that some before it may be missing."""

    topic: str
    data: bytes
    seq: int
    at_ms: int
    is_bytes: bool
    is_lost: bool = False


Deliver = Callable[[Frame], None]


class Bus(Protocol):
    """How frames get from publishers to hubs."""

    def publish(self, frame: Frame) -> None: ...
    def publish_all(self, frames: Sequence[Frame]) -> None: ...
    def is_watched(self, topic: str) -> bool: ...

    def subscribe(self, topic: str, deliver: Deliver) -> bool:
        """True when all that is published from now on comes; False when a frame with `is_lost` will say from when on."""
        ...

    def unsubscribe(self, topic: str, deliver: Deliver) -> None: ...
