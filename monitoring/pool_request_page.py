"""What happened to a request for GPUs, and which reservations keep GPUs of a node."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.db.models import Q

from clusters.models import Node, PoolRequest, PoolReservation
from clusters.services.pool_requests import visible_requests
from portal.core import clock
from portal.core.formatting import gpu_text
from portal.core.messages import Message
from portal.core.models import Event
from workspaces.access.actors import Actor
from workspaces.access.permissions import Permission
from workspaces.tenancy.scope import platform_scope

_SHAPES = {
    "requested": "queued",
    "request_approved": "succeeded",
    "request_declined": "failed",
    "reserved": "succeeded",
    "reservation_failed": "failed",
    "ends_soon": "queued",
}


def history_of(row: PoolRequest) -> list[dict[str, Any]]:
    """Return what happened to a request and its reservation, newest first: at, who, shape, text."""
    subjects = [row.id, *([row.reservation_id] if row.reservation_id else [])]
    events = Event.objects.filter(
        org_id=row.org_id, subject_id__in=subjects, kind__startswith="pool."
    )
    asked = 0
    found = []
    for event in events.order_by("position"):
        what = event.kind.removeprefix("pool.")
        after = event.data.get("after", {})
        asked = after.get("gpus", 0) if what == "requested" else asked
        found.append(
            {
                "at": event.at,
                "who": "" if event.actor == "system" else event.actor,
                "shape": _SHAPES.get(what, "canceled"),
                "text": _text(what, event.data, gpu_text(row.gpu_type), asked),
            }
        )
    return found[::-1]


def _text(what: str, data: dict[str, Any], kind: str, asked: int) -> Message:
    after = data.get("after", {})
    gpus, until = after.get("gpus", 0), str(after.get("until", ""))[:10]
    match what:
        case "requested":
            n = f"{gpus:,}"
            return Message("Requested {n} × {type} until {until}", n=n, type=kind, until=until)
        case "request_approved":
            text = Message(
                "Approved {n} × {type} in {pool} until {until}",
                n=f"{gpus:,}",
                type=kind,
                pool=after.get("pool", ""),
                until=until,
            )
            if asked and asked != gpus:
                return Message.joined("; ", (text, Message("{n} were requested", n=f"{asked:,}")))
            return text
        case "request_declined":
            return Message("Declined")
        case "request_withdrawn":
            return Message("Withdrawn")
        case "reserved":
            return Message("Reservation {name} is active", name=data.get("reservation", ""))
        case "reservation_failed":
            text = Message("Reservation {name} failed", name=data.get("reservation", ""))
            return Message.joined(": ", (text, str(after.get("note", ""))))
        case "released":
            return Message("Reservation {name} ended", name=data.get("reservation", ""))
        case "ends_soon":
            return Message("Reminder: access ends on {until}", until=until)
        case "returned":
            return Message("Returned")
        case "expired":
            return Message("Ended on its date")
    return Message("{what}", what=what)


def reservations_of_node(node: Node, actor: Actor) -> list[dict[str, Any]]:
    """Return which teams' GPUs are kept on a node now: gpus, team, href, ends_at.

    Teams of other organizations are named only to operators; `href` is "" for a request that the
    actor may not see.
    """
    now: datetime = clock.now()
    with platform_scope("reservations keep GPUs from every organization"):
        rows = list(
            PoolReservation.objects.select_related("team", "org", "pool")
            .filter(Q(nodes__has_key=node.name), cluster=node.cluster_id, starts_at__lte=now)
            .exclude(state=PoolReservation.State.ENDED)
            .order_by("ends_at")
        )
        seen = visible_requests(actor).filter(
            reservation__in=rows, state=PoolRequest.State.APPROVED
        )
        asks = dict(seen.values_list("reservation_id", "id"))
    is_operator = actor.may(Permission.CLUSTERS_READ)
    found = []
    for row in rows:
        is_ours = row.org_id == actor.org_id
        ask = asks.get(row.id)
        found.append(
            {
                "gpus": row.nodes[node.name],
                "type": row.gpu_type,
                "team": row.team.name if is_ours or is_operator else "",
                "href": f"/{row.org.slug}/pool-requests/{ask}"
                if ask and (is_ours or is_operator)
                else "",
                "ends_at": row.ends_at,
            }
        )
    return found
