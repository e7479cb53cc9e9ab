"""Forward the events of a chain to external targets, in order and at least once.

Each target has a cursor, which advances after delivery. Failed deliveries are retried with
exponential backoff and given up after about a day.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from datetime import timedelta
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings

from portal.core import clock, vault
from portal.core.audit.anchors import last_cut
from portal.core.audit.models import AuditForward, AuditLink
from portal.core.audit.reading import facts
from portal.core.audit.targets import DeliveryFailed, ForwardPolicy, deliver
from portal.core.messages import Message
from portal.core.models import Event

PURPOSE = "audit forwards"
# Events per delivery, and deliveries to one target per round.
BATCH, TURN = 100, 50
MOST_TRIES, LONGEST_PAUSE = 30, 3600.0


def forward_all(may_go_on: Callable[[], bool] = lambda: True) -> int:
    """Forward to every target that is due; return the number of events delivered."""
    due = AuditForward.objects.filter(dead_at=None, next_at__lte=clock.now()).order_by("next_at")
    return sum(forward(row, may_go_on) for row in due)


def forward(row: AuditForward, may_go_on: Callable[[], bool] = lambda: True) -> int:
    """Forward to one target until nothing is left, it fails, or its round is over."""
    taken = 0
    for _ in range(TURN):
        batch, last = _next(row)
        if last is None or not may_go_on():
            break
        try:
            if batch:
                deliver(row.target, batch, name=str(row.id), secret=_secret(row), policy=policy())
        except (DeliveryFailed, vault.Unreadable) as error:
            _schedule_retry(row, str(error))
            break
        taken += len(batch)
        _advance(row, last)
    return taken


def policy() -> ForwardPolicy:
    """Return the policy from the settings."""
    return ForwardPolicy(
        frozenset(name.lower() for name in settings.MUSTER_FORWARD_TARGETS),
        settings.MUSTER_FORWARD_CA,
        portal=urlsplit(settings.MUSTER_BASE_URL).hostname or "muster",
    )


def state_of(row: AuditForward) -> dict[str, Any]:
    """Serialize the state of a target for the page and the API, without its secret."""
    head = (
        AuditLink.objects.filter(chain=row.chain)
        .order_by("-seq")
        .values_list("seq", flat=True)
        .first()
        or row.sent_seq
    )
    waiting = max(head - row.sent_seq, 0)
    return {
        "id": row.id,
        "target": row.target,
        "is_signed": bool(row.secret),
        "sent_seq": row.sent_seq,
        "sent_at": row.sent_at,
        "waiting": waiting,
        "is_dead": row.dead_at is not None,
        "trouble": row.trouble,
        "next_at": row.next_at if row.tries and not row.dead_at else None,
        "created_at": row.created_at,
        "created_by": row.created_by,
        "state": _state_text(row, waiting),
    }


def _next(row: AuditForward) -> tuple[list[dict[str, Any]], int | None]:
    """Return the next events and the number of the last one, None at the end of the chain.

    If retention has deleted unsent events, continues after the cut. Events that were tampered away
    are missing from the result.
    """
    links = list(
        AuditLink.objects.filter(chain=row.chain, seq__gt=row.sent_seq)
        .order_by("seq")
        .values_list("seq", "position")[:BATCH]
    )
    if (
        links
        and links[0][0] != row.sent_seq + 1
        and (cut := last_cut(row.chain))
        and cut.seq > row.sent_seq
    ):
        row.trouble = Message(
            "#{x} to #{seq} were deleted by retention before they were sent.",
            x=f"{row.sent_seq + 1:,}",
            seq=f"{cut.seq:,}",
        )
    events = {
        event.position: event
        for event in Event.objects.filter(position__in=[position for _, position in links])
    }
    return facts([events[position] for _, position in links if position in events]), links[-1][
        0
    ] if links else None


def _secret(row: AuditForward) -> bytes:
    return vault.decrypt(bytes(row.secret), PURPOSE) if row.secret else b""


def _advance(row: AuditForward, seq: int) -> None:
    row.sent_seq, row.sent_at, row.tries, row.trouble = (
        seq,
        clock.now(),
        0,
        row.trouble if row.trouble.startswith("#") else "",
    )
    row.save(update_fields=["sent_seq", "sent_at", "tries", "trouble"])


def _schedule_retry(row: AuditForward, why: str) -> None:
    row.tries, row.trouble = row.tries + 1, why[:300]
    row.next_at = clock.after(min(2.0**row.tries, LONGEST_PAUSE) * random.uniform(0.8, 1.2))
    row.dead_at = clock.now() if row.tries >= MOST_TRIES else None
    row.save(update_fields=["tries", "trouble", "next_at", "dead_at"])


def _state_text(row: AuditForward, waiting: int) -> str:
    wait = f"; {waiting:,} wait" if waiting else ""
    if row.dead_at:
        return f"given up after {row.tries} tries: {row.trouble}{wait}"
    if row.tries:
        again = max((row.next_at - clock.now()) // timedelta(seconds=1), 0)
        return (
            f"failed {row.tries} time{'' if row.tries == 1 else 's'}, next in {again} s: "
            f"{row.trouble}{wait}"
        )
    sent = f"sent up to #{row.sent_seq:,}" if row.sent_at else "nothing sent yet"
    return f"{sent}{wait}{'. ' + row.trouble if row.trouble else ''}"
