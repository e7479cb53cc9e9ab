"""Mail that does not arrive, for operators."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.db.models import Q

from notifications.kinds import BY_NAME
from notifications.models import Delivery
from portal.core import clock
from workspaces.access.actors import Actor, authorize
from workspaces.access.permissions import Permission
from workspaces.tenancy.scope import platform_scope

SHOWN = timedelta(days=7)
MOST = 10


@platform_scope("operators see which mail does not arrive")
def undelivered_mail(actor: Actor) -> tuple[list[dict[str, Any]], int]:
    """Return mail that failed within a week or is tried again, newest first, and how many there are.

    Titles, which may be about jobs, are left out. Raises NotPermitted.
    """
    authorize(actor, Permission.PLATFORM_ADMIN)
    failed = Q(state=Delivery.State.FAILED, created_at__gte=clock.now() - SHOWN)
    rows = Delivery.objects.filter(
        failed | Q(state=Delivery.State.WAITING, tries__gt=0), channel=None
    )
    found = [
        {
            "email": row.user.email if row.user else "",
            "kind": BY_NAME[row.kind].title if row.kind in BY_NAME else row.kind,
            "is_failed": row.state == Delivery.State.FAILED,
            "tries": row.tries,
            "trouble": row.trouble,
            "at": row.created_at,
        }
        for row in rows.select_related("user").order_by("-created_at")[:MOST]
    ]
    return found, len(found) if len(found) < MOST else rows.count()
