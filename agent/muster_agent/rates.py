"""Convert counters to rates per second."""

from __future__ import annotations

from collections.abc import Hashable


class Rates:
    """Last values of counters. A first value, or a reset counter, yields no rate."""

    def __init__(self) -> None:
        self._last: dict[Hashable, tuple[float, float]] = {}

    def of(self, key: Hashable, value: float, now: float) -> float | None:
        """Return the growth of `key` per second since the last call; `now` is monotonic seconds."""
        before = self._last.get(key)
        self._last[key] = (value, now)
        if before is None or value < before[0] or now <= before[1]:
            return None
        return (value - before[0]) / (now - before[1])

    def keep(self, keys: set[Hashable]) -> None:
        """Drop counters that no longer exist."""
        for key in self._last.keys() - keys:
            del self._last[key]
