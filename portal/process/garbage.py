"""Collect garbage in a thread of its own, for embedded mode.

Python runs the cyclic collector in whichever thread allocates next. A collected cycle may hold a
SQLite cursor of another thread, and resetting it takes the mutex of that thread's connection. If
that thread waits for the write lock and the collecting thread's transaction holds it, neither goes
on until a timeout. This thread never has a transaction, so it may wait for any connection.
"""

from __future__ import annotations

import gc
import threading

from portal.background import every


@every(0.5)
def collect_garbage(stop: threading.Event) -> None:
    """Collect the oldest generation that is due, in place of the automatic collection."""
    gc.disable()
    due = [
        generation
        for generation, (count, threshold) in enumerate(
            zip(gc.get_count(), gc.get_threshold(), strict=True)
        )
        if count > threshold
    ]
    if due:
        gc.collect(due[-1])
