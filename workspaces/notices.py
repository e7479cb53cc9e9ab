"""The notifications of this app: their kinds, and which events notify whom.

A function gets an event and returns notices; it reads what the event is about, so that a deleted
object notifies nobody either.
"""

from __future__ import annotations

from collections.abc import Iterable

from portal.core.messages import Message
from portal.core.models import Event
from workspaces.access.permissions import Permission as P
from workspaces.models import QuotaRequest, Team, User
from workspaces.quotas.limits import unit_of
from workspaces.quotas.set_limits import shown
from workspaces.recipients import Notice, NoticeKind, active, org_of, people_who_may, quoted

KINDS = (
    NoticeKind(
        "approval",
        50,
        Message("Request to decide"),
        Message("Somebody asks for GPUs or a higher limit, and you may decide."),
        permissions=(
            P.QUOTAS_WRITE,
            P.NODES_READ,
        ),
        email=True,
        for_team=False,
    ),
    NoticeKind(
        "decision",
        60,
        Message("Decision on your request"),
        Message("A request of yours was approved or declined."),
        permissions=(
            P.QUOTAS_READ,
            P.NODES_READ,
        ),
        email=True,
    ),
    NoticeKind(
        "quota_nearly_used",
        90,
        Message("Quota nearly used"),
        Message("Storage or GPU-hours have reached 90% of their limit."),
        permissions=(P.QUOTAS_READ,),
    ),
)

_DECIDED = (QuotaRequest.State.APPROVED, QuotaRequest.State.DECLINED)


def _quota_requested(event: Event) -> Iterable[Notice]:
    row = QuotaRequest.objects.select_related("org", "asker").filter(id=event.subject_id).first()
    if row is None or row.state != QuotaRequest.State.OPEN:
        return
    amount = f"{shown(row.resource, row.amount):g} {unit_of(row.resource)}".strip()
    yield Notice(
        "approval",
        row.org_id,
        [u for u in people_who_may(P.QUOTAS_WRITE, row.org_id) if u.id != row.asker_id],
        Message(
            "{email} asks for {amount} ({resource})",
            email=row.asker.email,
            amount=amount,
            resource=row.resource,
        ),
        f"/{row.org.slug}/quotas",
        quoted(row.why),
        P.QUOTAS_WRITE,
    )


def _quota_decided(event: Event) -> Iterable[Notice]:
    row = QuotaRequest.objects.select_related("org", "asker").filter(id=event.subject_id).first()
    if row is None or row.state not in _DECIDED or row.decided_by == row.asker.email:
        return
    facts = {"resource": row.resource, "subject": row.subject or row.org.name}
    title = (
        Message("Your request for {resource} of {subject} was approved", **facts)
        if row.state == QuotaRequest.State.APPROVED
        else Message("Your request for {resource} of {subject} was declined", **facts)
    )
    yield Notice(
        "decision",
        row.org_id,
        active([row.asker]),
        title,
        f"/{row.org.slug}/quotas",
        quoted(row.word),
        P.QUOTAS_READ,
    )


def _quota_nearly_used(event: Event) -> Iterable[Notice]:
    org = org_of(event)
    scope, subject = event.data.get("scope"), event.data.get("subject")
    if org is None:
        return
    team = Team.objects.filter(id=subject).first() if scope == "team" else None
    if scope == "user":
        users, name = active(User.objects.filter(id=subject)), Message("You have")
    elif team:
        users, name = people_who_may(P.JOBS_ADMIN, org.id, team.id), Message("{n} has", n=team.name)
    else:
        users, name = people_who_may(P.QUOTAS_WRITE, org.id), Message("{n} has", n=org.name)
    yield Notice(
        "quota_nearly_used",
        org.id,
        users,
        Message(
            "{who} used {percent}% of the limit of {resource}",
            who=name,
            percent=event.data.get("percent", "?"),
            resource=event.data.get("resource", "?"),
        ),
        f"/{org.slug}/quotas",
        Message(""),
        P.QUOTAS_READ,
        team.id if team else None,
    )


MAPPERS = {
    "quota.requested": _quota_requested,
    "quota.request_approved": _quota_decided,
    "quota.request_declined": _quota_decided,
    "quota.nearly_used": _quota_nearly_used,
}
