"""Take snapshots of Slurm for explanations, rarely enough to be cheap, without failing a poll."""

from __future__ import annotations

from collections.abc import Collection

from schedulers.cached import CachedValue
from schedulers.slurm.explanations import SlurmSnapshot, picture_of
from schedulers.slurm.interface import SlurmClient
from schedulers.slurm.limits import SlurmLimits
from schedulers.slurm.usage import LimitUsage, is_counted_by_slurm

# seconds between snapshots, plus this per pending job: a job is rewritten when its numbers change
_AT_LEAST, _EACH = (
    4.0,
    0.01,
)
_LIMITS_FOR = 30.0


class SnapshotCache:
    """The last snapshot, and the limits, which stay valid while accounting does not answer."""

    def __init__(self, users: Collection[str] = ()) -> None:
        self._users = users
        self._snapshots: CachedValue[SlurmSnapshot] = CachedValue(
            "Slurm's queue as a whole", _AT_LEAST, _EACH
        )
        self._limits: CachedValue[SlurmLimits] = CachedValue(
            "Slurm's limits", _LIMITS_FOR, outlives=True
        )
        self._usage: CachedValue[LimitUsage] = CachedValue("the use of Slurm's limits", _AT_LEAST)

    def current(self, client: SlurmClient, waiting: int) -> SlurmSnapshot | None:
        """Return the snapshot; None if Slurm does not provide one."""
        return self._snapshots.current(lambda: self._read(client), waiting)

    def _read(self, client: SlurmClient) -> SlurmSnapshot:
        queue, nodes = client.queue(), client.nodes()
        limits = self._limits.current(client.limits) or SlurmLimits()
        counted = [
            one
            for one in queue
            if one.row.state == "PENDING" and is_counted_by_slurm(one.row.reason)
        ]
        usage = (
            self._usage.current(lambda: client.limit_usage(counted, limits)) if counted else None
        )
        return picture_of(queue, nodes, limits, self._users, usage)
