"""The websocket protocol.

The client sends subscribe, unsubscribe and ping. The server sends hello, subscribed, event, resync,
gap, end, error and pong, and binary frames of log bytes (`subscription.HEAD`). Each subscribe is
authorized, and access is rechecked while the socket is open.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Set
from typing import Any
from uuid import UUID

import orjson
from channels.db import database_sync_to_async
from channels.generic.websocket import AsyncWebsocketConsumer
from django.db import DatabaseError

from monitoring.live.access import AccessWatch, RecheckCache
from monitoring.live.subscription import Subscription
from monitoring.live.topics import grant
from portal.core.errors import InvalidInput, PortalError
from portal.core.events import set_credential, set_impersonation
from portal.core.messages import Message
from portal.core.outage import outage
from portal.core.protocols import problem
from portal.web.denials import record_denial
from workspaces.access.actors import Actor
from workspaces.access.subscriptions import SubscriptionGrant
from workspaces.identity.connections import Credential

log = logging.getLogger(__name__)
MAX_SUBSCRIPTIONS = 64
MAX_MESSAGE = 4096


class LiveConsumer(AsyncWebsocketConsumer):  # type: ignore[misc]
    """One websocket of a page or program."""

    async def connect(self) -> None:
        self.way: Credential = self.scope["way"]
        self.actor: Actor | None = None
        self.tasks: dict[int, tuple[Subscription, asyncio.Task[None]]] = {}
        try:
            await AccessWatch.here().join(self)
            self.actor = await database_sync_to_async(self.way.actor)()
        except DatabaseError as error:
            if (away := outage(error)) is None:
                raise
            await self.refuse(away)
            return
        set_credential(self.actor.via if self.actor else "")
        if self.actor and self.actor.acted_by:
            set_impersonation(self.actor.acted_by.email, self.actor.email)
        # Accept first: browsers do not see the close code of a rejected handshake.
        await self.accept()
        if self.actor is None:
            await self.close(code=4401)
            return
        await self.tell({"op": "hello", "server_time": int(time.time() * 1000)})

    async def refuse(self, error: PortalError) -> None:
        """Reject the handshake with an HTTP response."""
        headers = [
            (b"retry-after", str(error.data["retry_after"]).encode()),
            (b"content-type", b"application/problem+json"),
        ]
        await self.base_send(
            {"type": "websocket.http.response.start", "status": error.http, "headers": headers}
        )
        await self.base_send(
            {"type": "websocket.http.response.body", "body": orjson.dumps(problem(error))}
        )

    async def disconnect(self, code: int) -> None:
        AccessWatch.here().leave(self)
        for number in list(self.tasks):
            await self.drop(number)

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        if self.actor is None:
            return
        number = 0
        try:
            message = _parsed(text_data)
            number = _number(message)
            await self.obey(message, number)
        except PortalError as error:
            if error.http in {403, 404} and self.actor:
                await database_sync_to_async(record_denial)(
                    self.actor, None, error, {"method": "subscribe", "path": _topic(text_data)}
                )
            await self.tell(
                {"op": "error", "id": number, "code": error.kind, "message": error.message}
            )

    async def obey(self, message: dict[str, Any], number: int) -> None:
        match message.get("op"):
            case "subscribe":
                await self.subscribe(number, message)
            case "unsubscribe":
                await self.drop(number)
            case "ping":
                await self.tell({"op": "pong"})
            case other:
                raise InvalidInput.at(
                    "op", f"{str(other)[:40]!r} is not known; there is subscribe, unsubscribe, ping"
                )

    async def subscribe(self, number: int, message: dict[str, Any]) -> None:
        topic, after = message.get("topic"), message.get("after")
        if not isinstance(topic, str) or not (
            after is None or (type(after) is int and 0 <= after < 2**63)
        ):
            raise InvalidInput.at("topic", "must be text, and `after` a whole number or left out")
        if number in self.tasks or len(self.tasks) >= MAX_SUBSCRIPTIONS:
            raise InvalidInput.at(
                "id", f"must be new; a socket has at most {MAX_SUBSCRIPTIONS} subscriptions"
            )
        watch = AccessWatch.here()
        turn = watch.turn
        granted = await database_sync_to_async(grant)(self.actor, topic)
        # Access was rechecked meanwhile without this subscription.
        if watch.turn != turn:
            granted = await database_sync_to_async(grant)(self.actor, topic)
        self._start(Subscription(number, topic, granted, after, self.put))

    async def drop(self, number: int) -> None:
        made = self.tasks.pop(number, None)
        if made:
            made[1].cancel()
            await asyncio.gather(made[1], return_exceptions=True)

    def is_about(self, orgs: Set[UUID | None]) -> bool:
        """Return whether events in these organizations may affect this socket's subscriptions."""
        if not orgs:
            return False
        ours = {made.granted.org_id for made, _ in self.tasks.values()}
        if self.actor and self.actor.token:
            ours.add(self.actor.token.org_id)
        return None in ours or None in orgs or not ours.isdisjoint(orgs)

    async def recheck(self, asked: RecheckCache) -> None:
        """Recheck all subscriptions, and end those that are no longer allowed."""
        if self.actor is None:
            return
        watched = list(self.tasks.items())
        self.actor, now = await database_sync_to_async(asked.of)(
            self.way, [made.topic for _, (made, _) in watched]
        )
        if self.actor is None:
            await self.close(code=4401)
            return
        for number, (made, _) in watched:
            if (
                number in self.tasks and self.tasks[number][0] is made
            ):  # otherwise it has ended meanwhile
                await self._regrant(number, made, now[made.topic])

    async def _regrant(
        self, number: int, made: Subscription, now: SubscriptionGrant | PortalError
    ) -> None:
        if now == made.granted:
            return
        await self.drop(number)
        if isinstance(now, PortalError):
            await self.tell({"op": "error", "id": number, "code": now.kind, "message": now.message})
            return
        self._start(
            Subscription(number, made.topic, now, made.at if now.log_key else None, self.put)
        )
        await self.tell({"op": "resync", "id": number, "seq": 0, "why": "access changed"})

    def _start(self, made: Subscription) -> None:
        self.tasks[made.number] = (made, asyncio.create_task(self._guard(made)))

    async def put(self, data: bytes | str) -> None:
        """Send a frame directly to the server, because subscriptions send many."""
        await self.base_send(
            {"type": "websocket.send", "text" if isinstance(data, str) else "bytes": data}
        )

    async def tell(self, message: dict[str, Any]) -> None:
        await self.send(text_data=orjson.dumps(message).decode())

    async def _guard(self, made: Subscription) -> None:
        """Report an error in a subscription; the socket and other subscriptions continue."""
        try:
            await made.run()
        except (
            asyncio.CancelledError,
            OSError,
            # OSError: the viewer has disconnected; the socket will notice.
        ):
            raise
        except Exception:
            log.exception("subscription to %s failed", made.topic)
            await self.tell(
                {
                    "op": "error",
                    "id": made.number,
                    "code": "internal",
                    "message": Message("Something went wrong on our side. Subscribe again."),
                }
            )
        finally:
            if made.number in self.tasks and self.tasks[made.number][0] is made:
                del self.tasks[made.number]


def _parsed(text: str | None) -> dict[str, Any]:
    if text is None or len(text) > MAX_MESSAGE:
        raise InvalidInput.at("message", f"must be JSON text of at most {MAX_MESSAGE} characters")
    try:
        message = orjson.loads(text)
    except orjson.JSONDecodeError as error:
        raise InvalidInput.at("message", "is not JSON") from error
    if not isinstance(message, dict):
        raise InvalidInput.at("message", "must be a JSON object")
    return message


def _topic(text: str | None) -> str:
    return str(_parsed(text).get("topic", ""))[:200]


def _number(message: dict[str, Any]) -> int:
    number = message.get("id", 0)
    if not isinstance(number, int) or isinstance(number, bool) or not 0 <= number < 2**32:
        raise InvalidInput.at("id", "must be a whole number below 2**32")
    return number
