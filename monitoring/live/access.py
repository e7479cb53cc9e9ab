"""Detect changes of access within seconds, with a few small queries per process."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar
from uuid import UUID
from weakref import WeakKeyDictionary, WeakSet

from channels.db import database_sync_to_async
from django.db.models import Max

from monitoring.live.topics import grant
from portal.core.errors import PortalError
from portal.core.models import Event
from workspaces.access.actors import Actor
from workspaces.access.custom_roles import invalidate as forget_roles
from workspaces.access.subscriptions import SubscriptionGrant
from workspaces.identity.connections import Credential, ended
from workspaces.tenancy.scope import platform_scope

if TYPE_CHECKING:
    from monitoring.live.consumers import LiveConsumer

log = logging.getLogger(__name__)
EVERY = 2.0  # seconds between polls
# Seconds after which all access is checked again; tokens also expire without an event.
ANYWAY = 60.0
# Positions to look back: a transaction may commit after others with higher positions.
LATE = 1000
KINDS = (
    "member.added",
    "member.changed",
    "member.removed",
    "member.restored",
    "member.suspended",
    "role.changed",
    "role.deleted",
    "role.made",
    "team.created",
    "team_member.added",
    "team_member.changed",
    "team_member.removed",
    "token.revoked",
    "org.second_factor_required",
    "second_factor.removed",
)


class AccessWatch:
    """One watch per event loop, running while there are sockets.

    `turn` counts the rounds of rechecks.
    """

    _of_loop: ClassVar[WeakKeyDictionary[asyncio.AbstractEventLoop, AccessWatch]] = (
        WeakKeyDictionary()
    )

    def __init__(self) -> None:
        self.turn = 0
        self._sockets: WeakSet[LiveConsumer] = WeakSet()
        self._failed: WeakSet[LiveConsumer] = WeakSet()
        self._task: asyncio.Task[None] | None = None
        self._first_look: asyncio.Future[None]

    @classmethod
    def here(cls) -> AccessWatch:
        loop = asyncio.get_running_loop()
        if loop not in cls._of_loop:
            cls._of_loop[loop] = cls()
        return cls._of_loop[loop]

    async def join(self, socket: LiveConsumer) -> None:
        """Register a socket; once this returns, no change of access is missed.

        Raises the error of the first poll, such as a database outage.
        """
        self._sockets.add(socket)
        if self._task is None or self._task.done():
            self._first_look = asyncio.get_running_loop().create_future()
            self._task = asyncio.create_task(self._run())
        await asyncio.shield(self._first_look)

    def leave(self, socket: LiveConsumer) -> None:
        self._sockets.discard(socket)
        self._failed.discard(socket)

    async def _run(self) -> None:
        news, last = AccessEvents(), time.monotonic()
        while self._sockets:
            try:
                orgs = await database_sync_to_async(news.look)()
                if not self._first_look.done():
                    self._first_look.set_result(None)
                gone = await database_sync_to_async(ended)(
                    {s.way: s.actor for s in self._sockets if s.actor}
                )
                is_due = time.monotonic() - last > ANYWAY
                last = time.monotonic() if is_due else last
                await self._recheck(
                    [s for s in self._sockets if is_due or s.way in gone or s.is_about(orgs)]
                )
            except Exception as error:
                if not self._first_look.done():
                    self._first_look.set_exception(error)
                    return
                log.exception("could not recheck access; retrying in %g s", EVERY)
            await asyncio.sleep(EVERY)

    async def _recheck(self, sockets: Iterable[LiveConsumer]) -> None:
        """Recheck these sockets and those that failed before, independently of each other."""
        wanted = {*sockets, *self._failed}
        if not wanted:
            return
        self.turn += 1
        rechecks = RecheckCache()
        for socket in wanted:
            self._failed.add(socket)
            try:
                await socket.recheck(rechecks)
                self._failed.discard(socket)
            except Exception:
                log.exception(
                    "could not recheck the access of a websocket; retrying in %g s", EVERY
                )


class AccessEvents:
    """Events that changed somebody's access, each reported once."""

    def __init__(self) -> None:
        self._from: int | None = None
        self._known: set[int] = set()

    @platform_scope("whose access changed, in every organization")
    def look(self) -> set[UUID | None]:
        """Return the organizations of new events; nothing on the first call."""
        newest = Event.objects.aggregate(last=Max("position"))["last"] or 0
        is_first = self._from is None
        since = newest - LATE if self._from is None else self._from
        found = dict(
            Event.objects.filter(position__gt=since, kind__in=KINDS).values_list(
                "position", "org_id"
            )
        )
        fresh = {org for position, org in found.items() if position not in self._known}
        self._from, self._known = newest - LATE, set(found)
        if fresh:
            forget_roles()
        return set() if is_first else fresh


@dataclass
class RecheckCache:
    """Cached results of one round, so that many sockets of one user cost as much as one."""

    _actors: dict[Credential, Actor | None] = field(default_factory=dict)
    _grants: dict[tuple[Credential, str], SubscriptionGrant | PortalError] = field(
        default_factory=dict
    )

    def of(
        self, way: Credential, topics: Collection[str]
    ) -> tuple[Actor | None, dict[str, SubscriptionGrant | PortalError]]:
        """Return the current actor, None without access, and per topic the grant or its error."""
        if way not in self._actors:
            self._actors[way] = way.actor()
        actor = self._actors[way]
        if actor is None:
            return None, {}
        for topic in topics:
            if (way, topic) not in self._grants:
                self._grants[way, topic] = _granted(actor, topic)
        return actor, {topic: self._grants[way, topic] for topic in topics}


def _granted(actor: Actor, topic: str) -> SubscriptionGrant | PortalError:
    try:
        return grant(actor, topic)
    except PortalError as error:
        return error
