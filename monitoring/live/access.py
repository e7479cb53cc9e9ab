"""Notices within seconds that somebody's access may have changed, with one small query for all sockets of a process."""

from __future__ import annotations

import asyncio
import logging
import time
from typing import TYPE_CHECKING, ClassVar
from weakref import WeakKeyDictionary, WeakSet

from channels.db import database_sync_to_async
from django.db.models import Max

from portal.core.models import Event

if TYPE_CHECKING:
    from monitoring.live.consumers import LiveConsumer

log = logging.getLogger(__name__)
EVERY = 2.0                 # seconds between looks
ANYWAY = 60.0               # sessions and tokens also end by time, which no event tells
KINDS = ("member.added", "member.changed", "member.removed", "team.created", "team_member.added", "team_member.changed",
         "team_member.removed", "token.revoked", "user.deactivated", "user.signed_out")


class AccessWatch:
    """One per event loop; it looks only while there are sockets."""

    _of_loop: ClassVar[WeakKeyDictionary[asyncio.AbstractEventLoop, AccessWatch]] = WeakKeyDictionary()

    def __init__(self) -> None:
        self._sockets: WeakSet[LiveConsumer] = WeakSet()
        self._task: asyncio.Task[None] | None = None

    @classmethod
    def here(cls) -> AccessWatch:
        loop = asyncio.get_running_loop()
        if loop not in cls._of_loop:
            cls._of_loop[loop] = cls()
        return cls._of_loop[loop]

    def join(self, socket: LiveConsumer) -> None:
        self._sockets.add(socket)
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._run())

    def leave(self, socket: LiveConsumer) -> None:
        self._sockets.discard(socket)

    async def _run(self) -> None:
        position, last = await database_sync_to_async(_newest)(), time.monotonic()
        while self._sockets:
            await asyncio.sleep(EVERY)
            try:
                changed = await database_sync_to_async(_changed_since)(position)
                position = changed or position
                if changed or time.monotonic() - last > ANYWAY:
                    last = time.monotonic()
                    for socket in list(self._sockets):
                        await socket.recheck()
            except Exception:
                log.exception("access could not be asked again; next try in %g s", EVERY)


def _newest() -> int:
    return Event.objects.aggregate(last=Max("position"))["last"] or 0


def _changed_since(position: int) -> int:
    """The position of the latest event that touched anybody's access; 0 when there was none."""
    return Event.objects.filter(position__gt=position, kind__in=KINDS).aggregate(last=Max("position"))["last"] or 0
