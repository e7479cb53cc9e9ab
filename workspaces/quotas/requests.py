"""Request higher limits and decide on requests.

Whoever may set limits may approve; approving sets the limit in the same transaction.
"""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.db import IntegrityError, transaction
from django.utils.translation import gettext as _

from portal.core import clock
from portal.core.errors import Conflict, InvalidInput, NotFound
from portal.core.events import EventRecord, record
from workspaces.access.actors import Actor, authorize
from workspaces.access.permissions import Permission
from workspaces.models import Organization, Quota, QuotaRequest, Team
from workspaces.quotas.set_limits import (
    KEEP,
    Keep,
    LimitChange,
    amount_of,
    meters_of,
    set_quotas,
    shown,
)

State = QuotaRequest.State


@transaction.atomic
def request_limit(
    *,
    actor: Actor,
    org: Organization,
    scope: str,
    subject: str,
    resource: str,
    amount: float,
    why: str = "",
    job: int | None = None,
) -> QuotaRequest:
    """Request a higher limit for oneself, one of one's teams, or the organization.

    Raises InvalidInput, NotFound, NotPermitted, and Conflict if already requested or sufficient.
    """
    assert actor.user_id is not None
    meter = next(iter(meters_of(org, [LimitChange(scope, subject, resource)])))
    _check_subject(actor, scope, meter.subject_id)
    wanted = amount_of(resource, amount, "amount") or 0
    now = Quota.objects.filter(scope=scope, subject_id=meter.subject_id, resource=resource).first()
    if now is None or now.limit is None:
        raise Conflict(_("There is no such limit, so there is nothing to raise."))
    if wanted <= now.limit:
        raise InvalidInput.at(
            "amount",
            _("must be above the current limit, %(limit)g") % {"limit": shown(resource, now.limit)},
        )
    try:
        with transaction.atomic():
            row = QuotaRequest.objects.create(
                org=org,
                asker_id=actor.user_id,
                scope=scope,
                subject_id=meter.subject_id,
                subject=subject,
                job=job,
                resource=resource,
                amount=wanted,
                why=_clean(why),
            )
    except IntegrityError as error:
        raise Conflict(
            _("You have already requested this, and it is still open. Withdraw that request first.")
        ) from error
    _record_event("quota.requested", actor, row, {"limit": now.limit}, {"limit": wanted})
    return row


@transaction.atomic
def decide_request(
    *, actor: Actor, org: Organization, request_id: UUID, do: str, word: str = ""
) -> QuotaRequest:
    """Approve, decline or withdraw a request.

    `approve` sets the limit unless it is sufficient by now; both decisions take a message. Only the
    requester may `withdraw`. Raises InvalidInput, NotFound, NotPermitted, and Conflict if already
    decided.
    """
    row = QuotaRequest.objects.select_for_update().filter(id=request_id).first()
    if row is None:
        raise NotFound(_("There is no such request."))
    states = {"approve": State.APPROVED, "decline": State.DECLINED, "withdraw": State.WITHDRAWN}
    if do not in states:
        raise InvalidInput.at("do", "must be approve, decline or withdraw")
    is_own = do == "withdraw" and row.asker_id == actor.user_id
    authorize(actor, Permission.QUOTAS_READ if is_own else Permission.QUOTAS_WRITE)
    if row.state != State.OPEN:
        raise Conflict(_("This request was decided already."))
    row.state, row.decided_at, row.decided_by, row.word = (
        states[do],
        clock.now(),
        actor.email,
        _clean(word),
    )
    row.save(update_fields=["state", "decided_at", "decided_by", "word"])
    if do == "approve":
        _raise_limit(actor, org, row)
    _record_event(
        f"quota.request_{row.state}",
        actor,
        row,
        {"state": "open"},
        {"state": str(row.state), "word": row.word},
    )
    return row


@transaction.atomic
def reopen_request(
    *, actor: Actor, org: Organization, request_id: UUID, limit: float | Keep | None = KEEP
) -> QuotaRequest:
    """Undo a decision: the request is open again, and an approved limit returns to `limit`.

    `limit` is what it was before, in display units. Raises NotFound, NotPermitted, and Conflict if
    the request is open or withdrawn, or the limit was changed since the approval.
    """
    authorize(actor, Permission.QUOTAS_WRITE)
    row = QuotaRequest.objects.select_for_update().filter(id=request_id).first()
    if row is None:
        raise NotFound(_("There is no such request."))
    if row.state not in (State.APPROVED, State.DECLINED):
        raise Conflict(_("This request has no decision to undo."))
    if row.state == State.APPROVED and limit is not KEEP:
        _restore_limit(actor, org, row, limit)
    before = str(row.state)
    try:
        with transaction.atomic():
            row.state, row.decided_at, row.decided_by, row.word = State.OPEN, None, "", ""
            row.save(update_fields=["state", "decided_at", "decided_by", "word"])
    except IntegrityError as error:
        raise Conflict(_("They have made a new request for it since.")) from error
    _record_event("quota.request_reopened", actor, row, {"state": before}, {"state": "open"})
    return row


def _restore_limit(
    actor: Actor, org: Organization, row: QuotaRequest, limit: float | Keep | None
) -> None:
    now = Quota.objects.select_for_update().get(
        scope=row.scope, subject_id=row.subject_id, resource=row.resource
    )
    if now.limit != row.amount:
        raise Conflict(_("The limit was changed since. Set it on the Quotas page."))
    change = LimitChange(row.scope, row.subject, row.resource, limit=limit)
    set_quotas(actor=actor, org=org, changes=[change])


def _raise_limit(actor: Actor, org: Organization, row: QuotaRequest) -> None:
    now = Quota.objects.select_for_update().get(
        scope=row.scope, subject_id=row.subject_id, resource=row.resource
    )
    if now.limit is not None and now.limit < row.amount:
        set_quotas(
            actor=actor,
            org=org,
            changes=[
                LimitChange(
                    row.scope, row.subject, row.resource, limit=shown(row.resource, row.amount)
                )
            ],
        )


def _check_subject(actor: Actor, scope: str, subject_id: UUID) -> None:
    """Check that the actor may request for this subject. Raises NotPermitted, NotFound."""
    if scope == "team":
        authorize(actor, Permission.JOBS_SUBMIT, Team.objects.get(id=subject_id))
    elif scope == "user" and subject_id != actor.user_id:
        authorize(actor, Permission.QUOTAS_WRITE)
    else:
        authorize(actor, Permission.QUOTAS_READ)


def _clean(text: str) -> str:
    return "".join(c for c in text.strip() if c.isprintable() or c == "\n")[:500]


def _record_event(
    kind: str, actor: Actor, row: QuotaRequest, before: dict[str, Any], after: dict[str, Any]
) -> None:
    record(
        EventRecord(
            kind,
            row.org_id,
            "quota_request",
            row.id,
            actor.email,
            {
                "name": f"{row.resource} of {row.scope} {row.subject}".rstrip(),
                "why": row.why,
                "job": row.job,
                "before": before,
                "after": after,
            },
        )
    )
