"""Requests for higher limits: whoever may set limits approves, which sets the limit."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from django.utils.translation import gettext as _

from portal.core.errors import Conflict, InvalidInput
from portal.core.formatting import amount_text
from portal.core.messages import Message
from workspaces.access.actors import Actor, authorize
from workspaces.access.permissions import Permission
from workspaces.approvals.kinds import ApprovalKind
from workspaces.approvals.selectors import ApprovalRequestShape, base_row
from workspaces.approvals.services import clean, decide_request, submit_request
from workspaces.models import Organization, Quota, QuotaRequest, Team, User
from workspaces.quotas.limits import unit_of
from workspaces.quotas.set_limits import KEEP, LimitChange, amount_of, meters_of, set_quotas, shown


class QuotaRequests(ApprovalKind[QuotaRequest]):
    name = "quota"
    title = Message("Higher limit", context="text, workspaces")
    model = QuotaRequest
    decides = Permission.QUOTAS_WRITE
    reads = Permission.QUOTAS_READ
    steps = ("approve", "decline", "withdraw", "reopen")
    related = ("asker", "org")
    expires = ""

    def visible(self, actor: Actor) -> QuerySet[QuotaRequest]:
        rows = self.rows()
        return rows if actor.may(self.decides) else rows.filter(asker_id=actor.user_id)

    def text(self, row: QuotaRequest) -> Message:
        return Message(
            "{amount} for {subject}",
            context="text, workspaces",
            amount=amount_text(row.resource, row.amount),
            subject=_subject_name(row),
        )

    def path(self, row: QuotaRequest) -> str:
        return f"/{row.org.slug}/quotas"

    def related_pages(self, row: QuotaRequest) -> list[tuple[Message, str]]:
        place = f"/{row.org.slug}"
        subject = f"{row.scope}/{row.subject}" if row.subject else row.scope
        pages = [(Message("Limits and use", context="link"), f"{place}/quotas/{subject}")]
        if row.job:
            pages += [(Message("Job #{n}", context="link", n=row.job), f"{place}/jobs/{row.job}")]
        return pages

    def action(self, row: QuotaRequest) -> str:
        return f"/{row.org.slug}/quotas/requests/{row.id}"

    def team_id(self, row: QuotaRequest) -> UUID | None:
        return None

    def apply(self, actor: Actor, row: QuotaRequest, do: str, terms: Mapping[str, Any]) -> None:
        """Raise the limit unless it is sufficient by now, or restore `limit` to undo that."""
        is_undone = do == "reopen" and row.state == row.State.APPROVED
        limit = terms.get("limit", KEEP) if is_undone else shown(row.resource, row.amount)
        if limit is KEEP or not (is_undone or do == "approve"):
            return
        now = Quota.objects.select_for_update().get(
            scope=row.scope, subject_id=row.subject_id, resource=row.resource
        )
        if is_undone and now.limit != row.amount:
            raise Conflict(_("The limit was changed since. Set it on the Quotas page."))
        if is_undone or (now.limit is not None and now.limit < row.amount):
            change = LimitChange(row.scope, row.subject, row.resource, limit=limit)
            set_quotas(actor=actor, org=row.org, changes=[change])

    def facts(self, row: QuotaRequest) -> dict[str, Any]:
        name = f"{row.resource} of {row.scope} {row.subject}".rstrip()
        return {"name": name, "why": row.why, "job": row.job}

    def terms(self, row: QuotaRequest) -> dict[str, Any]:
        return {"limit": row.amount} if row.state == row.State.OPEN else {}

    def notice_title(self, what: str, row: QuotaRequest) -> Message:
        match what:
            case "request_approved":
                return Message("Your request for {what} was approved", what=self.text(row))
            case "request_declined":
                return Message("Your request for {what} was declined", what=self.text(row))
        return super().notice_title(what, row)


def _subject_name(row: QuotaRequest) -> str:
    """Return the name of the team or person whose limit it is, or of the organization."""
    if row.scope == "org":
        return str(row.org.name)
    found: Any = (Team if row.scope == "team" else User).objects.filter(id=row.subject_id).first()
    return str(found.display_name if row.scope == "user" else found.name) if found else row.subject


KIND = QuotaRequests()
decide = partial(decide_request, kind=KIND)


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
    row = QuotaRequest(
        org=org,
        asker_id=actor.user_id,
        scope=scope,
        subject_id=meter.subject_id,
        subject=subject,
        job=job,
        resource=resource,
        amount=wanted,
        why=clean(why),
    )
    return submit_request(actor=actor, kind=KIND, row=row, before={"limit": now.limit})


def _check_subject(actor: Actor, scope: str, subject_id: UUID) -> None:
    """Check that the actor may request for this subject. Raises NotPermitted, NotFound."""
    if scope == "team":
        authorize(actor, Permission.JOBS_SUBMIT, Team.objects.get(id=subject_id))
    elif scope == "user" and subject_id != actor.user_id:
        authorize(actor, Permission.QUOTAS_WRITE)
    else:
        authorize(actor, Permission.QUOTAS_READ)


class QuotaRequestShape(ApprovalRequestShape):
    scope: str
    subject: str
    resource: str
    amount: float
    unit: str
    why: str
    job: int | None


def request_row(row: QuotaRequest) -> QuotaRequestShape:
    """Return a request as shown by the API, in display units."""
    return {
        **base_row(row),
        "scope": row.scope,
        "subject": row.subject,
        "resource": row.resource,
        "amount": shown(row.resource, row.amount),
        "unit": unit_of(row.resource),
        "why": row.why,
        "job": row.job,
    }
