"""Turn events into notifications and deliveries, each once.

One process leads by lease. An event and the rows that follow from it are marked as handled in one
transaction; the unique constraints on (event, person) and (event, channel) reject a second copy.
Events commit out of order, so those above the cursor are remembered until the cursor passes them.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from datetime import datetime, timedelta
from uuid import UUID

from django.db import transaction
from django.db.models import Max

from notifications.kinds import BY_NAME, MAPPERS, notices_of
from notifications.models import (
    Channel,
    Cursor,
    Delivery,
    HandledEvent,
    Notification,
    Preference,
)
from notifications.recipients import may_see
from notifications.schedule import due_at
from notifications.services.preferences import wants
from portal.core import clock, streams
from portal.core.models import Event
from portal.core.settled import SettledPosition
from workspaces.models import User
from workspaces.organizations.invitation_links import can_mail
from workspaces.recipients import Notice
from workspaces.tenancy.scope import platform_scope

log = logging.getLogger(__name__)
NAME = "notifications"
BATCH = 500
STALE = timedelta(days=2)  # an event that is found later is no news


class Consumer:
    """Read events in the order in which they become visible."""

    def __init__(self) -> None:
        self._settled = SettledPosition()

    @platform_scope("events of every organization notify people")
    def look(self, may_go_on: Callable[[], bool] = lambda: True) -> int:
        """Handle new events; return their number."""
        floor, settled, count = _floor(), self._settled.look(), 0
        above = floor
        while may_go_on():
            events = list(
                Event.objects.filter(position__gt=above, kind__in=MAPPERS)
                .exclude(position__in=HandledEvent.objects.values("position"))
                .order_by("position")[:BATCH]
            )
            for event in events:
                handle(event)
            count += len(events)
            if len(events) < BATCH:
                if settled > floor:
                    _advance(settled)
                break
            above = events[-1].position
        return count


def _floor() -> int:
    """Return the position of the cursor; the first time, that of the newest event."""
    newest = Event.objects.aggregate(last=Max("position"))["last"] or 0
    return Cursor.objects.get_or_create(name=NAME, defaults={"position": newest})[0].position


@transaction.atomic
def _advance(position: int) -> None:
    Cursor.objects.filter(name=NAME, position__lt=position).update(position=position)
    HandledEvent.objects.filter(position__lte=position).delete()


def handle(event: Event) -> None:
    """Write what follows from an event. An event that cannot be mapped is logged and skipped."""
    try:
        with transaction.atomic():
            notices = notices_of(event) if event.at > clock.now() - STALE else []
    except Exception:
        log.exception("event %s (%s) notifies nobody", event.position, event.kind)
        notices = []
    with transaction.atomic():
        if not HandledEvent.objects.get_or_create(position=event.position)[1]:
            return
        notified = [user for notice in notices for user in _tell(event, notice)]
    for user in notified:
        streams.publish(f"notifications:{user.id.hex}", {"kind": "new"})


def _tell(event: Event, notice: Notice) -> list[User]:
    """Write the rows of one notice; return whose list has changed."""
    users = [
        user
        for user in notice.users
        if may_see(user, notice.org_id, notice.permission, notice.team_id)
    ]
    ids = [user.id for user in users]
    prefs = {row.user_id: row for row in Preference.objects.filter(user__in=ids)}
    seen = [user for user in users if wants(prefs.get(user.id), notice.kind, "in_app")]
    Notification.objects.bulk_create(
        [Notification(user=user, **_content(event, notice)) for user in seen],
        ignore_conflicts=True,
    )
    mailed = (
        [user for user in users if wants(prefs.get(user.id), notice.kind, "email")]
        if can_mail()
        else []
    )
    deliveries = [
        Delivery(
            user=user,
            due_at=due_at(prefs.get(user.id), is_mail=True),
            **_content(event, notice),
        )
        for user in mailed
    ]
    for channel in _channels(notice, ids):
        when = _channel_due(channel, prefs)
        deliveries.append(Delivery(channel=channel, due_at=when, **_content(event, notice)))
    Delivery.objects.bulk_create(deliveries, ignore_conflicts=True)
    return seen


def _channels(notice: Notice, users: Iterable[object]) -> list[Channel]:
    """Return the enabled channels of these people, and of the team, that want the kind."""
    rows = Channel.objects.filter(disabled_at=None).select_related("user")
    if notice.org_id:
        rows = rows.filter(org_id=notice.org_id)
    found = list(rows.filter(user__in=list(users)))
    if notice.team_id and BY_NAME[notice.kind].for_team:
        found += rows.filter(team_id=notice.team_id)
    return [channel for channel in found if notice.kind in channel.kinds]


def _channel_due(channel: Channel, prefs: dict[UUID, Preference]) -> datetime:
    return due_at(prefs.get(channel.user_id) if channel.user_id else None, is_mail=False)


def _content(event: Event, notice: Notice) -> dict[str, object]:
    return {
        "org_id": notice.org_id,
        "event_id": event.id,
        "kind": notice.kind,
        "permission": notice.permission,
        "team_id": notice.team_id,
        "title": notice.title,
        "body": notice.body,
        "path": notice.path[:300],
        "at": event.at,
    }
