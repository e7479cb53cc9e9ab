"""Read requests of every kind: those to see, their history, and the API's shape."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any, TypedDict, TypeVar
from uuid import UUID

from portal.core.errors import NotFound
from portal.core.event_texts import mark_of
from portal.core.messages import Message
from portal.core.models import Event
from portal.core.shapes import Id, Time
from workspaces.access.actors import Actor
from workspaces.approvals.kinds import COMMENTED, EXPIRED, REQUESTED, STEPS, ApprovalKind, kinds
from workspaces.models import Approval, ApprovalRequest, ApprovalState, User

R = TypeVar("R", bound=ApprovalRequest)
MOST, MOST_DECIDED = 100, 10
NOTIFIED = (REQUESTED, COMMENTED, "request_approved", "request_declined")
_TEXTS = {
    REQUESTED: Message("Requested", context="history"),
    COMMENTED: Message("Commented", context="history"),
    EXPIRED: Message("Ended on its date"),
    **{step.what: step.text for do, step in STEPS.items() if do != "revoke"},
}


def requests_for(actor: Actor, kind: ApprovalKind[R], *, most: int = MOST) -> list[R]:
    """Return the requests that the actor may see: open ones, oldest first, then the latest."""
    rows = kind.visible(actor)
    is_open = {"state": ApprovalState.OPEN}
    return [
        *rows.filter(**is_open).order_by("created_at")[:most],
        *rows.exclude(**is_open).order_by("-decided_at")[:most],
    ]


def open_requests(actor: Actor) -> list[tuple[ApprovalKind[Any], Any]]:
    """Return the open requests of every kind that the actor may see, oldest first."""
    found = [
        (kind, row)
        for kind in kinds()
        for row in kind.visible(actor).filter(state=ApprovalState.OPEN)[:MOST]
    ]
    return sorted(found, key=lambda pair: pair[1].created_at)


def decided_requests(actor: Actor) -> list[tuple[ApprovalKind[Any], Any]]:
    """Return the latest decided requests of every kind that the actor may see, newest first."""
    found = [
        (kind, row)
        for kind in kinds()
        for row in kind.visible(actor)
        .filter(decided_at__isnull=False)
        .order_by("-decided_at")[:MOST_DECIDED]
    ]
    return sorted(found, key=lambda pair: pair[1].decided_at, reverse=True)[:MOST_DECIDED]


def find_request(actor: Actor, kind: ApprovalKind[R], request_id: UUID) -> R:
    """Return a request that the actor may see. Raises NotFound."""
    row = kind.visible(actor).filter(id=request_id).first()
    if row is None:
        raise NotFound(Message("There is no such request."))
    return row


def latest_of(kind: ApprovalKind[Approval], subject_ids: Iterable[UUID]) -> dict[UUID, Approval]:
    """Return the last request about each object that was not withdrawn."""
    rows = kind.rows().filter(subject_id__in=list(subject_ids))
    rows = rows.exclude(state=ApprovalState.WITHDRAWN).order_by("created_at")
    return {row.subject_id: row for row in rows}


def cards_of(actor: Actor, found: Iterable[tuple[ApprovalKind[Any], Any]]) -> list[dict[str, Any]]:
    """Return the contexts of `approvals/_card.html` for some requests."""
    pairs = list(found)
    names = names_of({row.decided_by for _, row in pairs})
    return [
        {
            **_facts(actor, kind, row),
            "kind": kind,
            "row": row,
            "here": kind.page_path(row),
            "action": kind.action(row) or kind.page_path(row),
            "decide_path": kind.decide_path(row),
            "waits_for": kind.waits_for(row) if row.state == ApprovalState.OPEN else "",
            "related": kind.related_pages(row),
            "decided_by": names.get(row.decided_by, row.decided_by),
        }
        for kind, row in pairs
    ]


def names_of(emails: Iterable[str]) -> dict[str, str]:
    """Return the names of people by their addresses."""
    return {user.email: user.display_name for user in User.objects.filter(email__in=set(emails))}


def history_context(kind: ApprovalKind[R], row: R) -> dict[str, Any]:
    """Return the context of `approvals/_history.html`."""
    return {
        "history": history_of(kind, row),
        "comment_to": f"/{row.org.slug}/approvals/{kind.name}/{row.id}",
    }


def approval_row(actor: Actor, kind: ApprovalKind[R], row: R) -> dict[str, Any]:
    """Return a request of any kind as shown by the API."""
    return {**base_row(row), "kind": kind.name, **_facts(actor, kind, row)}


def _facts(actor: Actor, kind: ApprovalKind[R], row: R) -> dict[str, Any]:
    return {
        "text": kind.text(row),
        "path": kind.path(row),
        "reason": kind.reason(row),
        "may": [do for do in kind.steps if kind.may(actor, row, do)],
    }


def history_of(kind: ApprovalKind[R], row: R) -> list[dict[str, Any]]:
    """Return what happened to a request, newest first: at, who, mark, text, word."""
    events = list(kind.events_of(row).order_by("position"))
    names = names_of(event.actor for event in events)
    words = {
        REQUESTED: kind.reason(row),
        "request_approved": row.word,
        "request_declined": row.word,
    }
    return [
        {
            "at": event.at,
            "who": "" if event.actor == "system" else names.get(event.actor, event.actor),
            "mark": mark_of(event.kind, event.data),
            "text": kind.event_text(what, event, events[0], row)
            or _TEXTS.get(what)
            or Message("{what}", what=what),
            "word": after.get("word") or after.get("note") or words.get(what, ""),
        }
        for event in reversed(events)
        for what, after in [(kind.what_of(event), event.data.get("after", {}))]
    ]


def notified_events() -> list[str]:
    """Return the kinds of events of which somebody is notified."""
    return [kind.event_kind(what) for kind in kinds() for what in NOTIFIED]


def of_event(event: Event) -> tuple[ApprovalKind[Any], str, Any] | None:
    """Return the kind, the step and the request of an event that somebody is notified of."""
    for kind in kinds():
        what = kind.what_of(event)
        if what in NOTIFIED and event.kind == kind.event_kind(what):
            row = kind.row_of(event)
            return (kind, what, row) if row else None
    return None


class ApprovalRequestShape(TypedDict):
    id: Id
    asker: str
    state: Annotated[str, "State of a request."]
    created_at: Time
    decided_at: Time | None
    decided_by: str
    word: str


def base_row(row: ApprovalRequest) -> ApprovalRequestShape:
    """Return what the API shows of every request."""
    return {
        "id": row.id,
        "asker": row.asker.email,
        "state": row.state,
        "created_at": row.created_at,
        "decided_at": row.decided_at,
        "decided_by": row.decided_by,
        "word": row.word,
    }
