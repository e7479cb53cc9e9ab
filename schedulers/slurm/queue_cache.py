"""What the last look at the queue was made into, job by job: of 50,000 that wait most look as they did half a second ago."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from schedulers.contract import Observation
from schedulers.slurm.explanations import Picture, explained
from schedulers.slurm.rows import Row
from schedulers.slurm.states import may_have_run


class Seen:
    """One job in one look. `told`: what was seen, with the numbers of `picture`."""

    __slots__ = ("bare", "picture", "row", "told")

    def __init__(self, row: Row, bare: Observation):
        self.row, self.bare, self.told = row, bare, bare
        self.picture: Picture | None = None

    def explained(self, picture: Picture | None) -> Observation:
        if self.picture is not picture:
            self.told = replace(self.bare, waiting=explained(self.row, picture))
            self.picture = picture
        return self.told


class Looks:
    """Of jobs that wait in the queue and have not begun: whatever else has files that may change while its row does not."""

    def __init__(self, observe: Callable[[Row], Observation | None]):
        self._observe = observe
        self._seen: dict[str, Seen] = {}

    def knows(self, key: str) -> bool:
        """It stood in the queue in the last look."""
        return key in self._seen

    def look(
        self, keys: Sequence[str], rows: Mapping[str, Row], picture: Callable[[int], Picture | None]
    ) -> list[Observation]:
        """In the order of the keys; `picture` is asked with how many wait, if any does."""
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
                if bare.waiting is not None and not may_have_run(row):
                    kept[key] = seen
            found.append(seen)
        self._seen = kept
        waiting = sum(seen.bare.waiting is not None for seen in found)
        shown = picture(waiting) if waiting else None
        return [
            seen.explained(shown) if seen.bare.waiting is not None else seen.bare for seen in found
        ]
