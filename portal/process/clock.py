"""A Celery beat scheduler for a portal that is idle most of the time."""

from __future__ import annotations

from typing import Any

from celery.beat import Scheduler


class CalmScheduler(Scheduler):
    """Wake up once per due task.

    Celery's scheduler wakes 10 ms early and spins: 49 iterations per second with our schedule.
    Nothing is stored on disk, because every task may run too often or too late.
    """

    def adjust(self, n: Any, drift: float = 0.010) -> Any:
        return super().adjust(n, drift)
