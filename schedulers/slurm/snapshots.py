"""Take snapshots of Slurm for explanations, rarely enough to be cheap, without failing a poll."""

from __future__ import annotations

from collections.abc import Collection

from schedulers.cached import Kept
from schedulers.slurm.explanations import Picture, picture_of
from schedulers.slurm.interface import Door
from schedulers.slurm.limits import Limits

# seconds between snapshots, plus this per pending job: a job is rewritten when its numbers change
_AT_LEAST, _EACH = (
    4.0,
    0.01,
)
_LIMITS_FOR = 30.0


class Pictures:
    """The last snapshot, and the limits, which stay valid while accounting does not answer."""

    def __init__(self, users: Collection[str] = ()) -> None:
        self._users = users
        self._pictures: Kept[Picture] = Kept("Slurm's queue as a whole", _AT_LEAST, _EACH)
        self._limits: Kept[Limits] = Kept("Slurm's limits", _LIMITS_FOR, outlives=True)

    def current(self, door: Door, waiting: int) -> Picture | None:
        """Return the snapshot; None if Slurm does not provide one."""
        return self._pictures.current(lambda: self._read(door), waiting)

    def _read(self, door: Door) -> Picture:
        return picture_of(
            door.queue(), door.nodes(), self._limits.current(door.limits) or Limits(), self._users
        )
