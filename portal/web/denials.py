"""Record denied requests as audit events.

The number is limited, so that a loop cannot fill the table. Recording never affects the response.
"""

from __future__ import annotations

import logging
from typing import Any
from uuid import UUID

from django.db import transaction

from portal.core import rate_windows
from portal.core.errors import PortalError
from portal.core.events import EventRecord, record

log = logging.getLogger(__name__)
# Per minute for one user or token; the last one notes that more are not recorded.
MOST = 20
# Per minute for the whole installation.
MOST_OF_ALL = 2000


def record_denied_request(request: Any, error: PortalError, org_id: UUID | None = None) -> None:
    """Record a 403 response to a signed-in user.

    With `org_id`, records a 404 of an organization of which they are no member.
    """
    actor = getattr(request, "actor", None)
    if (
        actor is None
        or (org_id is None and error.http != 403)
        or getattr(request, "is_denial_recorded", False)
    ):
        return
    request.is_denial_recorded = True
    record_denial(
        actor,
        org_id or actor.org_id,
        error,
        {"method": request.method, "path": request.path[:200], "status": error.http},
    )


def record_denial(
    actor: Any, org_id: UUID | None, error: PortalError, data: dict[str, Any]
) -> None:
    """Record a denial. Never raises."""
    try:
        number = rate_windows.take(
            f"denied:{actor.token.id if actor.token else actor.user_id}", MOST
        )[0]
        if number > MOST or rate_windows.take("denied", MOST_OF_ALL)[0] > MOST_OF_ALL:
            return
        permission = {"permission": error.data["permission"]} if "permission" in error.data else {}
        more = (
            {"more": "further refusals of this minute are not recorded"} if number == MOST else {}
        )
        with transaction.atomic():
            record(
                EventRecord(
                    "access.denied",
                    org_id,
                    "user",
                    actor.user_id,
                    actor.email,
                    {**data, "code": error.kind, **permission, **more},
                )
            )
    except Exception:
        log.exception("could not record a denied request")
