"""How the events of notifications read."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from uuid import UUID

from notifications.models import Channel
from portal.core.event_texts import EventKind, Subject
from portal.core.messages import Message
from portal.core.states import Mark

_CHANNEL = "/{}/notification-channels/{}"


def _channels(ids: Collection[UUID]) -> Mapping[UUID, tuple[str, str]]:
    rows = Channel.objects.select_related("org").filter(id__in=ids)
    return {row.id: (row.name or row.host, _CHANNEL.format(row.org.slug, row.id)) for row in rows}


EVENTS = (
    EventKind("notification_channel.created", (Message("{actor} added the channel {subject}"),)),
    EventKind("notification_channel.changed", (Message("{actor} changed the channel {subject}"),)),
    EventKind(
        "notification_channel.deleted",
        (Message("{actor} deleted the channel {subject}"),),
        mark=Mark.BAR,
    ),
    EventKind(
        "notification_channel.tested", (Message("{actor} sent a test to the channel {subject}"),)
    ),
    EventKind(
        "notification_channel.redelivered",
        (Message("{actor} sent a message to the channel {subject} again"),),
    ),
    EventKind(
        "notification_channel.disabled",
        (
            Message("The channel {subject} was disabled: {why}"),
            Message("The channel {subject} was disabled"),
        ),
        mark=Mark.BAR,
    ),
    EventKind(
        "notification_settings.changed", (Message("{actor} changed own notification settings"),)
    ),
)
GROUPS = {
    "notification_channel": Message("Notification channels", context="way to group"),
    "notification_settings": Message("Notification settings", context="way to group"),
}
SUBJECTS = (
    Subject("notification_channel", Message("a channel", context="subject of an event"), _channels),
)
