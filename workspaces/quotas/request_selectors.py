"""Read requests for higher limits."""

from __future__ import annotations

from typing import Any

from workspaces.access.actors import Actor
from workspaces.access.permissions import Permission
from workspaces.models import QuotaRequest
from workspaces.quotas.limits import unit_of
from workspaces.quotas.set_limits import shown

MOST = 100


def requests_for(actor: Actor) -> list[QuotaRequest]:
    """Return the actor's requests, or all if the actor may set limits.

    Open ones first, oldest first, then the latest decisions.
    """
    rows = QuotaRequest.objects.select_related("asker")
    if not actor.may(Permission.QUOTAS_WRITE):
        rows = rows.filter(asker_id=actor.user_id)
    is_open = {"state": QuotaRequest.State.OPEN}
    return [
        *rows.filter(**is_open).order_by("created_at")[:MOST],
        *rows.exclude(**is_open).order_by("-decided_at")[:MOST],
    ]


def request_row(row: QuotaRequest) -> dict[str, Any]:
    """Return a request as shown by the API, in display units."""
    return {
        "id": row.id,
        "asker": row.asker.email,
        "scope": row.scope,
        "subject": row.subject,
        "resource": row.resource,
        "amount": shown(row.resource, row.amount),
        "unit": unit_of(row.resource),
        "why": row.why,
        "job": row.job,
        "state": row.state,
        "created_at": row.created_at,
        "decided_at": row.decided_at,
        "decided_by": row.decided_by,
        "word": row.word,
    }
