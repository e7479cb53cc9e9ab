"""Cache the observations of pending jobs between polls.

Of 50,000 pending jobs most look as they did half a second ago.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from schedulers.contract import Observation
from schedulers.slurm.explanations import SlurmSnapshot, explained
from schedulers.slurm.rows import Row
from schedulers.slurm.states import may_have_run
from schedulers.states import State


class Seen:
    """One job in one poll.

    `observation` has the numbers of `snapshot`.
    """

    __slots__ = ("bare", "observation", "row", "snapshot")

    def __init__(self, row: Row, bare: Observation):
        self.row, self.bare, self.observation = row, bare, bare
        self.snapshot: SlurmSnapshot | None = None

    @property
    def is_queued(self) -> bool:
        """Return whether Slurm has not started the job, so that its own reasons apply."""
        return self.bare.waiting is not None and self.bare.state == State.SUBMITTED

    def explained(self, snapshot: SlurmSnapshot | None) -> Observation:
        if self.snapshot is not snapshot:
            self.observation = replace(self.bare, waiting=explained(self.row, snapshot))
            self.snapshot = snapshot
        return self.observation


class ObservationCache:
    """A cache of jobs that are pending and have not started.

    Other jobs have files that may change while their row does not.
    """

    def __init__(self, observe: Callable[[Row], Observation | None]):
        self._observe = observe
        self._seen: dict[str, Seen] = {}

    def knows(self, key: str) -> bool:
        """Return whether the job was pending in the last poll."""
        return key in self._seen

    def look(
        self,
        keys: Sequence[str],
        rows: Mapping[str, Row],
        snapshot: Callable[[int], SlurmSnapshot | None],
    ) -> list[Observation]:
        """Return observations in the order of the keys.

        `snapshot` is called with the number of pending jobs if there are any.
        """
        before, kept, found = self._seen, {}, []
        for key in keys:
            row = rows.get(key)
            if row is None:
                continue
            seen = before.get(key)
            if seen is not None and (seen.row is row or seen.row == row):
                kept[key] = seen
            elif (bare := self._observe(row)) is None:
                continue
            else:
                seen = Seen(row, bare)
                if seen.is_queued and not may_have_run(row):
                    kept[key] = seen
            found.append(seen)
        self._seen = kept
        waiting = sum(seen.is_queued for seen in found)
        shown = snapshot(waiting) if waiting else None
        return [seen.explained(shown) if seen.is_queued else seen.bare for seen in found]
