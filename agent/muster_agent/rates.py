"""Growing counters become rates per second."""

from __future__ import annotations

from collections.abc import Hashable


class Rates:
    """Remembers each counter's last value. The first look and a counter that fell (a reset) give no rate: a gap."""

    def __init__(self) -> None:
        self._last: dict[Hashable, tuple[float, float]] = {}

    def of(self, key: Hashable, value: float, now: float) -> float | None:
        """Growth of `key` per second since its last look; `now` is a monotonic time in seconds."""
        before = self._last.get(key)
        self._last[key] = (value, now)
        if before is None or value < before[0] or now <= before[1]:
            return None
        return (value - before[0]) / (now - before[1])

    def keep(self, keys: set[Hashable]) -> None:
        """Forgets the counters that are gone."""
        for key in self._last.keys() - keys:
            del self._last[key]
