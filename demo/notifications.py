"""Notifications of the demo: about the last two days of its jobs, some of them read."""

from __future__ import annotations

from datetime import timedelta

from notifications.kinds import MAPPERS
from notifications.models import Delivery, Notification
from notifications.services.consuming import STALE, handle
from portal.core import clock
from portal.core.models import Event
from workspaces.models import Organization
from workspaces.tenancy.scope import platform_scope

READ = timedelta(hours=12)  # older ones are read


@platform_scope("the demo writes rows of its organization")
def write(org: Organization) -> None:
    """Notify the people of the demo, without sending mail."""
    recent = Event.objects.filter(
        org_id=org.id, kind__in=MAPPERS, at__gt=clock.now() - STALE
    ).order_by("position")
    for event in recent:
        handle(event)
    Notification.objects.filter(org=org).filter(at__lt=clock.now() - READ).update(
        read_at=clock.now()
    )
    Delivery.objects.filter(org=org).delete()
