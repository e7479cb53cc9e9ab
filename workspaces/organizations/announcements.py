"""Read announcements, for their readers and for those who manage them."""

from __future__ import annotations

import logging
from collections.abc import Collection
from typing import Any
from uuid import UUID

from django.db import DatabaseError
from django.db.models import Q

from portal.core import clock
from workspaces.models import Announcement

log = logging.getLogger(__name__)
DISMISSED = "dismissed"  # session key of the ids of dismissed announcements
_SEVERITY = {"trouble": 0, "warning": 1, "note": 2}


def announced_to(org_id: UUID | None, dismissed: Collection[str]) -> list[Announcement]:
    """Return current announcements for everybody and for that organization, most severe first.

    Never raises: no page should fail because of them.
    """
    now = clock.now()
    try:
        rows = list(
            Announcement.objects.filter(
                Q(org=None) | Q(org_id=org_id) if org_id else Q(org=None),
                Q(ends_at=None) | Q(ends_at__gt=now),
                begins_at__lte=now,
            )
        )
    except DatabaseError as error:
        log.warning("could not read announcements: %s", error)
        return []
    return sorted(
        (row for row in rows if row.id.hex not in dismissed),
        key=lambda row: (_SEVERITY[row.level], row.begins_at),
    )


def announcements_of(org_id: UUID) -> list[dict[str, Any]]:
    """Return current and scheduled announcements, for the page that manages them.

    Those that ended are in the audit log.
    """
    now = clock.now()
    rows = Announcement.objects.filter(
        Q(org=None) | Q(org_id=org_id), Q(ends_at=None) | Q(ends_at__gt=now)
    ).order_by("begins_at")
    return [
        {
            "id": row.id,
            "level": row.level,
            "text": row.text,
            "begins_at": row.begins_at,
            "ends_at": row.ends_at,
            "made_by": row.made_by,
            "is_wide": row.org_id is None,
            "is_shown": row.begins_at <= now,
        }
        for row in rows
    ]


def dismiss(session: Any, pk: UUID) -> None:
    """Hide an announcement for the rest of the session."""
    session[DISMISSED] = [*session.get(DISMISSED, ()), pk.hex][-100:]
