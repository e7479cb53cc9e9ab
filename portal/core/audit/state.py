"""Summarize the state of a chain: how far it is sealed, and the last verification."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.db.models import Exists, OuterRef

from portal.core import clock
from portal.core.audit.anchors import facts_of
from portal.core.audit.canonical import NO_ORG
from portal.core.audit.models import AuditAnchor, AuditCheck, AuditLink
from portal.core.messages import Message
from portal.core.models import Event

# Positions below the last sealed one that are searched for late commits.
BEHIND = 5000
MOST = 1000  # upper limit of the count
SLOW = 60.0  # seconds without a seal before a warning


def chain_state(chain: UUID) -> dict[str, Any]:
    """Return the state for the page, the API and the CLI, at a cost independent of chain length."""
    last = (
        AuditLink.objects.filter(chain=chain)
        .order_by("-seq")
        .values("seq", "position", "hash")
        .first()
    )
    waiting = _unsealed_times(chain, last["position"] if last else 0)
    lag = max((clock.now() - waiting[0]).total_seconds(), 0.0) if waiting else 0.0
    anchored = AuditAnchor.objects.filter(chain=chain).order_by("-number").first()
    check = AuditCheck.objects.filter(chain=chain).first()
    return {
        "sealed": last["seq"] if last else 0,
        "hash": bytes(last["hash"]).hex() if last else None,
        "waiting": len(waiting),
        "lag_seconds": round(lag, 1),
        "is_late": lag > SLOW,
        "sealing": _sealing_text(last, waiting, lag),
        "anchor": facts_of(anchored) if anchored else None,
        **_check_state(check),
    }


def request_check(chain: UUID) -> None:
    """Request a verification, which the keeper runs within seconds."""
    AuditCheck.objects.update_or_create(chain=chain, defaults={"asked_at": clock.now()})


def _unsealed_times(chain: UUID, position: int) -> list[Any]:
    """Return the times of the events that have no link, oldest first."""
    links = AuditLink.objects.filter(position=OuterRef("position"))
    rows = Event.objects.filter(
        org_id=None if chain == NO_ORG else chain, position__gt=position - BEHIND
    ).filter(~Exists(links))
    return list(rows.order_by("position").values_list("at", flat=True)[:MOST])


def _sealing_text(last: Any, waiting: list[Any], lag: float) -> str:
    if not waiting:
        if not last:
            return Message("no events yet", context="part of a sentence")
        return Message.plural(
            last["seq"],
            "sealed up to now: {n} event",
            "sealed up to now: {n} events",
            n=f"{last['seq']:,}",
        )
    n = f"{len(waiting):,}{'+' if len(waiting) == MOST else ''}"
    many = Message.plural(
        len(waiting), "{n} event not sealed yet", "{n} events not sealed yet", n=n
    )
    return Message("sealed up to {n} s ago: {many}", n=f"{lag:.0f}", many=many)


def _check_state(check: AuditCheck | None) -> dict[str, Any]:
    is_asked = bool(check and check.asked_at and (check.at is None or check.at < check.asked_at))
    if check is None or check.at is None:
        return {
            "is_checking": is_asked,
            "check": None,
            "checked": Message("being verified now")
            if is_asked
            else Message("never verified", context="state"),
        }
    checked = Message.plural(
        check.fault_count,
        "verified {at} UTC, {n} fault",
        "verified {at} UTC, {n} faults",
        at=f"{check.at:%Y-%m-%d %H:%M}",
        n=f"{check.fault_count:,}",
    )
    return {
        "is_checking": is_asked,
        "checked": checked + Message("; being verified again") if is_asked else checked,
        "check": {
            "at": check.at,
            "seconds": round(check.seconds, 2),
            "events": check.events,
            "fault_count": check.fault_count,
            "faults": check.faults,
        },
    }
