"""The messages of live updates, and the interface of the bus that carries them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True)
class Frame:
    """One published message.

    `data` is a piece of a log if `is_bytes`, with `seq` as its offset, else JSON. `at_ms` is Unix
    time in milliseconds. With `is_lost`, the frame is no message but reports that earlier ones may
    be missing.
    """

    topic: str
    data: bytes
    seq: int
    at_ms: int
    is_bytes: bool
    is_lost: bool = False


Deliver = Callable[[Frame], None]


class Bus(Protocol):
    """Carries frames from publishers to hubs."""

    def publish(self, frame: Frame) -> None: ...
    def publish_all(self, frames: Sequence[Frame]) -> None: ...
    def is_watched(self, topic: str) -> bool: ...
    def was_watched(self, topic: str) -> bool: ...

    def subscribe(self, topic: str, deliver: Deliver) -> bool:
        """Return True if all later frames are delivered from now on.

        If False, a frame with `is_lost` marks the point from which delivery is complete.
        """
        ...

    def unsubscribe(self, topic: str, deliver: Deliver) -> None: ...
