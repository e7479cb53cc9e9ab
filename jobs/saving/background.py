"""The loop that saves outputs: a task is not enough, because large files take minutes."""

from __future__ import annotations

import threading
from concurrent.futures import Future, ThreadPoolExecutor
from uuid import UUID

from django.db import close_old_connections, connections

from jobs.saving.saver import save, take_due
from portal.background import every

WORKERS = 2  # outputs that are saved at once


@every(1.0)
def saver(stop: threading.Event) -> None:
    """Save outputs that are due until stopped."""
    with ThreadPoolExecutor(WORKERS, thread_name_prefix="save-output") as pool:
        running: set[Future[None]] = set()
        while not stop.is_set():
            running = {one for one in running if not one.done()}
            if free := WORKERS - len(running):
                running |= {pool.submit(_save, pk) for pk in take_due(free)}
            close_old_connections()
            stop.wait(1.0)


def _save(pk: UUID) -> None:
    try:
        save(pk)
    finally:
        connections.close_all()
