"""Remember ends, so that they are reported consistently, and keys that were forgotten."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Sequence

from schedulers.contract import Observation

_MOST = 20_000  # of each; slurmctld keeps an ended job for MinJobAge, 300 s


class EndCache:
    """A cache: a new object recovers everything except keys forgotten in the last minutes."""

    def __init__(self) -> None:
        self._ends: OrderedDict[str, Observation] = OrderedDict()
        self._recorded: dict[str, float] = {}
        self._forgotten: OrderedDict[str, None] = OrderedDict()
        self._lock = threading.Lock()

    def recorded_for(self, key: str) -> float:
        """Return the seconds since the first call for this key.

        The first call comes when the script has ended while Slurm still reports it running.
        """
        with self._lock:
            return time.monotonic() - self._recorded.setdefault(key, time.monotonic())

    def keep(self, end: Observation) -> None:
        with self._lock:
            self._recorded.pop(end.key, None)
            self._ends[end.key] = end
            while len(self._ends) > _MOST:
                self._ends.popitem(last=False)

    def end_of(self, key: str) -> Observation | None:
        with self._lock:
            return self._ends.get(key)

    def forget(self, key: str) -> None:
        with self._lock:
            self._ends.pop(key, None)
            self._recorded.pop(key, None)
            self._forgotten[key] = None
            while len(self._forgotten) > _MOST:
                self._forgotten.popitem(last=False)

    def without_forgotten(self, keys: Sequence[str]) -> list[str]:
        with self._lock:
            return (
                [key for key in keys if key not in self._forgotten]
                if self._forgotten
                else list(keys)
            )
