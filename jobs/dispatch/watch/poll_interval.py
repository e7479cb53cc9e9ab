"""How soon the watcher looks again: soon while things move, since what ended makes room for what waits; else at its ease."""

from __future__ import annotations

from portal.core import clock

POLL_EVERY = 0.5  # seconds between polls of state
DUTY = 10  # a scheduler is polled no more often than after so many times what its answer took
QUICK = 0.2  # after a poll that saw something move, where no scheduler is asked for it
LONGEST = 30.0  # seconds between polls at most, however slow the last answer was: a scheduler that has just come back is slow once
CALLED_DUTY = 3  # as DUTY, for a poll that a submission or a cancel asks for
LONGEST_CALLED = 5.0  # seconds until that poll at most
LINGER = (
    3.0  # seconds after the last move in which more is expected, though nothing runs at the moment
)


class Pace:
    """Of one cluster."""

    def __init__(self) -> None:
        self.poll_every = POLL_EVERY
        self.called_every = QUICK
        self._moved_at = -LINGER

    @property
    def is_lively(self) -> bool:
        return clock.monotonic() - self._moved_at < LINGER

    def polled(self, took: float, *, is_moving: bool, is_scheduler: bool) -> None:
        """A poll is over that took so many seconds."""
        if is_moving:
            self._moved_at = clock.monotonic()
        least = QUICK if is_moving and not is_scheduler else min(POLL_EVERY, self.poll_every * 2)
        self.poll_every = min(max(POLL_EVERY if is_scheduler else least, DUTY * took), LONGEST)
        self.called_every = min(max(QUICK, CALLED_DUTY * took), LONGEST_CALLED, self.poll_every)
