"""Choose the poll interval: short while jobs change state, since ends make room; else longer."""

from __future__ import annotations

from portal.core import clock

POLL_EVERY = 0.5  # seconds between polls of state
DUTY = 10  # minimum interval of a scheduler, as a multiple of its last response time
QUICK = 0.2  # after a poll with changes, where no external scheduler is polled
LONGEST = 30.0  # Maximum seconds between polls; a scheduler that has just come back is slow once.
CALLED_DUTY = 3  # DUTY for a poll that a submission or a cancel requests
LONGEST_CALLED = 5.0  # maximum seconds until that poll
LINGER = 3.0  # Seconds after the last change in which more changes are expected.


class PollInterval:
    """Poll interval of one cluster."""

    def __init__(self) -> None:
        self.poll_every = POLL_EVERY
        self.called_every = QUICK
        self._moved_at = -LINGER

    @property
    def is_lively(self) -> bool:
        return clock.monotonic() - self._moved_at < LINGER

    def polled(self, took: float, *, is_moving: bool, is_scheduler: bool) -> None:
        """Adjust the intervals after a poll that took `took` seconds."""
        if is_moving:
            self._moved_at = clock.monotonic()
        least = QUICK if is_moving and not is_scheduler else min(POLL_EVERY, self.poll_every * 2)
        self.poll_every = min(max(POLL_EVERY if is_scheduler else least, DUTY * took), LONGEST)
        self.called_every = min(max(QUICK, CALLED_DUTY * took), LONGEST_CALLED, self.poll_every)
