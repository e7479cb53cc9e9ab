"""Tell below which position no event can still appear.

Transactions commit out of the order of the positions that they took. On SQLite, one transaction
writes at a time, so everything below a visible position is settled. On PostgreSQL, a position is
settled once all transactions that had begun when it was seen have ended (`pg_snapshot_xmin`).
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from django.db import connection
from django.db.models import Max

from portal.core import clock
from portal.core.models import Event

# Minimum age of a mark in seconds: a transaction takes positions shortly before it has an id.
SETTLE = 5.0


@dataclass(frozen=True)
class Watermark:
    """The highest position at one moment, and the `horizon` below which transactions had begun.

    `made` is a monotonic time in seconds.
    """

    position: int
    horizon: int
    made: float


@dataclass
class SettledPosition:
    """The settled position as one reader knows it; it rises with each `look`."""

    position: int = 0
    _marks: deque[Watermark] = field(default_factory=deque)

    def look(self) -> int:
        """Return the position below which no event can still appear, and add a mark for later."""
        highest = Event.objects.aggregate(last=Max("position"))["last"] or 0
        if connection.vendor != "postgresql":
            self.position = highest
            return highest
        with (
            connection.cursor() as cursor
            # Read after the maximum: transactions with a lower position have begun by now.
        ):
            cursor.execute(
                "SELECT pg_snapshot_xmax(s)::text, pg_snapshot_xmin(s)::text "
                "FROM pg_current_snapshot() AS s"
            )
            begun, ended = map(int, cursor.fetchone())
        while (
            self._marks
            and self._marks[0].horizon <= ended
            and clock.monotonic() - self._marks[0].made >= SETTLE
        ):
            self.position = self._marks.popleft().position
        if not self._marks or self._marks[-1].position < highest:
            self._marks.append(Watermark(highest, begun, clock.monotonic()))
        return self.position
