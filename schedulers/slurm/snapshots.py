"""When Slurm is read as a whole for the numbers behind its reasons: as often as is cheap, and never so that a poll fails for it."""

from __future__ import annotations

from collections.abc import Collection

from schedulers.cached import Kept
from schedulers.slurm.explanations import Picture, picture_of
from schedulers.slurm.interface import Door
from schedulers.slurm.limits import Limits

_AT_LEAST, _EACH = (
    4.0,
    0.01,
)  # seconds between two, and for each job that waits: whose numbers change is written anew
_LIMITS_FOR = 30.0


class Pictures:
    """The last one, and the limits, which outlive it: those of before count while accounting does not answer."""

    def __init__(self, users: Collection[str] = ()) -> None:
        self._users = users
        self._pictures: Kept[Picture] = Kept("Slurm's queue as a whole", _AT_LEAST, _EACH)
        self._limits: Kept[Limits] = Kept("Slurm's limits", _LIMITS_FOR, outlives=True)

    def current(self, door: Door, waiting: int) -> Picture | None:
        """None when Slurm does not tell: then its own words have to do."""
        return self._pictures.current(lambda: self._read(door), waiting)

    def _read(self, door: Door) -> Picture:
        return picture_of(
            door.queue(), door.nodes(), self._limits.current(door.limits) or Limits(), self._users
        )
