"""Poll watched logs for data whose notification was lost, e.g. because its publisher was killed."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Collection
from typing import TYPE_CHECKING, ClassVar
from weakref import WeakKeyDictionary

from asgiref.sync import sync_to_async

from portal.blobs.logs import log_store

if TYPE_CHECKING:
    from monitoring.live.subscription import Subscription

log = logging.getLogger(__name__)
EVERY = 4.0  # seconds between polls


class LogPoller:
    """One poller per event loop; runs while logs are watched, with one request per log."""

    _of_loop: ClassVar[WeakKeyDictionary[asyncio.AbstractEventLoop, LogPoller]] = (
        WeakKeyDictionary()
    )

    def __init__(self) -> None:
        self._watching: set[Subscription] = set()
        self._task: asyncio.Task[None] | None = None

    @classmethod
    def here(cls) -> LogPoller:
        loop = asyncio.get_running_loop()
        if loop not in cls._of_loop:
            cls._of_loop[loop] = cls()
        return cls._of_loop[loop]

    def join(self, watching: Subscription) -> None:
        self._watching.add(watching)
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._run())

    def leave(self, watching: Subscription) -> None:
        self._watching.discard(watching)

    async def _run(self) -> None:
        while self._watching:
            await asyncio.sleep(EVERY)
            try:
                found = await sync_to_async(_ends, thread_sensitive=False)(
                    {one.granted.log_key for one in self._watching}
                )
            except Exception:
                log.exception("could not poll logs; retrying in %g s", EVERY)
                continue
            for one in self._watching:
                end, is_closed = found.get(one.granted.log_key, (0, False))
                if one.at < end or is_closed:
                    one.sink.lose()


def _ends(keys: Collection[str]) -> dict[str, tuple[int, bool]]:
    """Return the end of each log, and whether it is closed."""
    store = log_store()
    return {key: (store.end(key), store.certificate(key) is not None) for key in keys}
