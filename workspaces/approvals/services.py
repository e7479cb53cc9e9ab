"""Make, decide, comment and end requests of every kind. Nothing else writes their states.

A step is one transaction: it locks the request, checks who may, applies the decision, moves the
state by compare-and-set, and records its event.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar
from uuid import UUID

from django.db import IntegrityError, models, transaction

from portal.core import clock
from portal.core.errors import Conflict, InvalidInput, NotFound
from portal.core.events import record
from portal.core.messages import Message
from workspaces.access.actors import Actor
from workspaces.approvals.kinds import (
    COMMENTED,
    EXPIRED,
    REQUESTED,
    STEPS,
    ApprovalKind,
)
from workspaces.models import Approval, ApprovalRequest, ApprovalState

R = TypeVar("R", bound=ApprovalRequest)


def submit_request(
    *, actor: Actor, kind: ApprovalKind[R], row: R, before: Mapping[str, Any] | None = None
) -> R:
    """Save a new request; its event says what was `before`. Raises Conflict if it is open already."""
    try:
        with transaction.atomic():
            row.save(force_insert=True)
    except IntegrityError as error:
        raise Conflict(
            Message(
                "You have already requested this, and it is still open. Withdraw that request first."
            )
        ) from error
    record(kind.event(REQUESTED, actor.email, row, before or {}))
    return row


def decide_request(
    *, actor: Actor, kind: ApprovalKind[R], request_id: UUID, do: str, word: str = "", **terms: Any
) -> R:
    """Take a step of STEPS: approve, decline, withdraw, and what else the kind has.

    `terms` are the kind's own, such as the pool of an approval. Raises InvalidInput, NotFound,
    NotPermitted, and Conflict if the request is in another state or the step cannot be applied.
    """
    if do not in kind.steps:
        *names, last = kind.steps
        raise InvalidInput.at("do", f"must be {', '.join(names)} or {last}")
    step, text = STEPS[do], clean(word, kind.longest)
    if row := kind.rows().filter(id=request_id).first():
        kind.prepare(actor, row, do, terms)
    with transaction.atomic():
        row = kind.locked(request_id, terms)
        if row is None:
            raise NotFound(Message("There is no such request."))
        kind.authorize(actor, row, do)
        if row.state not in step.before:
            raise Conflict(_state_text(row, do))
        before = row.state
        kind.apply(actor, row, do, terms)
        if step.after == ApprovalState.OPEN:
            _move(row, step.after, decided_at=None, decided_by="", word="")
        elif step.after == ApprovalState.ENDED:
            _move(row, step.after)
            kind.end(row)
        else:
            _move(row, step.after, decided_at=clock.now(), decided_by=actor.email, word=text)
        record(kind.event(step.what, actor.email, row, {"state": str(before)}, word=text))
    return row


def comment(*, actor: Actor, kind: ApprovalKind[R], row: R, text: str) -> None:
    """Add a comment to the history of a request that the actor may see. Raises InvalidInput."""
    cleaned = clean(text, kind.longest)
    if not cleaned:
        raise InvalidInput.at("word", Message("enter a comment", context="error of a field"))
    record(kind.event(COMMENTED, actor.email, row, {}, word=cleaned))


def end_request(kind: ApprovalKind[R], row: R, *, what: str, who: str) -> None:
    """End an approved request, or let an undecided one expire. Run in a transaction."""
    before = row.state
    is_open = before == ApprovalState.OPEN
    _move(row, ApprovalState.EXPIRED if is_open else ApprovalState.ENDED)
    kind.end(row)
    record(kind.event(what, who, row, {"state": str(before)}))


def end_due(kind: ApprovalKind[R]) -> list[R]:
    """End the requests of a kind whose time is over, and return them.

    Run in a platform scope; safe to run twice.
    """
    states = [ApprovalState.APPROVED, *([ApprovalState.OPEN] if kind.model is Approval else [])]
    due = {"state__in": states, f"{kind.expires}__lte": clock.now()}
    with transaction.atomic():
        ended = list(kind.rows().select_for_update(of=("self",)).filter(**due))
        for row in ended:
            end_request(kind, row, what=EXPIRED, who="system")
    return ended


def forget_subjects(subject_ids: list[UUID]) -> None:
    """Delete the requests about objects that are deleted."""
    Approval.objects.filter(subject_id__in=subject_ids).delete()


def clean(text: str, longest: int = 500) -> str:
    """Return a message without control characters, cut."""
    return "".join(c for c in text.strip() if c.isprintable() or c == "\n")[:longest]


def _move(row: R, state: ApprovalState, **facts: Any) -> None:
    """Move a request from the state that was read, and set `facts`. Raises Conflict."""
    rows: models.QuerySet[Any] = type(row).objects.filter(id=row.id, state=row.state)
    try:
        with transaction.atomic():
            moved = rows.update(state=state, **facts)
    except IntegrityError as error:
        raise Conflict(Message("They have made a new request for it since.")) from error
    if not moved:
        raise Conflict(_state_text(row, ""))
    row.state = state
    for name, value in facts.items():
        setattr(row, name, value)


def _state_text(row: ApprovalRequest, do: str) -> Message:
    if do == "reopen":
        return Message("This request has no decision to undo.")
    if do == "return":
        return Message("There is nothing to return.")
    return Message("This request was decided already.")
