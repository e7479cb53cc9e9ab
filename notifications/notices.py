"""The notifications of this app: their kinds, and which events notify whom.

A function gets an event and returns notices; it reads what the event is about, so that a deleted
object notifies nobody either.
"""

from __future__ import annotations

from collections.abc import Iterable

from notifications.models import Channel
from portal.core.messages import Message
from portal.core.models import Event
from workspaces.access.permissions import Permission as P
from workspaces.recipients import Notice, NoticeKind, active, people_who_may

KINDS = (
    NoticeKind(
        "channel_disabled",
        110,
        Message("Channel disabled", context="kind of notification"),
        Message("A channel of yours failed for days and was disabled."),
        permissions=(P.JOBS_ADMIN,),
        email=True,
        for_team=False,
    ),
)


def _channel_disabled(event: Event) -> Iterable[Notice]:
    rows = Channel.objects.select_related("org", "user", "team")
    channel = rows.filter(id=event.subject_id, disabled_at__isnull=False).first()
    if channel is None:
        return
    users = (
        active([channel.user])
        if channel.user
        else people_who_may(P.JOBS_ADMIN, channel.org_id, channel.team_id)
    )
    yield Notice(
        "channel_disabled",
        channel.org_id,
        users,
        Message("The channel {name} is disabled", name=channel.name),
        f"/{channel.org.slug}/notification-channels/{channel.id}",
        Message.joined("", [channel.trouble]),
        P.JOBS_ADMIN if channel.team_id else "",
        channel.team_id,
    )


MAPPERS = {
    "notification_channel.disabled": _channel_disabled,
}
