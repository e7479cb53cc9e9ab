"""When Slurm is read as a whole for the numbers behind its reasons: as often as is cheap, and never so that a poll fails for it."""

from __future__ import annotations

import logging
import threading
import time

from jobs.backends.base import Rejected, Unavailable
from jobs.backends.slurm_parts.doors import Door
from jobs.backends.slurm_parts.explain import Picture, picture_of
from jobs.backends.slurm_parts.limits import Limits

log = logging.getLogger(__name__)
_SHARE = 0.05                    # of the time may go into pictures
_AT_LEAST, _EACH = 4.0, 0.01     # seconds between two, and for each job that waits: whose numbers change is written anew
_LIMITS_FOR = 30.0


class Pictures:
    """The last one, and when the next is due."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._picture: Picture | None = None
        self._limits, self._limits_until = Limits(), 0.0
        self._until = 0.0

    def current(self, door: Door, waiting: int) -> Picture | None:
        """None when Slurm does not tell: then its own words have to do."""
        if time.monotonic() < self._until or not self._lock.acquire(blocking=False):
            return self._picture
        began = time.monotonic()
        try:
            self._picture = picture_of(door.queue(), door.nodes(), self._current_limits(door))
        except (Rejected, Unavailable, KeyError, ValueError, TypeError) as error:
            log.info("Slurm's queue cannot be read as a whole: %s", error)
            self._picture = None
        finally:
            now = time.monotonic()
            self._until = now + max(_AT_LEAST, (now - began) / _SHARE, waiting * _EACH)
            self._lock.release()
        return self._picture

    def _current_limits(self, door: Door) -> Limits:
        """Those read last, while accounting does not answer; none where there is none."""
        now = time.monotonic()
        if now >= self._limits_until:
            try:
                self._limits = door.limits()
            except (Rejected, Unavailable) as error:
                log.info("Slurm's limits cannot be read: %s", error)
            took = time.monotonic() - now
            self._limits_until = now + max(_LIMITS_FOR, took / _SHARE)
        return self._limits
