"""A person's notifications: read them, count them, mark them as read."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any
from uuid import UUID

from django.db.models import QuerySet

from notifications.models import Notification
from notifications.recipients import visible
from portal.core import clock, streams
from portal.core.errors import NotFound
from portal.core.messages import Message
from workspaces.access.actors import Actor
from workspaces.tenancy.scope import platform_scope

PAGE = 50
MOST_COUNTED = 100


def _of(actor: Actor) -> QuerySet[Notification]:
    assert actor.user_id is not None
    return Notification.objects.filter(visible(actor), user_id=actor.user_id)


@platform_scope("a person's notifications are of all their organizations")
def notifications_of(
    actor: Actor,
    *,
    is_unread: bool = False,
    kind: str = "",
    before: UUID | None = None,
    most: int = PAGE,
) -> list[Notification]:
    """Return notifications, newest first; `before`: only those older than that one."""
    rows = _of(actor).select_related("org")
    if is_unread:
        rows = rows.filter(read_at=None)
    if kind:
        rows = rows.filter(kind=kind)
    if before:
        rows = rows.filter(id__lt=before)
    return list(rows.order_by("-id")[:most])


@platform_scope("a person's notifications are of all their organizations")
def unread_count(actor: Actor) -> int:
    """Return the number of unread notifications, at most MOST_COUNTED."""
    rows = Notification.objects.filter(read_at=None)
    if actor.user_id is None or not rows.filter(user_id=actor.user_id).exists():
        return 0
    return _of(actor).filter(read_at=None)[:MOST_COUNTED].count()


@platform_scope("a person's notifications are of all their organizations")
def find_notification(actor: Actor, pk: UUID) -> Notification:
    """Return one of the actor's notifications. Raises NotFound."""
    row = _of(actor).filter(id=pk).first()
    if row is None:
        raise NotFound(Message("There is no such notification, or you may no longer see it."))
    return row


@platform_scope("a person's notifications are of all their organizations")
def mark(actor: Actor, ids: Collection[UUID] | None, *, is_read: bool = True) -> int:
    """Mark one's own notifications as read or unread, all without `ids`; return their number."""
    actor.check_acts_for_oneself()
    rows = _of(actor).filter(read_at__isnull=is_read)
    if ids is not None:
        rows = rows.filter(id__in=list(ids))
    changed = rows.update(read_at=clock.now() if is_read else None)
    if changed and actor.user_id:
        streams.publish(f"notifications:{actor.user_id.hex}", {"kind": "read"})
    return changed


def notification_row(row: Notification) -> dict[str, Any]:
    """Return a notification as the API does."""
    return {
        "id": row.id,
        "kind": row.kind,
        "organization": row.org.slug if row.org else None,
        "title": row.title,
        "body": row.body,
        "path": row.path,
        "at": row.at,
        "read_at": row.read_at,
    }
