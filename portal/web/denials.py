"""Refusals as facts: who was told no, where, and why. Bounded, so that asking in a loop cannot fill the table, and never in the way
of the answer itself."""

from __future__ import annotations

import logging
from typing import Any
from uuid import UUID

from django.db import transaction

from portal.core import rate_windows
from portal.core.errors import PortalError
from portal.core.events import Fact, record

log = logging.getLogger(__name__)
MOST = 20  # a minute of one person or token; the last one says that more are not told
MOST_OF_ALL = 2000  # a minute of the whole installation


def note_denial(request: Any, error: PortalError, org_id: UUID | None = None) -> None:
    """Record a 403 given to somebody who is signed in. `org_id`: the organization that they are strangers to (a 404); without it only
    a 403 counts, in the organization entered."""
    actor = getattr(request, "actor", None)
    if (
        actor is None
        or (org_id is None and error.http != 403)
        or getattr(request, "is_denial_told", False)
    ):
        return
    request.is_denial_told = True
    tell_denial(
        actor,
        org_id or actor.org_id,
        error,
        {"method": request.method, "path": request.path[:200], "status": error.http},
    )


def tell_denial(actor: Any, org_id: UUID | None, error: PortalError, data: dict[str, Any]) -> None:
    """Never raises: the answer goes out whatever becomes of the record."""
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
                Fact(
                    "access.denied",
                    org_id,
                    "user",
                    actor.user_id,
                    actor.email,
                    {**data, "code": error.kind, **permission, **more},
                )
            )
    except Exception:
        log.exception("a refusal could not be recorded")
