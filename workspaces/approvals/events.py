"""How the events of requests read, the same for each kind."""

from __future__ import annotations

from typing import Any

from portal.core.event_texts import EventKind
from portal.core.messages import Message
from portal.core.states import Mark
from workspaces.approvals.kinds import COMMENTED, EXPIRED, REQUESTED, STEPS, ApprovalKind

_TEXTS = {
    REQUESTED: (
        Message("{actor} asked for {subject}: {why}", context="history"),
        Message("{actor} asked for {subject}", context="history"),
    ),
    COMMENTED: (
        Message("{actor} commented on {subject}: {word}", context="history"),
        Message("{actor} commented on {subject}", context="history"),
    ),
    "request_approved": (
        Message("{actor} approved {subject}: {word}", context="history"),
        Message("{actor} approved {subject}", context="history"),
    ),
    "request_declined": (
        Message("{actor} declined {subject}: {word}", context="history"),
        Message("{actor} declined {subject}", context="history"),
    ),
    "request_withdrawn": (Message("{actor} withdrew the request for {subject}"),),
    "request_reopened": (Message("{actor} reopened the request for {subject}"),),
    "returned": (Message("{actor} returned {subject}", context="history"),),
    EXPIRED: (Message("{subject} ended on its date"),),
}
_MARKS = {
    REQUESTED: Mark.HOLLOW,
    COMMENTED: Mark.HOLLOW,
    "request_reopened": Mark.HOLLOW,
    "request_approved": Mark.CHECK,
    "request_declined": Mark.CROSS,
}


def approval_events(kind: ApprovalKind[Any]) -> tuple[EventKind, ...]:
    """Return how the events of a kind of requests read."""
    whats = {COMMENTED, EXPIRED, REQUESTED, *(STEPS[do].what for do in kind.steps)}
    return tuple(
        EventKind(kind.event_kind(what), _TEXTS[what], mark=_MARKS.get(what, Mark.BAR))
        for what in sorted(whats)
    )
